import type { ResourceCatalog } from "../../kinds/catalog.js";
import { apiVersionOf, type CatalogGroup, type CatalogVersion } from "../../kinds/catalog.js";
import type { ResourceDefinition, Subresource } from "../../kinds/resource-definition.js";

/** The aggregated document: everything under `/api` or `/apis` in one response. */
export function aggregatedDiscovery(groups: readonly CatalogGroup[]): object {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map((each) => ({
        version: each.version,
        resources: each.resources.map((resource) => aggregatedResource(resource)),
        freshness: "Current",
      })),
    })),
  };
}

function aggregatedResource(definition: ResourceDefinition): object {
  const { shortNames, categories, subresources } = definition;
  return {
    resource: definition.plural,
    responseKind: responseKind(definition, definition),
    scope: definition.namespaced ? "Namespaced" : "Cluster",
    singularResource: definition.singular,
    verbs: definition.verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((subresource) => ({
        subresource: subresource.name,
        responseKind: responseKind(subresource, definition),
        verbs: subresource.verbs,
      })),
    }),
  };
}

/** Built-in resources omit their own group and version; custom resources always state them. */
function responseKind(of: { group: string; version: string; kind: string }, definition: ResourceDefinition): object {
  const isOwn = of.group === definition.group && of.version === definition.version;
  if (definition.isBuiltIn && isOwn) return { group: "", version: "", kind: of.kind };
  return { group: of.group, version: of.version, kind: of.kind };
}

export function legacyVersions(): object {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
}

export function legacyGroupList(catalog: ResourceCatalog): object {
  const groups = catalog.groups.filter(({ name }) => name !== "").map((group) => legacyGroup(group));
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

function legacyGroup({ name, versions }: CatalogGroup): object {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

export function legacyGroupDocument(group: CatalogGroup): object {
  return { kind: "APIGroup", apiVersion: "v1", ...legacyGroup(group) };
}

export function legacyResourceList(group: string, { version, resources }: CatalogVersion): object {
  return {
    kind: "APIResourceList",
    ...(group !== "" && { apiVersion: "v1" }),
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap((definition) => [
      legacyResource(definition),
      ...definition.subresources.map((subresource) => legacySubresource(definition, subresource)),
    ]),
  };
}

function legacyResource(definition: ResourceDefinition): object {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories, storageVersionHash } = definition;
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(storageVersionHash !== undefined && { storageVersionHash }),
  };
}

function legacySubresource(definition: ResourceDefinition, subresource: Subresource): object {
  const { plural, namespaced, group, version } = definition;
  const isOwn = subresource.group === group && subresource.version === version;
  return {
    name: `${plural}/${subresource.name}`,
    singularName: "",
    namespaced,
    ...(!isOwn && { group: subresource.group, version: subresource.version }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  };
}
