import type { Facts } from "../../facts/facts.js";
import type { Schema } from "../../facts/schema.js";
import type { CatalogVersion } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { described } from "./metadata-descriptions.js";
import { reference, resourcePaths } from "./openapi-paths.js";
import { META } from "./operation-name.js";
import { IDENTITY_PROPERTIES, ITEMS_MORE, LIST_METADATA_DESCRIPTION, METADATA_DESCRIPTION } from "./swagger-schema.js";

type Components = Record<string, object>;

const OBJECT_METADATA = { description: METADATA_DESCRIPTION, allOf: [reference(`${META}.ObjectMeta`)] };
const ALWAYS = [`${META}.Status`, `${META}.DeleteOptions`, `${META}.Patch`];
/** Documents of built-in group versions also describe their resource list and watch events. */
const BUILT_IN = [`${META}.APIResourceList`, `${META}.WatchEvent`];

/** The OpenAPI v3 document of one group version: its paths, and every schema that they reference. */
export function openApiDocument(facts: Facts, group: string, { resources }: CatalogVersion): object {
  const isBuiltIn = resources.some((definition) => definition.isBuiltIn);
  const custom: Components = Object.assign({}, ...resources.map((definition) => customComponents(definition)));
  const names = new Map<string, string>();
  for (const definition of resources) {
    if (definition.isBuiltIn) continue;
    names.set(kindKey(group, definition.version, definition.kind), customComponentName(definition, definition.kind));
    names.set(
      kindKey(group, definition.version, definition.listKind),
      customComponentName(definition, definition.listKind),
    );
  }
  const componentOf = (of: string, version: string, kind: string): string | undefined =>
    names.get(kindKey(of, version, kind)) ?? facts.componentOf(of, version, kind);
  const paths = Object.assign({}, ...resources.map((definition) => resourcePaths(definition, componentOf)));
  const versions = new Set(resources.map(({ version }) => version));
  const available: Components = { [`${META}.Patch`]: PATCH, ...facts.components, ...custom };
  const schemas = reachable(available, [...referencesIn(paths), ...ALWAYS, ...(isBuiltIn ? BUILT_IN : [])]);
  const release = `${facts.version.major}.${facts.version.minor}`;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: release },
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => {
          const known = Object.hasOwn(custom, name) ? schema : described(name, schema, release);
          return [name, name.startsWith(META) ? ofGroup(known, group, versions) : known];
        }),
      ),
    },
  };
}

/** DeleteOptions and WatchEvent belong to every group. A document lists only its own group and the core group. */
function ofGroup(schema: Kinded, group: string, versions: ReadonlySet<string>): Kinded {
  const key = "x-kubernetes-group-version-kind";
  const kinds = schema[key];
  if (kinds === undefined || kinds.length < 2) return schema;
  const isOwn = (each: { group: string; version: string }): boolean =>
    each.group === group && versions.has(each.version);
  return { ...schema, [key]: kinds.filter((each) => each.group === "" || isOwn(each)) };
}

interface Kinded {
  readonly "x-kubernetes-group-version-kind"?: readonly { readonly group: string; readonly version: string }[];
}

/** The document of a path without resources: a list of groups or versions, the server's version, or its keys. */
export function listDocument(facts: Facts, path: string): object {
  const get = { responses: { "200": { description: "OK", content: { "application/json": {} } } } };
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: `${facts.version.major}.${facts.version.minor}` },
    paths: { [`/${path}/`]: { get } },
  };
}

const PATCH = {
  description: "Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.",
  type: "object",
};

function kindKey(group: string, version: string, kind: string): string {
  return `${group}/${version}/${kind}`;
}

/** `com.example.web.v1.Website`: the group with its parts reversed. */
export function customComponentName({ group, version }: ResourceDefinition, kind: string): string {
  return [...group.split(".").reverse(), version, kind].join(".");
}

function customComponents(definition: ResourceDefinition): Components {
  if (definition.isBuiltIn) return {};
  const { group, version, kind, listKind, plural, publishedSchema, selectableFields } = definition;
  const own = customComponentName(definition, kind);
  const of = (name: string): object => ({
    "x-kubernetes-group-version-kind": [{ group, kind: name, version }],
    ...(selectableFields.length > 0 && {
      "x-kubernetes-selectable-fields": selectableFields.map((fieldPath) => ({ fieldPath })),
    }),
  });
  const { properties = {}, ...rest } = publishedSchema ? withEmbedded(publishedSchema) : { type: "object" };
  return {
    [own]: {
      ...rest,
      type: "object",
      properties: { ...IDENTITY_PROPERTIES, metadata: OBJECT_METADATA, ...omitIdentity(properties) },
      ...of(kind),
    },
    [customComponentName(definition, listKind)]: {
      description: `${listKind} is a list of ${kind}`,
      type: "object",
      required: ["items"],
      properties: {
        ...IDENTITY_PROPERTIES,
        items: { description: `List of ${plural}. ${ITEMS_MORE}`, type: "array", items: reference(own) },
        metadata: { description: LIST_METADATA_DESCRIPTION, allOf: [reference(`${META}.ListMeta`)] },
      },
      ...of(listKind),
    },
  };
}

/** Adds apiVersion, kind and metadata to embedded resources. */
function withEmbedded(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, embedded(part)])),
    }),
    ...(items && { items: embedded(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: embedded(additionalProperties) }),
  };
}

function embedded(schema: Schema): Schema {
  const inner = withEmbedded(schema);
  if (!schema["x-kubernetes-embedded-resource"]) return inner;
  return {
    ...inner,
    properties: { ...inner.properties, ...IDENTITY_PROPERTIES, metadata: OBJECT_METADATA },
    required: [...new Set([...(schema.required ?? []), "kind", "apiVersion"])],
  } as Schema;
}

function omitIdentity(properties: object): object {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = properties as Record<string, unknown>;
  return rest;
}

/** The components that the given ones reference, sorted by name. */
function reachable(available: Components, from: Iterable<string>): Components {
  const found = new Map<string, object>();
  const waiting = [...from];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const component = available[name];
    if (component === undefined || found.has(name)) continue;
    found.set(name, component);
    waiting.push(...referencesIn(component));
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* referencesIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === "$ref" && typeof part === "string") yield part.slice(part.lastIndexOf("/") + 1);
    else yield* referencesIn(part);
  }
}
