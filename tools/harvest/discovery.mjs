// The resources of a server: one row each, from aggregated discovery, with the storage version hash, which only legacy
// discovery has. Groups and versions keep the server's order, so that both forms of discovery can be reproduced.

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** @returns {Promise<{ groups: { group: string, versions: { version: string, resources: object[] }[] }[] }>} */
export async function harvestDiscovery(api) {
  const core = await api.get("/api", { accept: AGGREGATED });
  const others = await api.get("/apis", { accept: AGGREGATED });
  const groups = [];
  for (const item of [...core.items, ...others.items]) {
    const group = item.metadata.name ?? "";
    const versions = [];
    for (const { version, resources } of item.versions) {
      const legacy = await api.get(group === "" ? `/api/${version}` : `/apis/${group}/${version}`);
      const hashes = new Map(legacy.resources.map((entry) => [entry.name, entry.storageVersionHash]));
      versions.push({ version, resources: resources.map((resource) => row(resource, hashes.get(resource.resource))) });
    }
    groups.push({ group, versions });
  }
  return { groups };
}

function row(resource, storageVersionHash) {
  return {
    plural: resource.resource,
    singular: resource.singularResource,
    kind: resource.responseKind.kind,
    namespaced: resource.scope === "Namespaced",
    verbs: resource.verbs,
    ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories ? { categories: resource.categories } : {}),
    ...(storageVersionHash ? { storageVersionHash } : {}),
    ...(resource.subresources ? { subresources: resource.subresources.map(subresourceRow) } : {}),
  };
}

/** Group and version are included only if they are not the resource's own. */
function subresourceRow({ subresource, responseKind, verbs }) {
  const { group, version, kind } = responseKind;
  return { name: subresource, kind, ...(group || version ? { group, version } : {}), verbs };
}

/** Every resource as `{ group, version, plural, kind, namespaced, verbs, … }`. */
export function resourcesOf(discovery) {
  return discovery.groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) => resources.map((resource) => ({ group, version, ...resource }))),
  );
}
