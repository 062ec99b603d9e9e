import type { ResourceDefinition, Subresource } from "../../kinds/resource-definition.js";
import { article, META, operationId, tagOf } from "./operation-name.js";

/** Query parameters by verb, with their types. Clients read them to learn what the server supports. */
const WRITE_PARAMETERS = [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")];
const LIST_PARAMETERS = [
  parameter("allowWatchBookmarks", "boolean"),
  parameter("continue"),
  parameter("fieldSelector"),
  parameter("labelSelector"),
  parameter("limit", "integer"),
  parameter("resourceVersion"),
  parameter("resourceVersionMatch"),
  parameter("sendInitialEvents", "boolean"),
  parameter("shardSelector"),
  parameter("timeoutSeconds", "integer"),
  parameter("watch", "boolean"),
];
const DELETE_PARAMETERS = [
  parameter("dryRun"),
  parameter("gracePeriodSeconds", "integer"),
  parameter("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
  parameter("orphanDependents", "boolean"),
  parameter("propagationPolicy"),
];

function parameter(name: string, type = "string"): object {
  return { name, in: "query", schema: { type, uniqueItems: true } };
}

function pathParameter(name: string, description: string): object {
  return { name, in: "path", description, required: true, schema: { type: "string", uniqueItems: true } };
}

export function reference(component: string): object {
  return { $ref: `#/components/schemas/${component}` };
}

/** The parts of an operation. */
interface Operation {
  readonly action: string;
  readonly id: string;
  readonly description: string;
  readonly parameters: readonly object[];
  readonly answer: string | undefined;
  readonly body?: { readonly types: readonly string[]; readonly component: string };
}

const PATCH_TYPES = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

/** The paths of one resource. `componentOf` names the schema of a kind. */
export function resourcePaths(
  definition: ResourceDefinition,
  componentOf: (group: string, version: string, kind: string) => string | undefined,
): Readonly<Record<string, object>> {
  const { group, version, plural, kind, namespaced, listKind } = definition;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const own = componentOf(group, version, kind);
  const list = componentOf(group, version, listKind);
  const has = (verb: string): boolean => definition.verbs.includes(verb);
  const paths: Record<string, object> = {};
  const parameters = (hasName: boolean, isNamespaced: boolean): readonly object[] => [
    ...(hasName ? [pathParameter("name", `name of the ${kind}`)] : []),
    ...(isNamespaced ? [pathParameter("namespace", "object name and auth scope, such as for teams and projects")] : []),
    parameter("pretty"),
  ];
  const idOf = (verb: string, suffix = ""): string => operationId(definition, verb, suffix);
  const listing: Operation = {
    action: "list",
    id: idOf("list"),
    description: `list or watch objects of kind ${kind}`,
    parameters: LIST_PARAMETERS,
    answer: list,
  };
  paths[scope] = {
    ...(has("list") && { get: operation(definition, definition, listing) }),
    ...(has("create") && {
      post: operation(definition, definition, {
        action: "post",
        id: idOf("create"),
        description: `create ${article(kind)} ${kind}`,
        parameters: WRITE_PARAMETERS,
        answer: own,
        ...(own !== undefined && { body: { types: ["*/*"], component: own } }),
      }),
    }),
    ...(has("deletecollection") && {
      delete: operation(definition, definition, {
        action: "deletecollection",
        id: idOf("deleteCollection"),
        description: `delete collection of ${kind}`,
        // The real server accepts delete options for collections of custom resources too, but does not document them.
        parameters: definition.isBuiltIn ? [...DELETE_PARAMETERS, ...LIST_PARAMETERS] : LIST_PARAMETERS,
        answer: `${META}.Status`,
      }),
    }),
    parameters: parameters(false, namespaced),
  };
  if (has("get")) {
    paths[`${scope}/{name}`] = {
      ...objectOperations(definition, definition, definition.verbs, own, idOf),
      parameters: parameters(true, namespaced),
    };
  }
  for (const subresource of definition.subresources) {
    const component = componentOf(subresource.group, subresource.version, subresource.kind);
    const id = (verb: string): string => idOf(verb, subresource.name);
    paths[`${scope}/{name}/${subresource.name}`] = {
      ...objectOperations(definition, subresource, subresource.verbs, component, id),
      parameters: parameters(true, namespaced),
    };
  }
  if (namespaced && has("list")) {
    const everywhere = { ...listing, id: idOf("list", "ForAllNamespaces"), parameters: [] };
    paths[`${root}/${plural}`] = {
      get: operation(definition, definition, everywhere),
      parameters: [...LIST_PARAMETERS, parameter("pretty")],
    };
  }
  return paths;
}

/** Reads of custom resources document resourceVersion; for built-in kinds the real server does not document it. */
const READ_VERSION = { parameters: [parameter("resourceVersion")] };

function objectOperations(
  definition: ResourceDefinition,
  of: ResourceDefinition | Subresource,
  verbs: readonly string[],
  component: string | undefined,
  idOf: (verb: string) => string,
): object {
  const make = (verb: string, action: string, rest: Partial<Operation>): object =>
    operation(definition, of, {
      action,
      id: idOf(verb),
      description: `${verb} the specified ${of.kind}`,
      parameters: [],
      answer: component,
      ...rest,
    });
  const body = component === undefined ? {} : { body: { types: ["*/*"], component } };
  const patch = { types: PATCH_TYPES.slice(0, definition.isBuiltIn ? 4 : 3), component: `${META}.Patch` };
  return {
    ...(verbs.includes("get") && { get: make("read", "get", definition.isBuiltIn ? {} : READ_VERSION) }),
    ...(verbs.includes("update") && { put: make("replace", "put", { parameters: WRITE_PARAMETERS, ...body }) }),
    ...(verbs.includes("create") &&
      of !== definition && { post: make("create", "post", { parameters: WRITE_PARAMETERS, ...body }) }),
    ...(verbs.includes("delete") && {
      delete: make("delete", "delete", {
        parameters: DELETE_PARAMETERS,
        answer: `${META}.Status`,
        body: { types: ["*/*"], component: `${META}.DeleteOptions` },
      }),
    }),
    ...(verbs.includes("patch") && {
      patch: make("patch", "patch", { parameters: [...WRITE_PARAMETERS, parameter("force", "boolean")], body: patch }),
    }),
  };
}

function operation(
  definition: ResourceDefinition,
  of: { readonly group: string; readonly version: string; readonly kind: string },
  { action, id, description, parameters, answer, body }: Operation,
): object {
  const content = answer === undefined ? undefined : { "application/json": { schema: reference(answer) } };
  return {
    tags: [tagOf(definition)],
    description,
    operationId: id,
    parameters,
    ...(body && {
      requestBody: {
        content: Object.fromEntries(body.types.map((type) => [type, { schema: reference(body.component) }])),
        required: true,
      },
    }),
    responses: {
      "200": { description: "OK", ...(content && { content }) },
      "401": { description: "Unauthorized" },
    },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group: of.group, kind: of.kind, version: of.version },
  };
}
