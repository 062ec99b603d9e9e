import type { NewObject } from "setpoint";
import { Secret } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Druid } from "../druid.js";
import { DruidIngestion } from "../druid-ingestion.js";
import { DruidWorld, scriptedDruid } from "../druid-world.testing.js";
import { fixture, hasFixtures, WITHOUT } from "../fixtures.testing.js";
import { sampleDruid } from "../sample.testing.js";

const here = { namespace: "default" };
const TASK = "/druid/indexer/v1/task";
const SUPERVISOR = "/druid/indexer/v1/supervisor";
const batch = (more: object = {}) => ({
  type: "index_parallel",
  spec: { dataSchema: { dataSource: "wiki" } },
  ...more,
});
const ingestion = (type: string, nativeSpec: object, more: object = {}, spec: object = {}): NewObject<DruidIngestion> =>
  ({
    metadata: { name: "wiki", ...here },
    spec: { druidCluster: "tiny", ingestion: { type, nativeSpec, ...more }, ...spec },
  }) as never;

/** A Druid that accepts tasks and supervisors like the real one: a task id only once. */
function druidStandIn() {
  const tasks = new Map<string, string>();
  const supervisors = new Map<string, { suspended: boolean }>();
  const refusals: { status: number; body: string }[] = [];
  const script = scriptedDruid((method, path, body) => {
    const refusal = method === "POST" ? refusals[0] : undefined;
    if (refusal) return refusal;
    const [, id = "", verb] = /\/(?:task|supervisor)\/([^/?]+)\/(\w+)/.exec(path) ?? [];
    if (path.startsWith(`${TASK}/`)) {
      if (verb === "shutdown") tasks.set(id, "FAILED");
      return tasks.has(id) ? { task: id, status: { statusCode: tasks.get(id), duration: 1 } } : { status: 404 };
    }
    if (path.startsWith(`${SUPERVISOR}/`)) {
      const known = supervisors.get(id);
      if (!known) return { status: 404 };
      if (verb === "terminate") supervisors.delete(id);
      if (verb === "suspend" || verb === "resume") known.suspended = verb === "suspend";
      return { id, payload: { state: known.suspended ? "SUSPENDED" : "RUNNING", healthy: true } };
    }
    const given = body ? JSON.parse(body) : {};
    if (path === TASK && tasks.has(given.id)) return { status: 400, body: `Task[${given.id}] already exists` };
    if (path === TASK) return tasks.set(given.id, "RUNNING") && { task: given.id };
    if (path.startsWith("/druid/v2/sql/task"))
      return tasks.set(`query-${given.context.sqlQueryId}`, "RUNNING") && { taskId: "x" };
    if (path.startsWith(SUPERVISOR)) {
      const id = given.spec.dataSchema.dataSource;
      return supervisors.set(id, supervisors.get(id) ?? { suspended: false }) && { id };
    }
    return method === "GET" ? { status: 404 } : {};
  });
  const posts = () => script.sent.filter((request) => request.startsWith("POST")).map((request) => request.slice(5));
  return { ...script, tasks, supervisors, refusals, posts };
}

async function worldWith(
  druid: ReturnType<typeof druidStandIn>,
  object: NewObject<DruidIngestion>,
): Promise<DruidWorld> {
  const world = await DruidWorld.create({ call: druid.call });
  await world.create(sampleDruid({ routers: { nodeType: "router", "druid.port": 8888 } }));
  await world.env.client.create(DruidIngestion, object);
  await world.env.advance("3m");
  return world;
}
const read = (world: DruidWorld, name = "wiki") => world.env.client.get(DruidIngestion, name, here);
const patch = async (world: DruidWorld, spec: object) => {
  await world.env.client.patch(DruidIngestion, "wiki", { type: "merge", body: { spec } as never }, here);
  await world.env.advance("3m");
};

describe("an ingestion", { timeout: 120_000 }, () => {
  it.runIf(hasFixtures)(`from Kafka has supervisor, compaction and rules [D45]${WITHOUT}`, async () => {
    const druid = druidStandIn();
    const object = fixture("examples/kafka-ingestion-native.yaml") as { metadata: object; spec: object };
    const given = {
      ...object,
      metadata: { ...object.metadata, ...here },
      spec: { ...object.spec, druidCluster: "tiny" },
    };
    await using world = await worldWith(druid, given as never);
    expect(druid.posts().slice(0, 3)).toEqual([
      `${SUPERVISOR}?skipRestartIfUnmodified=true`,
      "/druid/coordinator/v1/config/compaction",
      "/druid/coordinator/v1/rules/metrics-kafka-2",
    ]);
    expect((await read(world, "kafka-2")).status).toMatchObject({
      taskId: "metrics-kafka-2",
      status: "Running",
      reason: "DruidIngestionControllerCreateSuccess",
      rules: [{ type: "dropByPeriod" }, { type: "broadcastByPeriod" }],
    });
  });

  it("of a batch succeeds without compaction, and its task is followed to its end [D46]", async () => {
    const druid = druidStandIn();
    await using world = await worldWith(druid, ingestion("native-batch", batch()));
    expect((await read(world)).status).toMatchObject({
      status: "Running",
      reason: "DruidIngestionControllerCreateSuccess",
    });
    for (const id of druid.tasks.keys()) druid.tasks.set(id, "SUCCESS");
    await world.env.advance("2m");
    expect((await read(world)).status).toMatchObject({ status: "Succeeded" });
    const asked = druid.sent.length;
    await world.env.advance("1h");
    expect(druid.sent.length).toBe(asked);
  });

  it("is sent once, again only when its meaning changes, and not twice with a rival operator [D47]", async () => {
    const druid = druidStandIn();
    await using world = await worldWith(druid, ingestion("native-batch", batch({ context: { a: 1, b: 2 } })));
    await world.env.advance("30m");
    await patch(world, {
      ingestion: { nativeSpec: null, spec: ` ${JSON.stringify({ context: { b: 2, a: 1 }, ...batch() })} ` },
    });
    expect(druid.posts()).toEqual([TASK]);
    await world.restart();
    await world.env.client.patch(
      DruidIngestion,
      "wiki",
      { type: "merge", body: { status: { taskId: "", "currentIngestionSpec.json": "" } } as never },
      { ...here, subresource: "status" },
    );
    await world.env.advance("5m");
    expect(druid.tasks.size).toBe(1);
    await patch(world, { ingestion: { spec: JSON.stringify(batch({ context: { a: 2 } })) } });
    expect(druid.tasks.size).toBe(2);
    expect((await read(world)).status).toMatchObject({ status: "Running" });
  });

  it("that Druid refuses is Failed with Druid's message, and retried with back-off [D48]", async () => {
    const druid = druidStandIn();
    druid.refusals.push({ status: 400, body: "Unknown type [index_magic]" });
    await using world = await worldWith(druid, ingestion("native-batch", batch()));
    expect((await read(world)).status).toMatchObject({
      status: "Failed",
      reason: "DruidIngestionControllerCreateFail",
      message: `${TASK}: Druid answered 400: Unknown type [index_magic]`,
    });
    await world.env.advance("10m");
    expect(druid.posts().length).toBeLessThan(20);
    druid.refusals.length = 0;
    await world.env.advance("10m");
    expect((await read(world)).status).toMatchObject({ status: "Running" });
  });

  it.each([
    ["kinesis", batch({ type: "kinesis" }), `${SUPERVISOR}?skipRestartIfUnmodified=true`],
    ["sql", { query: 'REPLACE INTO "wiki" OVERWRITE ALL SELECT 1 PARTITIONED BY ALL' }, "/druid/v2/sql/task"],
  ])("of type %s goes to its own endpoint [D49]", async (type, spec, path) => {
    const druid = druidStandIn();
    await using world = await worldWith(druid, ingestion(type, spec));
    expect(druid.posts()).toEqual([path]);
    expect((await read(world)).status?.status).toBe("Running");
  });

  it("of an unknown type, or without a datasource, is refused without a call [D49]", async () => {
    const druid = druidStandIn();
    await using world = await worldWith(druid, ingestion("magic", batch()));
    expect((await read(world)).status).toMatchObject({
      status: "Failed",
      message: expect.stringContaining('spec.ingestion.type: "magic" is not one of'),
    });
    await patch(world, { ingestion: { type: "kafka", nativeSpec: { spec: null } } });
    expect((await read(world)).status?.message).toContain("dataSource is missing");
    expect(druid.sent).toEqual([]);
  });

  it("is suspended and resumed, and ended with its object [D50]", async () => {
    const druid = druidStandIn();
    await using world = await worldWith(druid, ingestion("kafka", batch({ type: "kafka" })));
    await patch(world, { suspend: true });
    expect(druid.posts().at(-1)).toBe(`${SUPERVISOR}/wiki/suspend`);
    expect((await read(world)).status?.status).toBe("Suspended");
    await patch(world, { suspend: false });
    expect(druid.posts().at(-1)).toBe(`${SUPERVISOR}/wiki/resume`);
    await world.env.client.delete(DruidIngestion, "wiki", here);
    await world.env.advance("1m");
    expect(druid.posts().at(-1)).toBe(`${SUPERVISOR}/wiki/terminate`);
    expect(await world.env.client.find(DruidIngestion, "wiki", here)).toBeUndefined();
  });

  it("ends the old supervisor when its datasource changes, and moves compaction and rules", async () => {
    const druid = druidStandIn();
    const more = { compaction: { skipOffsetFromLatest: "P1D" }, rules: [{ type: "loadForever" }] };
    await using world = await worldWith(druid, ingestion("kafka", batch({ type: "kafka" }), more));
    expect([...druid.supervisors.keys()]).toEqual(["wiki"]);
    const before = druid.sent.length;
    await patch(world, { ingestion: { nativeSpec: { spec: { dataSchema: { dataSource: "news" } } } } });
    expect([...druid.supervisors.keys()]).toEqual(["news"]);
    expect(
      druid.sent
        .slice(before)
        .filter((request) => !request.startsWith("GET"))
        .slice(0, 5),
    ).toEqual([
      `POST ${SUPERVISOR}?skipRestartIfUnmodified=true`,
      `POST ${SUPERVISOR}/wiki/terminate`,
      "DELETE /druid/coordinator/v1/config/compaction/wiki",
      "POST /druid/coordinator/v1/config/compaction",
      "POST /druid/coordinator/v1/rules/news",
    ]);
    expect((await read(world)).status).toMatchObject({ taskId: "news", status: "Running", compacted: true });
  });

  it("deletes lookups that were removed from it, and none that it has not made", async () => {
    const lookups = new Map<string, unknown>([["/druid/coordinator/v1/lookups/config", {}]]);
    const standIn = druidStandIn();
    const call: typeof standIn.call = async (request) => {
      const { pathname } = new URL(request.url);
      if (!pathname.includes("/lookups/")) return standIn.call(request);
      if (request.method === "POST") lookups.set(pathname, JSON.parse(request.body!));
      if (request.method === "DELETE") lookups.delete(pathname);
      const found = lookups.get(pathname);
      return found ? { status: 200, body: JSON.stringify(found) } : { status: 404, body: "" };
    };
    lookups.set("/druid/coordinator/v1/lookups/config/hot/foreign", { version: "v1" });
    const names = () => [...lookups.keys()].slice(1).map((path) => path.split("/").slice(-2).join("/"));
    const given = { hot: { a: { version: "v1" }, b: { version: "v1" } }, cold: { c: { version: "v1" } } };
    await using world = await worldWith({ ...standIn, call }, ingestion("native-batch", batch(), { lookups: given }));
    expect(names()).toEqual(["hot/foreign", "hot/a", "hot/b", "cold/c"]);
    await patch(world, { ingestion: { lookups: { hot: { b: null }, cold: null } } });
    expect(names()).toEqual(["hot/foreign", "hot/a"]);
    expect((await read(world)).status?.lookups).toEqual({ hot: ["a"] });
    await patch(world, { ingestion: { lookups: null } });
    expect(names()).toEqual(["hot/foreign"]);
    expect((await read(world)).status?.lookups).toBeUndefined();
  });

  it("shows that its credentials or its cluster are missing, and goes on when they exist", async () => {
    const druid = druidStandIn();
    const auth = { type: "basic-auth", secretRef: { name: "login" } };
    await using world = await worldWith(druid, ingestion("kafka", batch({ type: "kafka" }), {}, { auth }));
    const missing = {
      status: "Failed",
      reason: "DruidAPIGetAuthCredsFailed",
      message: "secret default/login not found",
    };
    expect((await read(world)).status).toMatchObject(missing);
    expect((await read(world)).status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "False", reason: "DruidAPIGetAuthCredsFailed" }),
    );
    expect(await world.events("wiki")).toContain("DruidAPIGetAuthCredsFailed: secret default/login not found");
    expect(druid.sent).toEqual([]);
    const stringData = { OperatorUserName: "admin", OperatorPassword: "secret" };
    await world.env.client.create(Secret, { metadata: { name: "login", ...here }, stringData });
    await world.env.advance("1m");
    expect((await read(world)).status).toMatchObject({ taskId: "wiki", status: "Running" });
    await patch(world, { druidCluster: "other" });
    expect((await read(world)).status?.message).toBe("spec.druidCluster: there is no Druid other");
  });

  it("can be deleted when its cluster is gone [D50]", async () => {
    const druid = druidStandIn();
    await using world = await worldWith(druid, ingestion("kafka", batch({ type: "kafka" })));
    await world.env.client.delete(Druid, "tiny", here);
    await world.env.advance("1m");
    await world.env.client.delete(DruidIngestion, "wiki", here);
    await world.env.advance("1m");
    expect(await world.env.client.find(DruidIngestion, "wiki", here)).toBeUndefined();
    expect(await world.events("wiki")).toContain(
      "DruidIngestionControllerDeleteFail: wiki was not shut down: the cluster tiny is gone",
    );
  });
});
