import { controlPlane } from "@setpoint/control-plane";
import type { Client, JsonObject, JsonValue } from "setpoint";
import { installCrd } from "setpoint/kinds";
import { Manager } from "setpoint/manager";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DruidServers, startDruid } from "../../../../tools/druid/start.mjs";
import { Druid } from "../druid.js";
import { DruidIngestion } from "../druid-ingestion.js";
import { druidControllers } from "../druid-operator.js";
import { sampleDruid } from "../sample.testing.js";

const namespace = "default";
const started: AsyncDisposable[] = [];
let servers: DruidServers;
let client: Client;

function use<T extends AsyncDisposable>(what: T): T {
  started.unshift(what);
  return what;
}

/** Apache Druid 33 from Maven Central; the objects live on the embedded control plane. */
beforeAll(async () => {
  servers = use(await startDruid({ kafka: true }));
  client = use(await controlPlane()).client;
  for (const kind of [Druid, DruidIngestion]) await installCrd(client, kind.crd());
  const manager = use(new Manager({ client, grace: "1s" }));
  const loops = druidControllers({ druidUrl: servers.url, pollInterval: "500ms" });
  for (const loop of loops) manager.add(loop);
  await manager.start();
  const coordinators = { nodeType: "coordinator", dynamicConfig: { maxSegmentsToMove: 7 } } as const;
  const dynamicConfig = { selectStrategy: { type: "fillCapacity" } };
  const middlemanagers = { nodeType: "middleManager", dynamicConfig } as const;
  await client.create(Druid, sampleDruid({ coordinators, middlemanagers, routers: { nodeType: "router" } }));
}, 600_000);
afterAll(async () => {
  for (const each of started) await each[Symbol.asyncDispose]();
});

async function ask(path: string, body?: JsonValue): Promise<JsonValue> {
  const given =
    body === undefined
      ? {}
      : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const answer = await fetch(`${servers.url}${path}`, given);
  return (await answer.json()) as JsonValue;
}

/** Retries until the value is as expected; fails with the last difference. */
const eventually = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 180_000, interval: 250 });
const rowsOf = (query: string) => ask("/druid/v2/sql", { query });
const ingestion = (name: string) => client.get(DruidIngestion, name, { namespace });
const statusOf = async (name: string) => (await ingestion(name)).status?.status;
const tasksOf = async (dataSource: string) =>
  ((await ask(`/druid/indexer/v1/tasks?datasource=${dataSource}`)) as readonly JsonObject[]).map(({ id }) => id);
const configSynced = async () =>
  (await client.get(Druid, "tiny", { namespace })).status?.conditions?.find(({ type }) => type === "ConfigSynced");
const create = (name: string, ingestion: object, spec: object = {}) =>
  client.create(DruidIngestion, {
    metadata: { name, namespace },
    spec: { druidCluster: "tiny", ingestion, ...spec } as never,
  });
const patch = (name: string, spec: object) =>
  client.patch(DruidIngestion, name, { type: "merge", body: { spec } as never }, { namespace });

const schema = (dataSource: string) => ({
  dataSource,
  timestampSpec: { column: "at", format: "iso" },
  dimensionsSpec: { dimensions: ["city"] },
  metricsSpec: [],
  granularitySpec: { segmentGranularity: "DAY", rollup: false },
});
const row = (hour: number, city: string) => JSON.stringify({ at: `2026-01-01T0${hour}:00:00Z`, city });
const batch = (dataSource: string, cities: readonly string[]) => ({
  type: "index_parallel",
  spec: {
    dataSchema: schema(dataSource),
    ioConfig: {
      type: "index_parallel",
      inputSource: { type: "inline", data: cities.map((city, at) => row(at, city)).join("\n") },
      inputFormat: { type: "json" },
    },
    tuningConfig: { type: "index_parallel" },
  },
});

describe("a real Druid's dynamic configuration", { timeout: 240_000 }, () => {
  it("matches the groups for the coordinator and the workers, and follows a change [D41]", async () => {
    await eventually(() => ask("/druid/coordinator/v1/config")).toMatchObject({ maxSegmentsToMove: 7 });
    await eventually(() => ask("/druid/indexer/v1/worker")).toMatchObject({
      selectStrategy: { type: "fillCapacity" },
    });
    await eventually(configSynced).toMatchObject({ status: "True", reason: "Synced" });
    const spec = { nodes: { coordinators: { dynamicConfig: { maxSegmentsToMove: 9, noSuchKey: 1 } } } };
    await client.patch(Druid, "tiny", { type: "merge", body: { spec } as never }, { namespace });
    await eventually(() => ask("/druid/coordinator/v1/config")).toMatchObject({ maxSegmentsToMove: 9 });
    await eventually(configSynced).toMatchObject({
      status: "False",
      message: "Druid does not take /druid/coordinator/v1/config: noSuchKey",
    });
    // Changes that others make in Druid are reverted.
    await ask("/druid/coordinator/v1/config", { maxSegmentsToMove: 1 }).catch(() => {});
    const known = { nodes: { coordinators: { dynamicConfig: { maxSegmentsToMove: 9, noSuchKey: null } } } };
    await client.patch(Druid, "tiny", { type: "merge", body: { spec: known } as never }, { namespace });
    await eventually(() => ask("/druid/coordinator/v1/config")).toMatchObject({ maxSegmentsToMove: 9 });
    await eventually(configSynced).toMatchObject({ status: "True" });
  });
});

describe("a real Druid's batch ingestion", { timeout: 400_000 }, () => {
  const rules = [{ type: "loadForever", tieredReplicants: { _default_tier: 1 } }];
  const compaction = { taskPriority: 20, skipOffsetFromLatest: "P1D" };

  it("makes rows visible to SQL, with compaction, rules and lookups [D46]", async () => {
    const lookups = {
      __default: { codes: { version: "v1", lookupExtractorFactory: { type: "map", map: { a: "b" } } } },
    };
    await create("cities", {
      type: "native-batch",
      nativeSpec: batch("cities", ["Oslo", "Rome"]),
      ...{ compaction, rules, lookups },
    });
    await eventually(() => statusOf("cities")).toBe("Succeeded");
    await eventually(() => rowsOf("SELECT city FROM cities GROUP BY city ORDER BY city")).toEqual([
      { city: "Oslo" },
      { city: "Rome" },
    ]);
    const { status } = await ingestion("cities");
    expect(await tasksOf("cities")).toEqual([status?.taskId]);
    expect(await ask("/druid/coordinator/v1/config/compaction/cities")).toMatchObject({
      dataSource: "cities",
      ...compaction,
    });
    expect(await ask("/druid/coordinator/v1/rules/cities")).toMatchObject(rules);
    expect(await ask("/druid/coordinator/v1/lookups/config/__default/codes")).toMatchObject(lookups.__default.codes);
  });

  it("is submitted once, even if the operator forgets that it was, and again when it changes [D47]", async () => {
    const before = await ingestion("cities");
    const forgotten = { status: { taskId: "", "currentIngestionSpec.json": "" } };
    await client.patch(
      DruidIngestion,
      "cities",
      { type: "merge", body: forgotten },
      { namespace, subresource: "status" },
    );
    await eventually(async () => (await ingestion("cities")).status?.taskId).toBe(before.status?.taskId);
    expect(await tasksOf("cities")).toHaveLength(1);
    await patch("cities", { ingestion: { nativeSpec: batch("cities", ["Bonn"]) } });
    await eventually(() => tasksOf("cities")).toHaveLength(2);
    await eventually(() => statusOf("cities")).toBe("Succeeded");
    await eventually(() => rowsOf("SELECT city FROM cities")).toEqual([{ city: "Bonn" }]);
  });

  it("reverts compaction and rules when their fields are removed", async () => {
    await patch("cities", { ingestion: { compaction: null, rules: null } });
    await eventually(() => ask("/druid/coordinator/v1/rules/cities")).toEqual([]);
    await eventually(() => ask("/druid/coordinator/v1/config/compaction/cities")).toMatchObject({
      errorCode: "notFound",
    });
  });

  it("that Druid refuses shows Druid's message, and so does one that fails [D48]", async () => {
    await create("refused", {
      type: "native-batch",
      nativeSpec: { type: "nonsense", spec: { dataSchema: schema("x") } },
    });
    await eventually(async () => (await ingestion("refused")).status).toMatchObject({
      status: "Failed",
      reason: "DruidIngestionControllerCreateFail",
      message: expect.stringContaining("nonsense"),
    });
    const broken = batch("broken", ["Oslo"]);
    const ioConfig = { ...broken.spec.ioConfig, inputSource: { type: "inline", data: "no JSON" } };
    const tuningConfig = { type: "index_parallel", maxParseExceptions: 0 };
    const spec = { ...broken.spec, ioConfig, tuningConfig };
    await create("broken", { type: "native-batch", nativeSpec: { ...broken, spec } });
    await eventually(() => statusOf("broken")).toBe("Failed");
    for (const name of ["refused", "broken", "cities"]) await client.delete(DruidIngestion, name, { namespace });
    await eventually(async () => (await client.list(DruidIngestion, { namespace })).items).toEqual([]);
  });
});

describe("a real Druid's Kafka supervisor", { timeout: 400_000 }, () => {
  const supervisor = (taskDuration: string) => ({
    type: "kafka",
    spec: {
      dataSchema: schema("visits"),
      ioConfig: {
        type: "kafka",
        topic: "visits",
        consumerProperties: { "bootstrap.servers": servers.kafka },
        inputFormat: { type: "json" },
        useEarliestOffset: true,
        taskDuration,
      },
      tuningConfig: { type: "kafka" },
    },
  });
  const state = async () => {
    const { payload } = (await ask("/druid/indexer/v1/supervisor/visits/status")) as { payload?: JsonObject };
    return payload?.state;
  };

  it("reads a topic, is suspended and resumed, and ends with its object [D45] [D50]", async () => {
    servers.produce("visits", [row(1, "Oslo"), row(2, "Rome")]);
    await create("visits", { type: "kafka", nativeSpec: supervisor("PT1H") });
    await eventually(() => statusOf("visits")).toBe("Running");
    await eventually(() => rowsOf("SELECT city FROM visits GROUP BY city ORDER BY city").catch(String)).toEqual([
      { city: "Oslo" },
      { city: "Rome" },
    ]);
    await patch("visits", { suspend: true });
    await eventually(state).toBe("SUSPENDED");
    await eventually(() => statusOf("visits")).toBe("Suspended");
    await patch("visits", { suspend: false });
    await eventually(state).toBe("RUNNING");
    await client.delete(DruidIngestion, "visits", { namespace });
    await eventually(() => ask("/druid/indexer/v1/supervisor")).toEqual([]);
    await eventually(() => client.find(DruidIngestion, "visits", { namespace })).toBeUndefined();
  });
});
