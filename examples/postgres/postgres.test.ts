import fc from "fast-check";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { CronJob } from "setpoint/kinds/batch/v1";
import { Pod, Secret } from "setpoint/kinds/v1";
import { conversionProblems, TestEnvironment } from "setpoint/testing";
import { expect, it } from "vitest";
import { clusters } from "./clusters.ts";
import type { Servers } from "./databases.ts";
import { PostgresCluster, PostgresClusterV1, PostgresClusterV1alpha1, PostgresDatabase } from "./kinds.ts";
import { operator } from "./operator.ts";

const here = { namespace: "default" };
const metadata = { ...here, name: "shop" };

/** Fake servers that remember their databases. */
function fakeServers() {
  const names = new Set<string>();
  const servers: Servers = {
    ensureDatabase: async ({ host, password }, name) => {
      if (password === "") throw new Error("no password");
      names.add(`${host}/${name}`);
    },
    dropDatabase: async ({ host }, name) => void names.delete(`${host}/${name}`),
  };
  return { servers, names };
}

const start = (servers: Servers = fakeServers().servers, seed = 1) =>
  TestEnvironment.create({ loops: [operator(servers)], simulate: true, seed });

it("brings a cluster up, tells when it is ready, and then writes nothing more", async () => {
  await using env = await start();
  await env.client.create(PostgresCluster, { metadata, spec: { instances: 2, backupSchedule: "0 3 * * *" } });
  await env.advance("1m");
  const { status } = await env.client.get(PostgresCluster, "shop", here);
  expect(status).toMatchObject({ ready: 2, conditions: [{ type: "Ready", status: "True" }, { type: "Reconciled" }] });
  const writes = () =>
    env.operator.requests.filter(({ method, path }) => method !== "GET" && path.includes("/default/"));
  const before = writes().length;
  await env.advance("10m");
  expect(writes().slice(before)).toEqual([]);
  const restarted = await env.start();
  await env.advance("1m");
  expect(restarted.writes.filter((write) => write.includes("/default/"))).toEqual([]);
});

it("makes the password once, and restarts the servers when a setting changes", async () => {
  await using env = await start();
  await env.client.create(PostgresCluster, { metadata, spec: {} });
  await env.advance("1m");
  const { data } = await env.client.get(Secret, "shop-superuser", here);
  const { uid } = (await env.client.get(Pod, "shop-0", here)).metadata;
  const settings = { max_connections: "200" };
  await env.client.patch(PostgresCluster, "shop", { type: "merge", body: { spec: { settings } } }, here);
  await env.advance("2m");
  expect((await env.client.get(Pod, "shop-0", here)).metadata.uid).not.toBe(uid);
  expect((await env.client.get(Secret, "shop-superuser", here)).data).toEqual(data);
});

it("removes the backup that is no longer wanted", async () => {
  await using env = await start();
  await env.client.create(PostgresCluster, { metadata, spec: { backupSchedule: "0 3 * * *" } });
  await env.advance("1m");
  expect(await env.client.find(CronJob, "shop-backup", here)).toBeDefined();
  await env.client.patch(PostgresCluster, "shop", { type: "merge", body: { spec: { backupSchedule: null } } }, here);
  await env.advance("1m");
  expect(await env.client.find(CronJob, "shop-backup", here)).toBeUndefined();
});

it("makes a database when its cluster is ready, and drops it before it goes", async () => {
  const { servers, names } = fakeServers();
  await using env = await start(servers);
  await env.client.create(PostgresDatabase, {
    metadata: { ...here, name: "orders" },
    spec: { cluster: "shop", owner: "ann" },
  });
  await env.advance("1m");
  expect([...names]).toEqual([]);
  await env.client.create(PostgresCluster, { metadata, spec: {} });
  await env.advance("1m");
  expect([...names]).toEqual(["shop.default.svc/orders"]);
  await env.client.delete(PostgresDatabase, "orders", here);
  await env.advance("1m");
  expect([...names]).toEqual([]);
  expect(await env.client.find(PostgresDatabase, "orders", here)).toBeUndefined();
});

it("refuses a version that goes back, and other storage", async () => {
  await using env = await start();
  await env.client.create(PostgresCluster, { metadata, spec: {} });
  const patch = (spec: object) =>
    env.client.patch(PostgresCluster, "shop", { type: "merge", body: { spec } as never }, here);
  await expect(patch({ version: 16 })).rejects.toThrow("17 cannot go back to 16");
  await expect(patch({ storage: "2Gi" })).rejects.toThrow("cannot change");
});

it("loses nothing where an old client labels an object in the version that it knows", async () => {
  await using env = await start();
  const { spec } = await env.client.create(PostgresCluster, { metadata, spec: { settings: { jit: "off" } } });
  const labelled = { type: "merge", body: { metadata: { labels: { team: "blue" } }, spec: { replicas: 3 } } } as const;
  await env.client.patch(PostgresClusterV1alpha1, "shop", labelled, here);
  expect((await env.client.get(PostgresCluster, "shop", here)).spec).toEqual({ ...spec, instances: 3 });
});

it("converts any object to the old version and back as it was", () => {
  const settings = fc.dictionary(fc.string({ minLength: 1 }), fc.string());
  const specs = fc.record({ instances: fc.integer({ min: 1, max: 9 }), settings, backupSchedule: fc.string() });
  const property = fc.property(specs, (spec) => {
    const object = PostgresCluster.withDefaults({ metadata, spec });
    expect(conversionProblems(PostgresCluster, object as PostgresCluster)).toEqual([]);
  });
  fc.assert(property);
});

it("comes to the same end after a crash at any of its writes", async () => {
  const passwords = new Set<string | undefined>();
  let write = 0;
  for (let hasCrashed = true; hasCrashed; ) {
    await using env = await TestEnvironment.create({ kinds: [PostgresClusterV1], loops: [clusters], seed: ++write });
    const first = env.operator;
    first.crashAfterWrite(write);
    await env.client.create(PostgresCluster, { metadata, spec: {} });
    await env.idle();
    hasCrashed = first.hasCrashed;
    if (hasCrashed) await env.start();
    await env.idle();
    expect((await env.client.get(PostgresCluster, "shop", here)).status?.ready).toBe(0);
    expect((await env.client.get(StatefulSet, "shop", here)).spec?.replicas).toBe(1);
    passwords.add((await env.client.get(Secret, "shop-superuser", here)).data?.POSTGRES_PASSWORD);
  }
  expect(write).toBeGreaterThan(5);
  expect(passwords.size).toBe(write);
}, 120_000);
