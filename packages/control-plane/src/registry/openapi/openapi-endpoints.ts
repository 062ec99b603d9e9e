import { createHash } from "node:crypto";
import type { ApiRequest, ApiResponse } from "../../api/api-request.js";
import type { Facts } from "../../facts/facts.js";
import type { CatalogVersion, ResourceCatalog } from "../../kinds/catalog.js";
import { headerOf } from "../endpoint.js";
import { COMMON_HEADERS, text } from "../negotiation/answer.js";
import { listDocument, openApiDocument } from "./openapi-document.js";
import { swaggerDocument } from "./swagger-document.js";
import { encodeSwagger } from "./swagger-protobuf.js";

interface Entry {
  readonly hash: string;
  readonly make: () => object;
}

/** Paths besides group versions and their lists. */
const PLAIN_PATHS = ["version", "openid/v1/jwks", ".well-known/openid-configuration"];

const PREFIX = "/openapi/v3";

/** The media type that Go clients ask for. The content type of the response has `.` instead of `@`. */
const PROTOBUF_V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/** `/openapi/v3`: an index with a hash per group version, and the documents, built on demand. */
export class OpenApiEndpoints {
  readonly #catalog: ResourceCatalog;
  readonly #facts: Facts;
  /** By path: `apis/apps/v1`. */
  #entries = new Map<string, Entry>();
  readonly #documents = new Map<string, Uint8Array>();
  #generation = 0;
  #v2: Swagger | undefined;

  constructor(catalog: ResourceCatalog, facts: Facts) {
    this.#catalog = catalog;
    this.#facts = facts;
  }

  answer(request: ApiRequest): ApiResponse {
    this.#refresh();
    const path = request.path.slice(PREFIX.length).replace(/^\/|\/$/g, "");
    if (path === "") return this.#index(request);
    const entry = this.#entries.get(path);
    if (entry === undefined) return { status: 404, headers: COMMON_HEADERS, body: new Uint8Array() };
    const etag = `"${entry.hash}"`;
    const hasHash = request.query.get("hash") === entry.hash;
    const headers = {
      "cache-control": hasHash ? "public, immutable" : COMMON_HEADERS["cache-control"]!,
      "content-type": "application/json",
      etag,
      vary: "Accept",
    };
    if (headerOf(request, "if-none-match") === etag) return { status: 304, headers, body: new Uint8Array() };
    return { status: 200, headers, body: this.#document(entry) };
  }

  /** `/openapi/v2`: all group versions in one document, in JSON or protobuf. */
  answerV2(request: ApiRequest): ApiResponse {
    const isProtobuf = headerOf(request, "accept")?.includes(PROTOBUF_V2) ?? false;
    const { body, etag } = isProtobuf ? this.#swaggerProtobuf() : this.#swaggerJson();
    const contentType = isProtobuf ? PROTOBUF_V2.replace("@", ".") : "application/json";
    const headers = { ...COMMON_HEADERS, "content-type": contentType, etag, vary: ["Accept-Encoding", "Accept"] };
    const isKnown = headerOf(request, "if-none-match") === etag;
    return isKnown ? { status: 304, headers, body: new Uint8Array() } : { status: 200, headers, body };
  }

  /** Built on the first request after the catalog changes, and cached until the next change. */
  #swagger(): Swagger {
    const { generation, groups } = this.#catalog;
    if (this.#v2?.generation !== generation)
      this.#v2 = { generation, make: () => swaggerDocument(this.#facts, groups) };
    return this.#v2;
  }

  #swaggerJson(): Tagged {
    const swagger = this.#swagger();
    return (swagger.json ??= withEtag(Buffer.from(JSON.stringify(swagger.make()))));
  }

  #swaggerProtobuf(): Tagged {
    const swagger = this.#swagger();
    return (swagger.protobuf ??= withEtag(encodeSwagger(swagger.make())));
  }

  #index(request: ApiRequest): ApiResponse {
    const paths = Object.fromEntries(
      [...this.#entries].map(([path, { hash }]) => [path, { serverRelativeURL: `${PREFIX}/${path}?hash=${hash}` }]),
    );
    const body = JSON.stringify({ paths });
    const etag = `"${hashOf(body)}"`;
    if (headerOf(request, "if-none-match") === etag) {
      return { status: 304, headers: { ...COMMON_HEADERS, etag }, body: new Uint8Array() };
    }
    return text(200, body, { etag });
  }

  #document(entry: Entry): Uint8Array {
    let document = this.#documents.get(entry.hash);
    if (document === undefined) {
      document = Buffer.from(JSON.stringify(entry.make()));
      this.#documents.set(entry.hash, document);
    }
    return document;
  }

  #refresh(): void {
    if (this.#generation === this.#catalog.generation) return;
    this.#generation = this.#catalog.generation;
    const entries = new Map<string, Entry>();
    const list = (path: string): void => {
      const hash = hashOf(`${this.#facts.version.gitVersion} ${path}`);
      entries.set(path, { hash, make: () => listDocument(this.#facts, path) });
    };
    for (const path of ["api", "apis", ...PLAIN_PATHS]) list(path);
    for (const { name, versions } of this.#catalog.groups) {
      const prefix = name === "" ? "api" : `apis/${name}`;
      if (name !== "" && versions.some(({ resources }) => resources.some(({ isBuiltIn }) => isBuiltIn))) list(prefix);
      for (const version of versions) {
        const path = `${prefix}/${version.version}`;
        const hash = this.#hash(path, version);
        entries.set(path, { hash, make: () => openApiDocument(this.#facts, name, version) });
      }
    }
    this.#entries = new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
    const live = new Set([...entries.values()].map(({ hash }) => hash));
    for (const hash of this.#documents.keys()) if (!live.has(hash)) this.#documents.delete(hash);
  }

  /** Built-in groups never change while the server runs. Groups of CRDs change with their published schemas. */
  #hash(path: string, { resources }: CatalogVersion): string {
    const custom = resources
      .filter(({ isBuiltIn }) => !isBuiltIn)
      .map(({ plural, kind, subresources, publishedSchema }) => ({ plural, kind, subresources, publishedSchema }));
    return hashOf(JSON.stringify([this.#facts.version.gitVersion, path, custom]));
  }
}

/** The document for one state of the catalog, in the formats requested so far. */
interface Swagger {
  readonly generation: number;
  readonly make: () => object;
  json?: Tagged;
  protobuf?: Tagged;
}

interface Tagged {
  readonly body: Uint8Array;
  readonly etag: string;
}

function withEtag(body: Uint8Array): Tagged {
  return { body, etag: `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"` };
}

function hashOf(value: string): string {
  return createHash("sha512").update(value).digest("hex").toUpperCase();
}
