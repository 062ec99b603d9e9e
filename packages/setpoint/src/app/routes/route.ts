import { Buffer } from "node:buffer";
import type { Kind, Scope } from "../../kinds/kind.js";
import { RefusedError } from "../refused-error.js";
import { errorAnswer, jsonAnswer, type WebAnswer, type WebRequest } from "./web-message.js";

export type RouteMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "CONNECT" | "TRACE";

const METHODS: readonly RouteMethod[] = [
  ...(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"] as const),
];

/** A request to a custom route. */
export interface RouteRequest {
  readonly method: string;
  /** Below the object or the version: `total`, `reports/daily`. */
  readonly path: string;
  readonly apiVersion: string;
  /** Empty for a cluster-wide route. */
  readonly namespace: string;
  /** Of the object; empty for a route of a version. */
  readonly name: string;
  readonly query: URLSearchParams;
  readonly headers: WebRequest["headers"];
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  /** The JSON of the body. Throws a `RefusedError` with status 400 if the body is not JSON. */
  json(): unknown;
}

/** A value becomes JSON with status 200, nothing becomes an empty 204, and a `WebAnswer` is sent unchanged. */
export type RouteResult = { readonly answer: WebAnswer } | { readonly json: unknown } | undefined;

export interface RouteOptions {
  readonly method?: RouteMethod;
  /** Below the object or the version, without a slash in front: `reports/daily`. */
  readonly path: string;
  handle(request: RouteRequest): Promise<RouteResult> | RouteResult;
}

/** A custom route as declared: of a kind's objects, or of a version of a group. */
export interface Route {
  readonly group: string;
  readonly version: string;
  /** The plural of the kind; undefined for a route of the version itself. */
  readonly plural: string | undefined;
  readonly scope: Scope;
  readonly method: RouteMethod;
  readonly path: string;
  handle(request: RouteRequest): Promise<RouteResult> | RouteResult;
}

/** A route below each object of a kind: `/apis/GROUP/VERSION[/namespaces/NS]/PLURAL/NAME/PATH`, depending on its scope. */
export function kindRoute(kind: Kind, options: RouteOptions): Route {
  const { group, version, plural, scope } = kind;
  return { group, version, plural, scope, method: options.method ?? "GET", ...options };
}

/** A route of a version: `/apis/GROUP/VERSION/PATH`, or below a namespace: `/apis/GROUP/VERSION/namespaces/NS/PATH`. */
export function versionRoute(apiVersion: `${string}/${string}`, scope: Scope, options: RouteOptions): Route {
  const [group = "", version = ""] = apiVersion.split("/");
  return { group, version, plural: undefined, scope, method: options.method ?? "GET", ...options };
}

/** The identity of a route in messages and checks for duplicates: `GET shop.example.com/v1 orders/{name}/total`. */
export function routeId({ group, version, plural, scope, method, path }: Route): string {
  const place = plural ? `${plural}/{name}/` : scope === "Namespaced" ? "namespaces/{namespace}/" : "";
  return `${method} ${group}/${version} ${place}${path}`;
}

/** The reasons why a route cannot be called. */
export function handledProblems({ method, handle }: Route): readonly string[] {
  return [
    ...(METHODS.includes(method) ? [] : [`its method is not one of ${METHODS.join(", ")}`]),
    ...(typeof handle === "function" ? [] : [`handle is ${typeof handle}, not a function`]),
  ];
}

/** Passes a request below `/apis/` to its route. An error of the handler becomes a Status. */
export async function routeAnswer(routes: readonly Route[], request: WebRequest): Promise<WebAnswer> {
  const found = findRoute(routes, request);
  if (!found) {
    return errorAnswer(new RefusedError(404, "NotFound", `no route for ${request.method} ${request.path}`));
  }
  try {
    const result = await found.route.handle(found.request);
    if (!result) return { status: 204, body: "" };
    return "answer" in result ? result.answer : jsonAnswer(200, result.json);
  } catch (error) {
    request.onThrown?.(error);
    return errorAnswer(error);
  }
}

interface FoundRoute {
  readonly route: Route;
  readonly request: RouteRequest;
}

export function findRoute(routes: readonly Route[], request: WebRequest): FoundRoute | undefined {
  const segments = decoded(request.path);
  if (segments?.[0] !== "apis") return undefined;
  const [, group = "", version = "", ...rest] = segments;
  const isNamespaced = rest[0] === "namespaces" && rest.length > 2;
  const namespace = isNamespaced ? rest[1]! : "";
  const below = isNamespaced ? rest.slice(2) : rest;
  const scope: Scope = isNamespaced ? "Namespaced" : "Cluster";
  const candidates = routes.filter(
    (route) =>
      route.group === group && route.version === version && route.scope === scope && route.method === request.method,
  );
  const [plural, name = "", ...deeper] = below;
  const ofKind = candidates.find((route) => route.plural === plural && route.path === deeper.join("/") && name !== "");
  if (ofKind) return { route: ofKind, request: routeRequest(request, ofKind, namespace, name) };
  const ofVersion = candidates.find((route) => route.plural === undefined && route.path === below.join("/"));
  return ofVersion && { route: ofVersion, request: routeRequest(request, ofVersion, namespace, "") };
}

/** The parts of a path; undefined if one cannot be decoded, or contains a slash or dots. */
function decoded(path: string): readonly string[] | undefined {
  try {
    const parts = path.replace(/^\//, "").replace(/\/$/, "").split("/").map(decodeURIComponent);
    return parts.some((part) => part === "" || part === "." || part === ".." || part.includes("/")) ? undefined : parts;
  } catch {
    return undefined;
  }
}

function routeRequest(request: WebRequest, route: Route, namespace: string, name: string): RouteRequest {
  const { method, query, headers, body, signal } = request;
  const apiVersion = `${route.group}/${route.version}`;
  const json = (): unknown => {
    try {
      return JSON.parse(Buffer.from(body).toString("utf8"));
    } catch {
      throw new RefusedError(400, "BadRequest", "the body is not JSON");
    }
  };
  return { method, path: route.path, apiVersion, namespace, name, query, headers, body, signal, json };
}
