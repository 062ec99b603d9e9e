// The benchmark's kind and its objects: about a kilobyte each, and half of that again in managedFields.
export const WEBSITE = {
  group: "bench.example.com",
  version: "v1",
  kind: "Website",
  apiVersion: "bench.example.com/v1",
  plural: "websites",
  scope: "Namespaced",
};

export const NAMESPACES = 10;

export const keyOf = (number) => ({ namespace: `cold-sync-${number % NAMESPACES}`, name: nameOf(number) });

const nameOf = (number) => `website-${String(number).padStart(5, "0")}`;

const CRD = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1",
  plural: "customresourcedefinitions",
  scope: "Cluster",
};
const NAMESPACE = {
  group: "",
  version: "v1",
  kind: "Namespace",
  apiVersion: "v1",
  plural: "namespaces",
  scope: "Cluster",
};

function website(number) {
  return {
    metadata: {
      ...keyOf(number),
      labels: { app: "website", tier: number % 2 ? "web" : "api", shard: String(number % 100) },
      annotations: { "bench.example.com/owner": `team-${number % 37}@example.com` },
    },
    spec: {
      number,
      image: `registry.example.com/websites/site-${number % 500}:v1.${number % 20}.${number % 7}`,
      replicas: 1 + (number % 5),
      hosts: [`site-${number}.example.com`, `www.site-${number}.example.com`],
      env: ["LOG_LEVEL", "DATABASE_URL", "CACHE_SIZE"].map((name) => ({ name, value: `value-of-${name}-${number}` })),
      settings: { theme: "plain", region: `eu-${number % 4}`, compression: "brotli" },
    },
    status: {
      ready: 1 + (number % 5),
      conditions: [{ type: "Ready", status: "True", reason: "Deployed", message: "all replicas are up to date" }],
    },
  };
}

/** Installs the kind and creates `count` objects, 32 at a time. */
export async function createWebsites(client, count) {
  await client.create(CRD, {
    metadata: { name: "websites.bench.example.com" },
    spec: {
      group: WEBSITE.group,
      scope: "Namespaced",
      names: { kind: "Website", listKind: "WebsiteList", plural: "websites", singular: "website" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  });
  for (let number = 0; number < NAMESPACES; number++) {
    await client.create(NAMESPACE, { metadata: { name: `cold-sync-${number}` } });
  }
  await untilServed(() => client.create(WEBSITE, website(0)));
  let next = 1;
  const worker = async () => {
    while (next < count) await client.create(WEBSITE, website(next++));
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

async function untilServed(attempt) {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries > 100 || error.status !== 404) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
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
