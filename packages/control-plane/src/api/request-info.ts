import { parseBoolean } from "./query-value.js";

/** What a request asks for. The resource need not exist. */
export type RequestInfo =
  | {
      readonly type: "resource";
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      /** Empty for the whole collection. */
      readonly name: string;
      /** Empty for cluster-scoped resources and for all namespaces. */
      readonly namespace: string;
      /** Like {@link namespace}, but also set for `namespaces` inside a namespace: `namespaces/x/namespaces`. */
      readonly pathNamespace: string;
      readonly subresource: string;
      /** Undefined for a method that the API does not know. The deprecated `/api/v1/watch/…` paths are watches. */
      readonly verb: Verb | undefined;
      /** The path after the subresource (`proxy/a/b`); otherwise empty. */
      readonly rest: string;
    }
  | { readonly type: "path"; readonly path: string };

/** The subresources of namespaces: `/namespaces/x/status` is not a collection `status` inside `x`. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

/** The segments of a path. Trailing slashes are ignored. Two slashes together enclose an empty segment. */
export function partsOf(path: string): readonly string[] {
  return path.replace(/\/+$/, "").split("/").slice(1);
}

/**
 * Parses a request like the real server's RequestInfoFactory: `/api/v1/…` and `/apis/group/version/…` are resources,
 * all others are paths. `namespaces/x` is an object; `namespaces/x/pods` is a collection inside it.
 */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = partsOf(path);
  const isCore = parts[0] === "api";
  if ((!isCore && parts[0] !== "apis") || parts.length < (isCore ? 3 : 4)) return { type: "path", path };
  // No group has an empty name here: the core group has its own path, `/api`.
  if (!isCore && parts[1] === "") return { type: "path", path };
  const group = isCore ? "" : parts[1]!;
  const version = isCore ? parts[1]! : parts[2]!;
  let segments = parts.slice(isCore ? 2 : 3);
  const isWatchPath = segments[0] === "watch" && segments.length > 1;
  if (isWatchPath) segments = segments.slice(1);
  let namespace = "";
  let isWithin = false;
  if (segments[0] === "namespaces" && segments.length > 1) {
    namespace = segments[1]!;
    if (segments.length > 2 && !NAMESPACE_SUBRESOURCES.has(segments[2]!)) {
      segments = segments.slice(2);
      isWithin = true;
    }
  }
  const [resource = "", name = "", subresource = "", ...rest] = segments;
  const isNamespaceItself = resource === "namespaces";
  return {
    type: "resource",
    group,
    version,
    resource,
    name,
    namespace: isNamespaceItself ? "" : namespace,
    pathNamespace: isWithin ? namespace : "",
    subresource,
    verb: isWatchPath ? "watch" : verbOf(method, name !== "", query),
    rest: rest.join("/"),
  };
}

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/**
 * The API verb of a method on an object or a collection. Undefined if there is none. Only collections can be watched.
 */
function verbOf(method: string, hasName: boolean, query: URLSearchParams): Verb | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      if (hasName) return "get";
      return parseBoolean(query.get("watch")) ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return hasName ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

/** Whether the request is a watch, whose response stays open. */
export function isWatch(info: RequestInfo): boolean {
  return info.type === "resource" && info.verb === "watch";
}
