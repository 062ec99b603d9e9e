// The custom kind of the benchmarks, and its installation.
export const WEBSITE = {
  group: "bench.example.com",
  version: "v1",
  kind: "Website",
  apiVersion: "bench.example.com/v1",
  plural: "websites",
  scope: "Namespaced",
};
export const NAMESPACE = {
  group: "",
  version: "v1",
  kind: "Namespace",
  apiVersion: "v1",
  plural: "namespaces",
  scope: "Cluster",
};
const CRD = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1",
  plural: "customresourcedefinitions",
  scope: "Cluster",
};

/** Installs the kind with an OpenAPI schema of its objects, and waits until it is served. */
export async function installKind(client, openAPIV3Schema) {
  await client.create(CRD, {
    metadata: { name: "websites.bench.example.com" },
    spec: {
      group: WEBSITE.group,
      scope: "Namespaced",
      names: { kind: "Website", listKind: "WebsiteList", plural: "websites", singular: "website" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  for (let tries = 0; ; tries++) {
    try {
      return await client.list(WEBSITE, { limit: 1 });
    } catch (error) {
      if (tries > 100 || error.status !== 404) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Runs `create` for the numbers from 0 to `count`, `width` at a time. */
export async function createAll(count, width, create) {
  let next = 0;
  const worker = async () => {
    while (next < count) await create(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** The objects' JSON without managedFields, in bytes. */
export async function jsonBytes(client) {
  let bytes = 0;
  for await (const page of client.pages(WEBSITE, { limit: 1000 })) {
    for (const { metadata, ...rest } of page.items) {
      const { managedFields: _, ...kept } = metadata;
      bytes += Buffer.byteLength(JSON.stringify({ ...rest, metadata: kept }));
    }
  }
  return bytes;
}
