import type { ResourceDefinition, Subresource } from "../../kinds/resource-definition.js";
import { mediaTypesOf, STREAMED_TYPES } from "../negotiation/accept.js";
import { article, META, operationId, tagOf } from "./operation-name.js";
import { body, DELETING, definitionRef, inPath, LISTING, query, shared, WRITING } from "./swagger-parameters.js";

export type ComponentOf = (group: string, version: string, kind: string) => string | undefined;

type Paths = Record<string, Record<string, unknown>>;

/** The parts of an operation. */
interface Operation {
  readonly action: string;
  readonly id: string;
  readonly description: string;
  readonly of?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly parameters?: readonly object[];
  readonly answer: string | undefined;
  /** Status codes besides 200. */
  readonly codes?: readonly ("201" | "202")[];
  readonly consumes?: readonly string[];
  readonly isStreamed?: boolean;
  /** Whether the response is lines of text. */
  readonly isText?: boolean;
}

const DEPRECATED = "deprecated: use the 'watch' parameter with a list operation instead";

/** Subresources that open a connection, with their methods and query parameters. */
const CONNECTIONS: Readonly<Record<string, { readonly methods: readonly string[]; readonly query: object[] }>> = {
  attach: connection("boolean:stderr,stdin,stdout,tty string:container"),
  exec: connection("boolean:stderr,stdin,stdout,tty string:command,container"),
  portforward: connection("integer:ports"),
  proxy: { methods: ["get", "put", "post", "delete", "options", "head", "patch"], query: [query("path", "string")] },
};

const LOG_QUERY = queriesOf(
  "boolean:follow,insecureSkipTLSVerifyBackend,previous,timestamps integer:limitBytes,sinceSeconds,tailLines string:container,stream",
);

/** The OpenAPI v2 paths of one resource, including its subresources and watches. */
export function swaggerPaths(definition: ResourceDefinition, componentOf: ComponentOf): Paths {
  const { group, version, plural, kind, namespaced, listKind, isBuiltIn, verbs } = definition;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced ? `namespaces/{namespace}/${plural}` : plural;
  const own = componentOf(group, version, kind);
  const list = componentOf(group, version, listKind);
  const has = (verb: string): boolean => verbs.includes(verb);
  const make = (operation: Operation): object => operationOf(definition, operation);
  const id = (verb: string, suffix = "", kindSuffix = ""): string => operationId(definition, verb, suffix, kindSuffix);
  const place = namespaced ? shared(["namespace"]) : [];
  const pretty = shared(["pretty"]);
  const paths: Paths = {};
  const listing = {
    action: "list",
    description: `${isBuiltIn ? "list or watch" : "list"} objects of kind ${kind}`,
    answer: list,
    isStreamed: isBuiltIn,
  };
  const creating = {
    action: "post",
    description: `create ${article(kind)} ${kind}`,
    answer: own,
    codes: ["201", "202"] as const,
  };
  // Parameters that all operations of a path share belong to the path.
  const isListed = has("list") && !has("create") && !has("deletecollection");
  const isReview = !has("list") && !has("get") && has("create");
  const collection = {
    ...(has("list") && { get: make({ ...listing, id: id("list"), parameters: isListed ? [] : shared(LISTING) }) }),
    ...(has("create") &&
      own !== undefined && {
        post: make({
          ...creating,
          id: id("create"),
          parameters: [body(own, true), ...(isReview ? [] : shared(WRITING))],
        }),
      }),
    ...(has("deletecollection") && {
      delete: make({
        action: "deletecollection",
        id: id("deleteCollection"),
        description: `delete collection of ${kind}`,
        // The real server accepts delete options for collections of custom resources too, but does not document them.
        parameters: isBuiltIn
          ? [body(`${META}.DeleteOptions`, false), ...shared([...new Set([...DELETING, ...LISTING])].filter(isNoWatch))]
          : shared(LISTING),
        answer: `${META}.Status`,
      }),
    }),
    parameters: [...(isReview ? shared(WRITING) : []), ...(isListed ? shared(LISTING) : []), ...place, ...pretty],
  };
  paths[`${root}/${scope}`] = collection;
  if (has("get")) {
    paths[`${root}/${scope}/{name}`] = {
      ...objectOperations(definition, definition, "", componentOf),
      parameters: [inPath("name", `name of the ${kind}`), ...place, ...pretty],
    };
  }
  for (const subresource of definition.subresources) {
    const path = `${root}/${scope}/{name}/${subresource.name}`;
    const names = [inPath("name", `name of the ${isBuiltIn ? subresource.kind : kind}`), ...place];
    const opened = isBuiltIn ? CONNECTIONS[subresource.name] : undefined;
    if (opened !== undefined) {
      paths[path] = connectOperations(definition, subresource, opened.methods, "");
      paths[path].parameters = [...opened.query, ...names];
      if (subresource.name !== "proxy") continue;
      paths[`${path}/{path}`] = connectOperations(definition, subresource, opened.methods, "WithPath");
      paths[`${path}/{path}`]!.parameters = [inPath("path", "path to the resource"), ...opened.query, ...names];
      continue;
    }
    const isPosted = subresource.verbs.length === 1 && subresource.verbs[0] === "create";
    paths[path] = {
      ...objectOperations(definition, subresource, subresource.name, componentOf),
      parameters: [
        ...(isPosted ? shared(WRITING) : []),
        ...(subresource.name === "log" ? LOG_QUERY : []),
        ...(subresource.name === "finalize" ? shared(WRITING) : []),
        ...(subresource.name === "log" ? [inPath("name", `name of the ${kind}`), ...place] : names),
        ...pretty,
      ],
    };
  }
  if (namespaced && has("list")) {
    paths[`${root}/${plural}`] = {
      get: make({ ...listing, id: id("list", "ForAllNamespaces") }),
      parameters: shared([...LISTING, "pretty"]),
    };
  }
  if (!isBuiltIn || !has("watch")) return paths;
  const watching = (operation: Pick<Operation, "action" | "id" | "description">): object =>
    make({ ...operation, answer: `${META}.WatchEvent`, isStreamed: true });
  const several = `watch individual changes to a list of ${kind}. ${DEPRECATED}.`;
  const options = shared([...LISTING, "pretty"]);
  paths[`${root}/watch/${scope}`] = {
    get: watching({ action: "watchlist", id: id("watch", "", "List"), description: several }),
    parameters: [...options, ...place],
  };
  if (has("get")) {
    const one = `watch changes to an object of kind ${kind}. ${DEPRECATED}, filtered to a single item with the 'fieldSelector' parameter.`;
    paths[`${root}/watch/${scope}/{name}`] = {
      get: watching({ action: "watch", id: id("watch"), description: one }),
      parameters: [...options, inPath("name", `name of the ${kind}`), ...place],
    };
  }
  if (namespaced) {
    paths[`${root}/watch/${plural}`] = {
      get: watching({
        action: "watchlist",
        id: id("watch", "ForAllNamespaces", "List"),
        description: several,
      }),
      parameters: options,
    };
  }
  return paths;
}

/** Paths of the lists of groups, versions and resources. */
export function listingPaths(
  groups: readonly { readonly name: string; readonly versions: readonly string[] }[],
): Paths {
  const types = mediaTypesOf(true);
  const get = (tag: string, id: string, description: string, answer: string, media = types): object => ({
    get: {
      description,
      consumes: media,
      produces: media,
      schemes: ["https"],
      tags: [tag],
      operationId: id,
      responses: { "200": { description: "OK", schema: definitionRef(answer) }, "401": UNAUTHORIZED },
    },
  });
  const text = (tag: string, id: string, description: string, produced: string): object => ({
    get: {
      description,
      produces: [produced],
      schemes: ["https"],
      tags: [tag],
      operationId: id,
      responses: { "200": { description: "OK", schema: { type: "string" } }, "401": UNAUTHORIZED },
    },
  });
  const paths: Paths = {};
  const add = (path: string, item: object): void => void (paths[path] = item as Record<string, unknown>);
  add("/api/", get("core", "getCoreAPIVersions", "get available API versions", `${META}.APIVersions`));
  add("/apis/", get("apis", "getAPIVersions", "get available API versions", `${META}.APIGroupList`));
  add("/version/", get("version", "getCodeVersion", VERSION, "io.k8s.apimachinery.pkg.version.Info", [JSON_TYPE]));
  add(
    "/.well-known/openid-configuration/",
    text("WellKnown", "getServiceAccountIssuerOpenIDConfiguration", DISCOVERY, JSON_TYPE),
  );
  add("/openid/v1/jwks/", text("openid", "getServiceAccountIssuerOpenIDKeyset", KEYS, "application/jwk-set+json"));
  for (const { name, versions } of groups) {
    const camel = operationId({ group: name, version: "", kind: "", namespaced: false }, "get", "");
    const tag = tagOf({ group: name, version: "" });
    if (name !== "") {
      add(`/apis/${name}/`, get(tag, `${camel}APIGroup`, "get information of a group", `${META}.APIGroup`));
    }
    for (const version of versions) {
      const path = name === "" ? `/api/${version}/` : `/apis/${name}/${version}/`;
      const id = operationId({ group: name, version, kind: "APIResources", namespaced: false }, "get", "");
      add(path, get(tagOf({ group: name, version }), id, "get available resources", `${META}.APIResourceList`));
    }
  }
  return paths;
}

const JSON_TYPE = "application/json";
const DISCOVERY = "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'";
const KEYS = "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)";
const VERSION = "get the version information for this server";
const UNAUTHORIZED = { description: "Unauthorized" };
const PATCH_TYPES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

function isNoWatch(parameter: string): boolean {
  return parameter !== "watch" && parameter !== "allowWatchBookmarks";
}

function objectOperations(
  definition: ResourceDefinition,
  of: ResourceDefinition | Subresource,
  subresource: string,
  componentOf: ComponentOf,
): Record<string, object> {
  const { isBuiltIn, kind } = definition;
  const component = componentOf(of.group, of.version, of.kind);
  const what = subresource === "" ? "" : `${subresource} of `;
  const kinds = isBuiltIn ? { of } : {};
  const make = (verb: string, rest: Omit<Operation, "id" | "answer"> & { answer?: string }): object =>
    operationOf(definition, { answer: component, ...kinds, ...rest, id: operationId(definition, verb, subresource) });
  const given = component === undefined ? [] : [body(component, true)];
  const finalizes = subresource === "finalize";
  const operations: Record<string, object> = {};
  if (of.verbs.includes("get")) {
    const parameters = isBuiltIn ? [] : shared(["resourceVersion"]);
    const description = `read ${what}the specified ${kind}`;
    const isLog = subresource === "log" && isBuiltIn;
    operations.get = make("read", {
      action: "get",
      description,
      parameters,
      ...(isLog && { isText: true, of: definition }),
    });
  }
  if (of.verbs.includes("update")) {
    operations.put = make("replace", {
      action: "put",
      description: `replace ${what}the specified ${kind}`,
      parameters: [...given, ...(finalizes ? [] : shared(WRITING))],
      codes: ["201"],
    });
  }
  if (of.verbs.includes("create") && of !== definition) {
    operations.post = make("create", {
      action: "post",
      description: `create ${what}${article(kind)} ${kind}`,
      parameters: given,
      codes: ["201", "202"],
    });
  }
  if (of.verbs.includes("delete")) {
    operations.delete = make("delete", {
      action: "delete",
      description: isBuiltIn ? `delete ${article(kind)} ${kind}` : `delete the specified ${kind}`,
      parameters: [body(`${META}.DeleteOptions`, false), ...shared(DELETING)],
      answer: deletedAs(definition, component),
      codes: ["202"],
    });
  }
  if (of.verbs.includes("patch")) {
    operations.patch = make("patch", {
      action: "patch",
      description: `partially update ${what}the specified ${kind}`,
      parameters: [body(`${META}.Patch`, true), ...shared([...WRITING, "force"])],
      consumes: isBuiltIn ? PATCH_TYPES : PATCH_TYPES.filter((type) => !type.includes("strategic")),
      ...(isBuiltIn && { codes: ["201"] as const }),
    });
  }
  return operations;
}

/**
 * Kinds whose delete returns the object: they are deleted gracefully, or their storage is configured to return it.
 * Others return a Status.
 */
const DELETED_WITH_OBJECT: ReadonlySet<string> = new Set([
  "Pod",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "PodTemplate",
  "ResourceQuota",
  "Service",
  "ServiceAccount",
  "CSIDriver",
  "CSINode",
  "StorageClass",
  "VolumeAttachment",
  "VolumeAttributesClass",
  "DeviceClass",
  "ResourceClaim",
  "ResourceClaimTemplate",
  "ResourceSlice",
]);

function deletedAs({ isBuiltIn, kind }: ResourceDefinition, component: string | undefined): string {
  return isBuiltIn && component !== undefined && DELETED_WITH_OBJECT.has(kind) ? component : `${META}.Status`;
}

function connectOperations(
  definition: ResourceDefinition,
  subresource: Subresource,
  methods: readonly string[],
  suffix: string,
): Record<string, unknown> {
  const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
  const { group, version, kind } = definition;
  return Object.fromEntries(
    methods.map((method) => [
      method,
      {
        description: `connect ${method.toUpperCase()} requests to ${subresource.name} of ${kind}`,
        consumes: ["*/*"],
        produces: ["*/*"],
        schemes: ["https"],
        tags: [tagOf(definition)],
        operationId: operationId(definition, "connect", subresource.name, "", capital(method)) + suffix,
        responses: { "200": { description: "OK", schema: { type: "string" } }, "401": UNAUTHORIZED },
        "x-kubernetes-action": "connect",
        "x-kubernetes-group-version-kind": { group, kind: subresource.kind, version },
      },
    ]),
  );
}

function operationOf(definition: ResourceDefinition, operation: Operation): object {
  const { action, id, description, parameters = [], answer, codes = [], isStreamed, isText } = operation;
  const { group, version, kind } = operation.of ?? definition;
  const types = mediaTypesOf(definition.isBuiltIn);
  const schema = isText
    ? { schema: { type: "string" } }
    : answer === undefined
      ? {}
      : { schema: definitionRef(answer) };
  const named = { "201": "Created", "202": "Accepted" };
  return {
    description,
    consumes: operation.consumes ?? (definition.isBuiltIn ? ["*/*"] : types),
    produces: isText ? ["text/plain", ...types] : isStreamed ? [...types, ...STREAMED_TYPES] : types,
    schemes: ["https"],
    tags: [tagOf(definition)],
    operationId: id,
    ...(parameters.length > 0 && { parameters }),
    responses: {
      "200": { description: "OK", ...schema },
      ...Object.fromEntries(codes.map((code) => [code, { description: named[code], ...schema }])),
      "401": UNAUTHORIZED,
    },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, kind, version },
  };
}

/** Parses `boolean:a,b string:c` into parameters. */
function queriesOf(text: string): object[] {
  return text.split(" ").flatMap((part) => {
    const [type = "", names = ""] = part.split(":");
    return names.split(",").map((name) => query(name, type));
  });
}

function connection(text: string): { readonly methods: readonly string[]; readonly query: object[] } {
  return { methods: ["get", "post"], query: queriesOf(text) };
}
