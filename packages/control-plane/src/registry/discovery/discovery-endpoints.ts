import { createHash } from "node:crypto";
import type { ApiRequest, ApiResponse } from "../../api/api-request.js";
import { partsOf } from "../../api/request-info.js";
import { methodNotAllowed, unknownResource } from "../../api/status-error.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import { headerOf } from "../endpoint.js";
import { asksForProtobuf, JSON_ANSWER, negotiate, parseAccept, wantsPretty } from "../negotiation/accept.js";
import { answer, JSON_HEADERS, pageNotFound } from "../negotiation/answer.js";
import {
  aggregatedDiscovery,
  legacyGroupDocument,
  legacyGroupList,
  legacyResourceList,
  legacyVersions,
} from "./discovery.js";

interface Document {
  readonly body: Buffer;
  readonly etag: string;
}

/** Serves discovery. Each document is encoded once per state of the catalog. */
export class DiscoveryEndpoints {
  readonly #catalog: ResourceCatalog;
  readonly #documents = new Map<string, Document>();
  #generation = 0;

  constructor(catalog: ResourceCatalog) {
    this.#catalog = catalog;
  }

  /** Undefined if the path does not belong to discovery. */
  answer(request: ApiRequest): ApiResponse | undefined {
    const parts = partsOf(request.path);
    const [root, group, version] = parts;
    if ((root === "api" || root === "apis") && !isAggregators(parts) && request.method !== "GET") {
      throw methodNotAllowed();
    }
    if (root === "api" && parts.length <= 2) {
      return group === undefined ? this.#root(request, "api") : this.#version(request, "", group);
    }
    if (root !== "apis" || parts.length > 3 || group === "") return undefined;
    if (group === undefined) return this.#root(request, "apis");
    return version === undefined ? this.#group(request, group) : this.#version(request, group, version);
  }

  #root(request: ApiRequest, root: "api" | "apis"): ApiResponse {
    if (!wantsAggregated(headerOf(request, "accept"))) {
      const legacy = (): object => (root === "api" ? legacyVersions() : legacyGroupList(this.#catalog));
      return this.#legacy(request, `legacy ${root}`, legacy);
    }
    const { body, etag } = this.#document(`aggregated ${root}`, () =>
      aggregatedDiscovery(this.#catalog.groups.filter(({ name }) => (name === "") === (root === "api"))),
    );
    const headers = { "cache-control": "public", etag, vary: "Accept", "content-type": AGGREGATED_TYPE };
    const isKnown = headerOf(request, "if-none-match") === etag;
    return isKnown ? { status: 304, headers, body: new Uint8Array() } : { status: 200, headers, body };
  }

  #group(request: ApiRequest, name: string): ApiResponse {
    const group = this.#catalog.groups.find((each) => each.name === name);
    if (group === undefined) return pageNotFound();
    return this.#legacy(request, `group ${name}`, () => legacyGroupDocument(group));
  }

  #version(request: ApiRequest, groupName: string, version: string): ApiResponse {
    const group = this.#catalog.groups.find((each) => each.name === groupName);
    const found = group?.versions.find((each) => each.version === version);
    if (found === undefined) {
      if (!this.#catalog.isBuiltInGroup(groupName)) return pageNotFound();
      throw unknownResource();
    }
    return this.#legacy(request, `version ${groupName}/${version}`, () => legacyResourceList(groupName, found));
  }

  /** Answers in the negotiated representation, like an object. */
  #legacy(request: ApiRequest, key: string, make: () => object): ApiResponse {
    const isPretty = wantsPretty(request.query.get("pretty"), headerOf(request, "user-agent"));
    const accept = headerOf(request, "accept");
    const isOwn = !isAggregators(request.path.split("/").filter((part) => part !== ""));
    const representation = negotiate(accept, isOwn || asksForProtobuf(accept), "none", isPretty);
    const { body } = this.#document(key, make);
    if (representation !== JSON_ANSWER) return answer(200, JSON.parse(body.toString()), representation);
    return { status: 200, headers: JSON_HEADERS, body };
  }

  #document(key: string, make: () => object): Document {
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
    return document;
  }
}

/**
 * The aggregator of the real server answers the group list and single groups. It accepts any method and words its 406
 * differently.
 */
function isAggregators([root, ...rest]: readonly string[]): boolean {
  return root === "apis" && rest.length < 2;
}

const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Whether a client prefers aggregated discovery. */
function wantsAggregated(accept: string | undefined): boolean {
  for (const { type, parameters } of parseAccept(accept ?? "")) {
    if (type !== "application/json" && type !== "*/*" && type !== "application/*") continue;
    if (!parameters.has("as")) return false;
    const [kind, group, version] = ["as", "g", "v"].map((name) => parameters.get(name));
    if (kind === "APIGroupDiscoveryList" && group === "apidiscovery.k8s.io" && version === "v2") return true;
  }
  return false;
}
