import type { Kind } from "setpoint";
import { ConfigMap, Event } from "setpoint/kinds/v1";
import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { Druid } from "./druid.js";
import { DruidIngestion } from "./druid-ingestion.js";
import { druidControllers } from "./druid-operator.js";
import { scriptedDruid } from "./druid-world.testing.js";
import { fixture, fixtures, hasFixtures, WITHOUT } from "./fixtures.testing.js";

const PUBLISHED = ["crds/druids.yaml", "crds/druidingestions.yaml"].map((path) => (hasFixtures ? fixture(path) : {}));

/** A Druid that accepts everything and has finished it at once. */
const obedient = () =>
  scriptedDruid((method, path) => {
    if (/supervisor\/[^/]+\/status/.test(path)) return { payload: { state: "RUNNING", healthy: true } };
    if (/task\/[^/]+\/status/.test(path)) return { status: { statusCode: "SUCCESS" } };
    return method === "GET" ? { status: 404 } : { id: "x" };
  });

describe.runIf(hasFixtures).each([
  ["our own", [Druid, DruidIngestion]],
  ["the published", PUBLISHED],
] as const)(`with %s definitions, the published example${WITHOUT}`, (which, kinds) => {
  const start = async () => {
    const env = await TestEnvironment.create({ kinds: kinds as never, simulate: true });
    await env.start(druidControllers({ call: obedient().call, clock: env.clock }));
    return env;
  };

  it.each(["tiny-cluster", "tiny-cluster-hpa", "tiny-cluster-mmless", "extra-common-config"])(
    "%s becomes Ready",
    async (name) => {
      await using env = await start();
      const objects = fixtures(`examples/${name}.yaml`).filter(({ kind }) => /^(Druid|ConfigMap)$/.test(kind));
      for (const object of objects as unknown as readonly (Druid | ConfigMap)[]) {
        const metadata = { namespace: "default", ...object.metadata };
        await env.client.create(
          (object.kind === "Druid" ? Druid : ConfigMap) as Kind,
          { ...object, metadata } as never,
        );
      }
      await env.advance("5m");
      const [druid] = (await env.client.list(Druid)).items;
      expect(druid?.status?.druidNodeStatus).toMatchObject({
        druidNode: "All",
        druidNodeConditionType: "DruidClusterReady",
      });
      const ready = druid?.status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready?.status).toBe(which === "our own" ? "True" : undefined);
      const { items } = await env.client.list(Event, { fieldSelector: "type=Warning" });
      const ours = items.filter(({ involvedObject }) => involvedObject.kind === Druid.kind);
      expect(ours.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([]);
      const before = env.operator.writes.length;
      await env.advance("1h");
      expect(env.operator.writes.slice(before)).toEqual([]);
    },
  );

  it.each([
    ["ingestion", "Succeeded"],
    ["kafka-ingestion", "Running"],
    ["kafka-ingestion-native", "Running"],
  ])("%s is submitted", async (name, status) => {
    await using env = await start();
    const cluster = fixture("examples/tiny-cluster.yaml") as Druid;
    const given = fixture(`examples/${name}.yaml`) as DruidIngestion;
    const namespace = given.metadata.namespace ?? "default";
    await env.client.create(Druid, {
      ...cluster,
      metadata: { ...cluster.metadata, name: given.spec.druidCluster, namespace },
    });
    await env.client.create(DruidIngestion, { ...given, metadata: { ...given.metadata, namespace } });
    await env.advance("5m");
    const found = await env.client.get(DruidIngestion, given.metadata.name, { namespace });
    expect(found.status).toMatchObject({ status });
    expect(found.status?.taskId).not.toBe("");
  });

  it("without a spec is refused, and the field is named", async () => {
    await using env = await start();
    const invalid = fixture("examples/invalid-empty-spec.yaml") as Druid;
    const metadata = { namespace: "default", ...invalid.metadata };
    await expect(env.client.create(Druid, { ...invalid, metadata })).rejects.toThrow(/spec/);
  });
});
