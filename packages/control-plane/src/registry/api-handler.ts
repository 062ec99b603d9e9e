import { pathSegmentName } from "setpoint/kinds";
import { accessDenied, pathAccess, resourceAccess } from "../api/access-request.js";
import type { ApiHandler, ApiRequest, ApiResponse } from "../api/api-request.js";
import { Warnings } from "../api/error-budget.js";
import type { RequestInfo, Verb } from "../api/request-info.js";
import { badRequest, methodNotAllowed, notFound, unknownResource } from "../api/status-error.js";
import type { AccessAttributes, Authorizer, UserInfo } from "../api/user.js";
import { hasTable } from "../builtin/table/table-form.js";
import type { ResourceDefinition } from "../kinds/resource-definition.js";
import { answerLarge, isLargeBody } from "./body/large-body.js";
import { DiscoveryEndpoints } from "./discovery/discovery-endpoints.js";
import { type Endpoint, headerOf, type ReadCall, type ReadEndpoint, type ReadEnvironment } from "./endpoint.js";
import { answerHealth } from "./health.js";
import { JSON_ANSWER, negotiate, wantsPretty } from "./negotiation/accept.js";
import { answer, pageNotFound, withWarnings } from "./negotiation/answer.js";
import { errorResponse } from "./negotiation/error-response.js";
import type { OpenApiEndpoints } from "./openapi/openapi-endpoints.js";
import { getObject, listObjects } from "./read/read-endpoints.js";
import { RequestMetrics } from "./request-metrics.js";
import type { WriteSide } from "./write-side.js";

type ResourceInfo = Extract<RequestInfo, { type: "resource" }>;

export interface ApiHandlerOptions {
  readonly environment: ReadEnvironment;
  /** Authenticates the caller and applies impersonation. Throws 401 and 403. */
  readonly authenticate: (request: ApiRequest) => UserInfo | Promise<UserInfo>;
  readonly authorizer: Authorizer;
  /** The write side; a promise while it is loading. */
  readonly writeSide: () => WriteSide | Promise<WriteSide>;
  /** Further metrics, in the Prometheus text format. */
  readonly moreMetrics?: () => string;
  /** Non-resource paths such as `/openapi/v3` and `/metrics`. The longest prefix wins. */
  readonly paths?: ReadonlyMap<string, (request: ApiRequest) => Promise<ApiResponse> | ApiResponse>;
}

/** Verbs that need no write side. A watch needs it: its bookmarks are empty objects of their kind. */
const READS: Readonly<Partial<Record<Verb, ReadEndpoint>>> = { get: getObject, list: listObjects };

/** A resource with none of these verbs (such as a review) serves no paths with names. */
const ITEM_VERBS: readonly string[] = ["get", "update", "patch", "delete"];

/** The generic API server: everything between a request and the storage. */
export function apiHandler(options: ApiHandlerOptions): ApiHandler {
  const { environment, authorizer, paths = new Map() } = options;
  const { catalog, facts } = environment;
  const discovery = new DiscoveryEndpoints(catalog);
  let openApi: Promise<OpenApiEndpoints> | undefined;
  const metrics = new RequestMetrics(environment.storage);

  async function handlePath(request: ApiRequest, user: UserInfo): Promise<ApiResponse> {
    const { path } = request;
    authorize(pathAccess(user, request.method, path));
    const known = discovery.answer(request) ?? (await ownPath(path, paths)?.(request));
    if (known !== undefined) return known;
    if (path === "/openapi/v3" || path.startsWith("/openapi/v3/")) return (await loadOpenApi()).answer(request);
    if (path === "/openapi/v2") return (await loadOpenApi()).answerV2(request);
    if (path === "/metrics") return metrics.answer(options.moreMetrics?.());
    const health = answerHealth(request);
    if (health !== undefined) return health;
    if (path === "/version" || path === "/version/") {
      if (request.method !== "GET") throw methodNotAllowed();
      return answer(200, versionDocument(facts.version), { ...JSON_ANSWER, isPretty: true });
    }
    if (path === "/") return answer(200, { paths: rootPaths(environment) }, { ...JSON_ANSWER, isPretty: true });
    return pageNotFound();
  }

  function loadOpenApi(): Promise<OpenApiEndpoints> {
    return (openApi ??= import("./openapi/openapi-endpoints.js").then(
      ({ OpenApiEndpoints }) => new OpenApiEndpoints(catalog, facts),
    ));
  }

  async function handleResource(request: ApiRequest, user: UserInfo, info: ResourceInfo): Promise<ApiResponse> {
    const { verb } = info;
    authorize(resourceAccess(user, verb ?? "", info));
    const definition = catalog.find(info.group, info.version, info.resource);
    if (definition === undefined) {
      if (!catalog.isBuiltInGroup(info.group)) return pageNotFound();
      throw unknownResource();
    }
    if (!definition.namespaced && info.pathNamespace !== "") {
      if (!definition.isBuiltIn) return pageNotFound();
      throw unknownResource();
    }
    const isEverywhere = definition.namespaced && info.namespace === "" && verb !== "list" && verb !== "watch";
    if (isEverywhere && !definition.isBuiltIn) return pageNotFound();
    const warnings = new Warnings();
    if (definition.warning !== undefined) warnings.add(definition.warning);
    const found = endpointOf(definition, info, verb, request.method);
    const endpoint = found instanceof Promise ? await found : found;
    const isPretty = wantsPretty(request.query.get("pretty"), headerOf(request, "user-agent"));
    const isWatchable = verb === "list" || verb === "watch";
    const accept = headerOf(request, "accept");
    const transforms = hasTable(definition, info.subresource) ? "all" : "metadata";
    const representation = negotiate(accept, definition.isBuiltIn, transforms, isPretty, isWatchable);
    assertPathName(info.name);
    const call: ReadCall = {
      environment,
      request,
      user,
      definition,
      namespace: info.namespace,
      name: info.name,
      subresource: definition.subresources.find(({ name }) => name === info.subresource),
      representation,
      authorizeCreate: () => authorize(resourceAccess(user, "create", info)),
      warn: (warning) => warnings.add(warning),
    };
    const response = await answered(endpoint, call);
    metrics.count({ verb: verb!, group: info.group, resource: info.resource, code: response.status });
    return withWarnings(response, warnings);
  }

  function authorize(attributes: AccessAttributes): void {
    const { allowed, reason } = authorizer.authorize(attributes);
    if (!allowed) throw accessDenied(attributes, reason);
  }

  function endpointOf(
    definition: ResourceDefinition,
    info: ResourceInfo,
    verb: Verb | undefined,
    method: string,
  ): ReadEndpoint | Promise<ReadEndpoint> {
    const { namespaced, group, plural, verbs } = definition;
    if (info.subresource !== "") {
      const subresource = definition.subresources.find(({ name }) => name === info.subresource);
      if (subresource === undefined) {
        throw definition.isBuiltIn ? unknownResource() : notFound({ group, resource: plural }, info.name);
      }
      if (verb === undefined || !subresource.verbs.includes(verb)) throw methodNotAllowed();
      return onWriteSide((side) => {
        const special = side.special(`${group}/${plural}/${info.subresource}`) ?? side.special(`*/${info.subresource}`);
        if (special === undefined && info.rest !== "") throw unknownResource();
        return special ?? side.generic(verb);
      });
    }
    if (method === "HEAD") throw methodNotAllowed();
    const isCollection = info.name === "";
    if (!isCollection && !verbs.some((each) => ITEM_VERBS.includes(each))) throw unknownResource();
    const isPost = method === "POST";
    if (verb === undefined || !verbs.includes(verb) || isPost !== (isPost && isCollection)) throw methodNotAllowed();
    if (isCollection && (verb === "update" || verb === "patch")) throw methodNotAllowed();
    if (isPost && namespaced && info.namespace === "") throw methodNotAllowed();
    if (!isCollection && namespaced && info.namespace === "") throw unknownResource();
    return READS[verb] ?? onWriteSide((side) => side.special(`${group}/${plural}`) ?? side.generic(verb));
  }

  /** Picks an endpoint of the write side. Synchronous once the write side is loaded. */
  function onWriteSide(choose: (side: WriteSide) => Endpoint): ReadEndpoint | Promise<ReadEndpoint> {
    const chosen = (side: WriteSide): ReadEndpoint => {
      const endpoint = choose(side);
      return (call) => {
        const read = (request: ReadCall["request"]) => endpoint({ ...call, request, environment: side.environment });
        return side.bodies && isLargeBody(call.request)
          ? answerLarge(call, side, side.bodies, read)
          : read(call.request);
      };
    };
    const side = options.writeSide();
    return side instanceof Promise ? side.then(chosen) : chosen(side);
  }

  return async (request) => {
    try {
      const { info } = request;
      // Every request passes here, so await only real promises.
      const caller = request.user ?? options.authenticate(request);
      const user = caller instanceof Promise ? await caller : caller;
      return await (info.type === "path" ? handlePath(request, user) : handleResource(request, user, info));
    } catch (error) {
      return errorResponse(error, request);
    }
  };
}

/** Runs the endpoint and turns its error into a response. */
async function answered(endpoint: ReadEndpoint, call: ReadCall): Promise<ApiResponse> {
  try {
    const response = await endpoint(call);
    if (call.request.method !== "GET") await call.definition.strategy.settled?.();
    return response;
  } catch (error) {
    return errorResponse(error, call.request, call);
  }
}

/** Rejects a name that no storage key can hold, before any lookup. */
function assertPathName(name: string): void {
  const complaints = name === "" ? [] : pathSegmentName(name, false);
  if (complaints.length === 0) return;
  throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${complaints.join(";")}`);
}

function ownPath<Handler>(path: string, paths: ReadonlyMap<string, Handler>): Handler | undefined {
  for (let prefix = path; prefix !== ""; prefix = prefix.slice(0, prefix.lastIndexOf("/"))) {
    const found = paths.get(prefix);
    if (found !== undefined) return found;
  }
  return undefined;
}

function versionDocument(version: object): object {
  return {
    ...version,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}

function rootPaths({ catalog }: ReadEnvironment): readonly string[] {
  const groups = catalog.groups.flatMap(({ name, versions }) =>
    name === "" ? ["/api", "/api/v1"] : [`/apis/${name}`, ...versions.map(({ version }) => `/apis/${name}/${version}`)],
  );
  return [
    ...groups,
    "/apis",
    "/healthz",
    "/livez",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/version",
  ].sort();
}
