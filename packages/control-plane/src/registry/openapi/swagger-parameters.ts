/** Parameters that many OpenAPI v2 operations share, by name. Operations reference them. */
export const SHARED_PARAMETERS: Readonly<Record<string, object>> = {
  ...queries("boolean", [
    "allowWatchBookmarks",
    "force",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "sendInitialEvents",
    "watch",
  ]),
  ...queries("integer", ["gracePeriodSeconds", "limit", "timeoutSeconds"]),
  ...queries("string", [
    "continue",
    "dryRun",
    "fieldManager",
    "fieldSelector",
    "fieldValidation",
    "labelSelector",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "shardSelector",
  ]),
  namespace: {
    uniqueItems: true,
    type: "string",
    description: "object name and auth scope, such as for teams and projects",
    name: "namespace",
    in: "path",
    required: true,
  },
};

export const LISTING = [
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "shardSelector",
  "timeoutSeconds",
  "watch",
];
export const WRITING = ["dryRun", "fieldManager", "fieldValidation"];
export const DELETING = [
  "dryRun",
  "gracePeriodSeconds",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
  "orphanDependents",
  "propagationPolicy",
];

export function shared(names: readonly string[]): readonly object[] {
  return names.map((name) => ({ $ref: `#/parameters/${name}` }));
}

export function query(name: string, type: string): object {
  return { uniqueItems: true, type, name, in: "query" };
}

export function inPath(name: string, description: string): object {
  return { uniqueItems: true, type: "string", description, name, in: "path", required: true };
}

export function body(component: string, required: boolean): object {
  return { name: "body", in: "body", ...(required && { required }), schema: definitionRef(component) };
}

export function definitionRef(component: string): object {
  return { $ref: `#/definitions/${component}` };
}

function queries(type: string, names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, query(name, type)]));
}
