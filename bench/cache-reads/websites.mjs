// The objects: about a kilobyte each; label, field and index split them into a hundred parts.
import { createAll, installKind, WEBSITE } from "../website-kind.mjs";

export const SHARDS = 100;

export const nameOf = (number) => `website-${String(number).padStart(5, "0")}`;

function website(number) {
  const shard = String(number % SHARDS);
  return {
    metadata: {
      namespace: "default",
      name: nameOf(number),
      labels: { app: "website", tier: number % 2 ? "web" : "api", shard },
      annotations: { "bench.example.com/owner": `team-${number % 37}@example.com` },
    },
    spec: {
      number,
      image: `registry.example.com/websites/site-${number % 500}:v1.${number % 20}.${number % 7}`,
      replicas: 1 + (number % 5),
      hosts: [`site-${shard}.example.com`, `www.site-${number}.example.com`],
      env: ["LOG_LEVEL", "DATABASE_URL", "CACHE_SIZE"].map((name) => ({ name, value: `value-of-${name}-${number}` })),
      settings: { theme: "plain", region: `eu-${number % 4}`, compression: "brotli" },
      shard,
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
  await createAll(count, 32, (number) => client.create(WEBSITE, website(number)));
}
