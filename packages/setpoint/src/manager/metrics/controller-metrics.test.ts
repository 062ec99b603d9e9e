import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect, it } from "vitest";
import { seededRandom } from "../../clock/random.js";
import { controller, scoped } from "../../controller/controller.js";
import { watcher } from "../../controller/watcher.js";
import { Website, World } from "../../controller/world.testing.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { terminal } from "../../loop/outcome.js";
import { Manager, type ManagerOptions } from "../manager.js";

function managerOf(world: World, options: Partial<ManagerOptions> = {}): Manager {
  return new Manager({ client: world.cluster().client, clock: world.clock, random: seededRandom(1), ...options });
}

/** The lines of a metric, without its name. */
const series = ({ metrics }: Manager, name: string): readonly string[] =>
  metrics
    .exposition()
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => line.slice(name.length));

it("the series of a controller exist from its start, like those of controller-runtime", async () => {
  await using world = await World.create();
  await using manager = managerOf(world);
  await manager.add(controller(Website, { reconcile: () => {} }));
  await manager.add(watcher(Website, {}));
  expect(series(manager, "controller_runtime_reconcile_total").toSorted()).toEqual([
    '{controller="websites",result="error"} 0',
    '{controller="websites",result="requeue_after"} 0',
    '{controller="websites",result="success"} 0',
  ]);
  const own = '{controller="websites"} 0';
  expect(series(manager, "controller_runtime_reconcile_errors_total")).toEqual([
    own,
    '{controller="watcher websites"} 0',
  ]);
  expect(series(manager, "controller_runtime_terminal_reconcile_errors_total")).toEqual([own]);
  expect(series(manager, "controller_runtime_reconcile_timeouts_total")).toEqual([own]);
  for (const name of ["workqueue_adds_total", "workqueue_retries_total"])
    expect(series(manager, name)).toEqual([
      '{name="websites",controller="websites"} 0',
      '{name="watcher websites",controller="watcher websites"} 0',
    ]);
});

it("a paused object does not count as a run", async () => {
  await using world = await World.create();
  await using manager = managerOf(world);
  await manager.add(controller(Website, { reconcile: () => terminal(new Error("never")) }));
  await manager.start();
  await world.createWebsite("a");
  await world.clock.advance(1_000);
  await world.annotate("a", { "setpoint.dev/paused": "true" });
  await world.clock.advance(1_000);
  const outcomes = [...manager.timeline.runs()].map(({ outcome }) => outcome);
  expect(outcomes).toContain("paused");
  const runs = outcomes.filter((outcome) => outcome !== "paused").length;
  expect(series(manager, "controller_runtime_reconcile_total")).toContain(
    `{controller="websites",result="error"} ${runs}`,
  );
  expect(manager.metrics.exposition()).not.toContain('result="paused"');
  expect(series(manager, "controller_runtime_reconcile_time_seconds_count")).toEqual([
    `{controller="websites"} ${runs}`,
  ]);
  expect(series(manager, "controller_runtime_terminal_reconcile_errors_total")).toEqual([
    `{controller="websites"} ${runs}`,
  ]);
});

it("caches of other clusters are measured, too, under the cluster's name", async () => {
  await using world = await World.create();
  await using edge = await World.create();
  await using manager = managerOf(world, { clusters: { edge: edge.cluster().client } });
  const sites = controller(Website, {
    uses: [scoped(ConfigMap, { cluster: "edge", namespaces: ["team"] })],
    reconcile: () => {},
  });
  await manager.add(sites);
  await manager.start();
  await world.createWebsite("a");
  await world.clock.advance(1_000);
  await edge.clock.advance(1_000);
  const kinds = ['{kind="web.example.com/v1/Website"}', '{kind="v1/ConfigMap",cluster="edge"}'];
  for (const name of ["setpoint_informer_objects", "setpoint_informer_synced"])
    expect(series(manager, name)).toEqual(kinds.map((kind) => `${kind} 1`));
  expect(series(manager, "setpoint_informer_backlog")).toEqual(kinds.map((kind) => `${kind} 0`));
  for (const line of series(manager, "setpoint_informer_bytes")) expect(line).toMatch(/} [1-9]\d*$/);
});

it("leadership is exported by lease name: 1 for the leader, 0 on standby and once the lease is lost", async () => {
  await using world = await World.create();
  const leaderElection = { name: "app-lock" };
  await using first = managerOf(world, { name: "app", leaderElection: { ...leaderElection, identity: "one" } });
  await using second = managerOf(world, { name: "app", leaderElection: { ...leaderElection, identity: "two" } });
  await first.start();
  const standby = second.start().catch(() => {});
  await world.clock.advance(5_000);
  const shown = () => [first, second].map((each) => series(each, "leader_election_master_status").join());
  expect(shown()).toEqual(['{name="app-lock"} 1', '{name="app-lock"} 0']);
  world.fault = ({ body }) => (JSON.stringify(body ?? "").includes('"one"') ? new Error("gone") : undefined);
  await world.clock.advance(30_000);
  await standby;
  expect(shown()).toEqual(['{name="app-lock"} 0', '{name="app-lock"} 1']);
});

it("runs and their writes are traced by the tracer of the manager", async () => {
  await using world = await World.create();
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  await using manager = managerOf(world, { tracer: provider.getTracer("setpoint") });
  await manager.add(
    controller(Website, {
      owns: [ConfigMap],
      reconcile: async ({ metadata: { name } }, ctx) => void (await ctx.apply(ConfigMap, { metadata: { name } })),
    }),
  );
  await manager.start();
  await world.createWebsite("a");
  await world.clock.advance(1_000);
  const spans = exporter.getFinishedSpans();
  const run = spans.find(({ name }) => name === "reconcile websites");
  const write = spans.find(({ name }) => name === "apply v1/ConfigMap");
  expect(write?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId);
  expect(run?.attributes).toMatchObject({ "setpoint.object": "team/a", "setpoint.outcome": "done" });
});
