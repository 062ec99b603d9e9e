// The benchmark's objects: about a kilobyte each, and half of that again in managedFields.
import { createAll, installKind, NAMESPACE, WEBSITE } from "../website-kind.mjs";

export const NAMESPACES = 10;

export const keyOf = (number) => ({ namespace: `cold-sync-${number % NAMESPACES}`, name: nameOf(number) });

const nameOf = (number) => `website-${String(number).padStart(5, "0")}`;

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
  await installKind(client, { type: "object", "x-kubernetes-preserve-unknown-fields": true });
  for (let number = 0; number < NAMESPACES; number++) {
    await client.create(NAMESPACE, { metadata: { name: `cold-sync-${number}` } });
  }
  await createAll(count, 32, (number) => client.create(WEBSITE, website(number)));
}
