import { createHash } from "node:crypto";
import type { ApiRequest, ApiResponse } from "../../http/api-request.js";
import type { ResourceCatalog } from "../catalog.js";
import { headerOf } from "../endpoint.js";
import { parseAccept } from "../negotiation/accept.js";
import { COMMON_HEADERS, pageNotFound } from "../negotiation/answer.js";
import { unknownResource } from "../status-error.js";
import {
  aggregatedDiscovery,
  legacyGroupDocument,
  legacyGroupList,
  legacyResourceList,
  legacyVersions,
} from "./discovery.js";

interface Document {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** Discovery answers, encoded once for each state of the catalog. */
export class DiscoveryEndpoints {
  readonly #catalog: ResourceCatalog;
  readonly #documents = new Map<string, Document>();
  #generation = 0;

  constructor(catalog: ResourceCatalog) {
    this.#catalog = catalog;
  }

  /** Undefined where the path is none of discovery's. */
  answer(request: ApiRequest): ApiResponse | undefined {
    const parts = request.path.split("/").filter((part) => part !== "");
    const [root, group, version] = parts;
    if (root === "api" && parts.length <= 2) {
      return group === undefined ? this.#root(request, "api") : this.#version(request, "", group);
    }
    if (root !== "apis" || parts.length > 3) return undefined;
    if (group === undefined) return this.#root(request, "apis");
    return version === undefined ? this.#group(request, group) : this.#version(request, group, version);
  }

  #root(request: ApiRequest, root: "api" | "apis"): ApiResponse {
    const version = aggregatedVersion(headerOf(request, "accept"));
    if (version === undefined) {
      const legacy = (): object => (root === "api" ? legacyVersions() : legacyGroupList(this.#catalog));
      return this.#document(request, `legacy ${root}`, "application/json", legacy);
    }
    const type = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
    return this.#document(request, `${version} ${root}`, type, () => {
      const groups = this.#catalog.groups.filter(({ name }) => (name === "") === (root === "api"));
      return aggregatedDiscovery(groups, version);
    });
  }

  #group(request: ApiRequest, name: string): ApiResponse {
    const group = this.#catalog.groups.find((each) => each.name === name);
    if (group === undefined) return pageNotFound();
    return this.#document(request, `group ${name}`, "application/json", () => legacyGroupDocument(group));
  }

  #version(request: ApiRequest, groupName: string, version: string): ApiResponse {
    const group = this.#catalog.groups.find((each) => each.name === groupName);
    const found = group?.versions.find((each) => each.version === version);
    if (found === undefined) {
      if (!this.#catalog.isBuiltInGroup(groupName)) return pageNotFound();
      throw unknownResource();
    }
    const key = `version ${groupName}/${version}`;
    return this.#document(request, key, "application/json", () => legacyResourceList(groupName, found));
  }

  #document(request: ApiRequest, key: string, contentType: string, make: () => object): ApiResponse {
    if (this.#generation !== this.#catalog.generation) {
      this.#documents.clear();
      this.#generation = this.#catalog.generation;
    }
    let document = this.#documents.get(key);
    if (document === undefined) {
      const body = Buffer.from(`${JSON.stringify(make())}\n`);
      document = { body, etag: `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"` };
      this.#documents.set(key, document);
    }
    const isAggregated = contentType !== "application/json";
    const headers = {
      ...(isAggregated ? { "cache-control": "public", etag: document.etag, vary: "Accept" } : COMMON_HEADERS),
      "content-type": contentType,
    };
    if (isAggregated && headerOf(request, "if-none-match") === document.etag) {
      return { status: 304, headers, body: new Uint8Array() };
    }
    return { status: 200, headers, body: document.body };
  }
}

/** The first version of aggregated discovery that the client takes and we speak. */
function aggregatedVersion(accept: string | undefined): string | undefined {
  for (const { type, parameters } of parseAccept(accept ?? "")) {
    if (type !== "application/json" && type !== "*/*" && type !== "application/*") continue;
    const version = parameters.get("v");
    const isAggregated =
      parameters.get("as") === "APIGroupDiscoveryList" && parameters.get("g") === "apidiscovery.k8s.io";
    if (!isAggregated && !parameters.has("as")) return undefined;
    if (isAggregated && (version === "v2" || version === "v2beta1")) return version;
  }
  return undefined;
}
