import type { Facts } from "../../facts/facts.js";
import type { CatalogGroup } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { described } from "./metadata-descriptions.js";
import { customComponentName } from "./openapi-document.js";
import { META } from "./operation-name.js";
import { definitionRef, SHARED_PARAMETERS } from "./swagger-parameters.js";
import { listingPaths, swaggerPaths } from "./swagger-paths.js";
import {
  builtInSwagger,
  customSwagger,
  IDENTITY_PROPERTIES,
  ITEMS_MORE,
  LIST_METADATA_DESCRIPTION,
  METADATA_PROPERTY,
} from "./swagger-schema.js";

type Definitions = Record<string, object>;

/** The OpenAPI v2 document: one document for every group and version. */
export function swaggerDocument(facts: Facts, groups: readonly CatalogGroup[]): object {
  const served = groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources));
  const custom = served.filter(({ isBuiltIn }) => !isBuiltIn);
  const names = new Map<string, string>();
  for (const definition of custom) {
    const { group, version, kind, listKind } = definition;
    for (const each of [kind, listKind])
      names.set(`${group}/${version}/${each}`, customComponentName(definition, each));
  }
  const componentOf = (group: string, version: string, kind: string): string | undefined =>
    names.get(`${group}/${version}/${kind}`) ?? facts.componentOf(group, version, kind);
  const listed = groups
    .map(({ name, versions }) => ({
      name,
      versions: versions
        .filter(({ resources }) => resources.some(({ isBuiltIn }) => isBuiltIn))
        .map(({ version }) => version),
    }))
    .filter(({ versions }) => versions.length > 0);
  const paths = Object.assign(
    listingPaths(listed),
    ...served.map((definition) => swaggerPaths(definition, componentOf)),
  );
  const definitions: Definitions = { ...builtInDefinitions(facts) };
  for (const definition of custom) Object.assign(definitions, customDefinitions(definition));
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: `${facts.version.major}.${facts.version.minor}` },
    paths: sorted(paths),
    definitions: sorted(definitions),
    parameters: SHARED_PARAMETERS,
    securityDefinitions: {
      BearerToken: {
        description: "Bearer Token authentication",
        type: "apiKey",
        name: "authorization",
        in: "header",
      },
    },
    security: [{ BearerToken: [] }],
  };
}

const TEXT = { type: "string" };

/** Definitions that are in no document of a group version, because no resource returns them. */
const LISTS: Definitions = {
  [`${META}.Patch`]: {
    description: "Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.",
    type: "object",
  },
  [`${META}.APIVersions`]: {
    type: "object",
    required: ["versions", "serverAddressByClientCIDRs"],
    properties: {
      apiVersion: TEXT,
      kind: TEXT,
      serverAddressByClientCIDRs: {
        type: "array",
        items: definitionRef(`${META}.ServerAddressByClientCIDR`),
        "x-kubernetes-list-type": "atomic",
      },
      versions: { type: "array", items: TEXT, "x-kubernetes-list-type": "atomic" },
    },
    "x-kubernetes-group-version-kind": [{ group: "", kind: "APIVersions", version: "v1" }],
  },
  [`${META}.APIGroupList`]: {
    type: "object",
    required: ["groups"],
    properties: {
      apiVersion: TEXT,
      groups: {
        type: "array",
        items: definitionRef(`${META}.APIGroup`),
        "x-kubernetes-list-type": "atomic",
      },
      kind: TEXT,
    },
    "x-kubernetes-group-version-kind": [{ group: "", kind: "APIGroupList", version: "v1" }],
  },
  [`${META}.APIGroup`]: {
    type: "object",
    required: ["name", "versions"],
    properties: {
      apiVersion: TEXT,
      kind: TEXT,
      name: TEXT,
      preferredVersion: definitionRef(`${META}.GroupVersionForDiscovery`),
      serverAddressByClientCIDRs: {
        type: "array",
        items: definitionRef(`${META}.ServerAddressByClientCIDR`),
        "x-kubernetes-list-type": "atomic",
      },
      versions: {
        type: "array",
        items: definitionRef(`${META}.GroupVersionForDiscovery`),
        "x-kubernetes-list-type": "atomic",
      },
    },
    "x-kubernetes-group-version-kind": [{ group: "", kind: "APIGroup", version: "v1" }],
  },
  [`${META}.GroupVersionForDiscovery`]: {
    type: "object",
    required: ["groupVersion", "version"],
    properties: { groupVersion: TEXT, version: TEXT },
  },
  [`${META}.ServerAddressByClientCIDR`]: {
    type: "object",
    required: ["clientCIDR", "serverAddress"],
    properties: { clientCIDR: TEXT, serverAddress: TEXT },
  },
  "io.k8s.apimachinery.pkg.version.Info": versionInfo(),
};

function versionInfo(): object {
  const required = [
    "major",
    "minor",
    "gitVersion",
    "gitCommit",
    "gitTreeState",
    "buildDate",
    "goVersion",
    "compiler",
    "platform",
  ];
  const more = ["emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"];
  const properties = Object.fromEntries([...required, ...more].sort().map((name) => [name, TEXT]));
  return { type: "object", required, properties };
}

function builtInDefinitions(facts: Facts): Definitions {
  const release = `${facts.version.major}.${facts.version.minor}`;
  const made = Object.entries(facts.components).map(
    ([name, schema]) => [name, builtInSwagger(described(name, schema as object, release))] as const,
  );
  return { ...LISTS, ...Object.fromEntries(made) };
}

function customDefinitions(definition: ResourceDefinition): Definitions {
  const { group, version, kind, listKind, plural, publishedSchema, selectableFields } = definition;
  const own = customComponentName(definition, kind);
  const of = (name: string): object => ({
    "x-kubernetes-group-version-kind": [{ group, kind: name, version }],
    ...(selectableFields.length > 0 && {
      "x-kubernetes-selectable-fields": selectableFields.map((fieldPath) => ({ fieldPath })),
    }),
  });
  const isOpen = publishedSchema?.["x-kubernetes-preserve-unknown-fields"] === true;
  const schema: Record<string, unknown> =
    publishedSchema === undefined || isOpen ? { type: "object" } : withMetadata(customSwagger(publishedSchema));
  return {
    [own]: { ...schema, ...of(kind) },
    [customComponentName(definition, listKind)]: {
      description: `${listKind} is a list of ${kind}`,
      type: "object",
      required: ["items"],
      properties: {
        ...IDENTITY_PROPERTIES,
        items: { description: `List of ${plural}. ${ITEMS_MORE}`, type: "array", items: definitionRef(own) },
        metadata: { description: LIST_METADATA_DESCRIPTION, ...definitionRef(`${META}.ListMeta`) },
      },
      ...of(listKind),
    },
  };
}

function withMetadata(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { properties = {} } = schema as { readonly properties?: object };
  return { ...schema, properties: { ...properties, ...IDENTITY_PROPERTIES, metadata: METADATA_PROPERTY } };
}

function sorted<Value>(values: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}
