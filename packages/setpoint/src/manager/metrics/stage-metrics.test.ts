import { expect, it } from "vitest";
import { createClient } from "../../client/api-client.js";
import type { Transport } from "../../client/transport/transport.js";
import { controller } from "../../controller/controller.js";
import { watcher } from "../../controller/watcher.js";
import { Website, World } from "../../controller/world.testing.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { Manager } from "../manager.js";
import { requestMetrics } from "./controller-metrics.js";
import { MetricRegistry } from "./metric-registry.js";

const KIND = 'kind="web.example.com/v1/Website"';

/** The current value of a manager's series; NaN if there is none. */
const shownBy = (manager: Manager, series: string): number => {
  const line = manager.metrics
    .exposition()
    .split("\n")
    .find((each) => each.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length));
};

it("counts errors on every attempt by event type and kind, separately for a watcher and a controller of one name [case 13]", async () => {
  await using world = await World.create();
  await using manager = new Manager({ client: world.cluster().client, clock: world.clock });
  const fail = () => Promise.reject(new Error("no"));
  const once = { initial: "1s", max: "1h", jitter: 0 } as const;
  await manager.add(controller(Website, { retry: { ...once, attempts: 2 }, reconcile: fail }));
  await manager.add(watcher(Website, { retry: { ...once, attempts: 1 }, add: fail }));
  await manager.start();
  await world.createWebsite("a");
  await world.clock.advance(60_000);
  const value = (series: string): number => shownBy(manager, series);
  expect(value(`reconciler_errors_total{event_type="CREATE",${KIND}}`)).toBe(3);
  expect(value('controller_runtime_reconcile_errors_total{controller="websites"}')).toBe(3);
  expect(value(`watcher_errors_total{event_type="CREATE",${KIND}}`)).toBe(2);
  expect(value('controller_runtime_reconcile_errors_total{controller="watcher websites"}')).toBe(2);
});

it("counts runs that timed out, whether they heed it or not, and no others", async () => {
  await using world = await World.create();
  await using manager = new Manager({ client: world.cluster().client, clock: world.clock, grace: 0 });
  const sites = controller(Website, {
    timeout: "1s",
    retry: { initial: "1h", max: "2h" },
    reconcile({ metadata: { name } }, ctx) {
      if (name === "fails") throw new Error("no");
      return name === "deaf" ? new Promise<void>(() => {}) : world.clock.sleep(60_000, ctx.signal);
    },
  });
  await manager.add(sites);
  await manager.start();
  for (const name of ["fails", "heeds", "deaf"]) await world.createWebsite(name);
  await world.clock.advance(30_000);
  expect(shownBy(manager, 'controller_runtime_reconcile_timeouts_total{controller="websites"}')).toBe(2);
  expect(shownBy(manager, 'controller_runtime_reconcile_errors_total{controller="websites"}')).toBe(3);
  const stopped = manager.stop();
  await world.clock.advance(15_000);
  await stopped;
});

it("counts the steps that wait for watchers by kind, down to none [case 21]", async () => {
  await using world = await World.create();
  await using manager = new Manager({ client: world.cluster().client, clock: world.clock });
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await manager.add(watcher(Website, { concurrency: 1, add: () => released }));
  const labels = { watched: "yes" };
  await manager.add(watcher(ConfigMap, { labelSelector: "watched=yes", concurrency: 1, add: () => released }));
  await manager.start();
  for (const name of ["a", "b", "c"]) await world.createWebsite(name);
  for (const name of ["a", "b"])
    await world.client.create(ConfigMap, { metadata: { name, namespace: "team", labels } });
  await world.clock.settle();
  const depths = () =>
    [KIND, 'kind="v1/ConfigMap"'].map((kind) => shownBy(manager, `concurrent_watcher_queue_depth{${kind}}`));
  expect(depths()).toEqual([2, 1]);
  release();
  await world.clock.settle();
  expect(depths()).toEqual([0, 0]);
});

it("counts an object at each stage of its way, from a cold start to its end", async () => {
  await using world = await World.create();
  await world.createWebsite("a");
  const metricRegistry = new MetricRegistry();
  const transport: Transport = {
    request: (request) => world.client.raw({ ...request, retry: false }),
    [Symbol.asyncDispose]: async () => {},
  };
  const observer = requestMetrics(metricRegistry);
  const client = createClient({ transport, server: "in-process", clock: world.clock, observer });
  await using manager = new Manager({ client, clock: world.clock, metricRegistry });
  let failures = 1;
  let gate: Promise<void> | undefined;
  const sites = controller(Website, {
    owns: [ConfigMap],
    concurrency: 1,
    metrics: [
      { name: "sites_failures_left", type: "gauge", help: "Left.", collect: () => [{ labels: {}, value: failures }] },
    ],
    async reconcile({ metadata, spec }, ctx) {
      await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { image: spec.image } });
      if (spec.image === "broken" && failures-- > 0) throw new Error("once");
      await gate;
    },
    finalize: () => undefined,
  });
  const audit = watcher(Website, { update: () => Promise.reject(new Error("no audit")), retry: { attempts: 1 } });
  await manager.add(sites);
  await manager.add(audit);
  const value = (series: string): number => shownBy(manager, series);

  // Cold start: the list delivers the object to the reconciler and to the watcher.
  await manager.start();
  await world.clock.advance(1_000);
  expect(value('leader_election_master_status{name="setpoint"}')).toBe(1);
  expect(value("setpoint_events_dropped_total")).toBe(0);
  expect(value(`kubernetes_client_watch_events_total{event_type="ADDED",${KIND}}`)).toBe(1);
  expect(value(`kubernetes_client_watch_events_total{event_type="BOOKMARK",${KIND}}`)).toBe(1);
  expect(value(`setpoint_informer_synced{${KIND}}`)).toBe(1);
  expect(value(`setpoint_informer_objects{${KIND}}`)).toBe(1);
  expect(value(`informer_events_total{event_type="CREATE",${KIND}}`)).toBe(1);
  for (const name of ["websites", "watcher websites"]) {
    expect(value(`workqueue_adds_total{name="${name}",controller="${name}"}`)).toBeGreaterThanOrEqual(1);
    expect(value(`workqueue_queue_duration_seconds_count{name="${name}",controller="${name}"}`)).toBeGreaterThanOrEqual(
      1,
    );
    expect(value(`workqueue_work_duration_seconds_count{name="${name}",controller="${name}"}`)).toBeGreaterThanOrEqual(
      1,
    );
  }
  expect(value('workqueue_depth{name="websites",controller="websites"}')).toBe(0);
  expect(value('workqueue_unfinished_work_seconds{name="websites",controller="websites"}')).toBe(0);
  expect(value('workqueue_longest_running_processor_seconds{name="websites",controller="websites"}')).toBe(0);
  expect(value(`reconciler_process_duration_seconds_count{event_type="CREATE",${KIND}}`)).toBe(1);
  expect(value(`informer_reconcile_duration_seconds_count{event_type="CREATE",${KIND}}`)).toBe(1);
  expect(value(`watcher_process_duration_seconds_count{event_type="CREATE",${KIND}}`)).toBe(1);
  expect(value('controller_runtime_reconcile_total{controller="websites",result="success"}')).toBe(1);
  expect(
    value('kubernetes_client_requests_total{verb="apply",kind="ConfigMap",subresource="",status_code="201"}'),
  ).toBe(1);
  expect(
    value(
      'kubernetes_client_request_duration_seconds_count{verb="apply",kind="ConfigMap",subresource="",status_code="201"}',
    ),
  ).toBe(1);
  expect(value("sites_failures_left")).toBe(1);

  // Hot path: an update that fails once, then its retry; the watcher gives up after two attempts.
  const before = value(`informer_events_total{event_type="UPDATE",${KIND}}`);
  const failedBefore = value(`watcher_errors_total{event_type="UPDATE",${KIND}}`);
  await world.client.patch(Website, "a", { type: "merge", body: { spec: { image: "broken" } } }, { namespace: "team" });
  await world.clock.advance(5_000);
  expect(value(`informer_events_total{event_type="UPDATE",${KIND}}`)).toBe(before + 1);
  expect(value(`kubernetes_client_watch_events_total{event_type="MODIFIED",${KIND}}`)).toBeGreaterThanOrEqual(1);
  expect(value(`reconciler_errors_total{event_type="UPDATE",${KIND}}`)).toBe(1);
  expect(value(`reconciler_process_duration_seconds_count{event_type="UPDATE",${KIND}}`)).toBe(2);
  expect(value('retry_processor_enqueued_total{action="UPDATE"}')).toBe(1);
  expect(value('retry_processor_executions_total{action="UPDATE",result="success"}')).toBe(1);
  expect(value('retry_processor_queue_wait_duration_seconds_count{action="UPDATE"}')).toBe(1);
  expect(value("retry_processor_pending_total")).toBe(0);
  expect(value('workqueue_retries_total{name="websites",controller="websites"}')).toBe(1);
  expect(value(`watcher_errors_total{event_type="UPDATE",${KIND}}`)).toBe(failedBefore + 2);
  expect(value('controller_runtime_reconcile_errors_total{controller="websites"}')).toBe(1);
  expect(value('controller_runtime_reconcile_total{controller="websites",result="error"}')).toBe(1);
  expect(value('controller_runtime_reconcile_time_seconds_count{controller="websites"}')).toBe(3);
  expect(value('controller_runtime_max_concurrent_reconciles{controller="websites"}')).toBe(1);
  expect(value(`ongoing_reconcile_processes{event_type="UPDATE",${KIND}}`)).toBe(0);
  expect(value(`ongoing_reconcile_events{event_type="UPDATE",${KIND}}`)).toBe(0);
  expect(value(`concurrent_watcher_queue_depth{${KIND}}`)).toBe(0);

  // During a run: one at its worker, one queued.
  let release = (): void => {};
  gate = new Promise((resolve) => {
    release = resolve;
  });
  await world.client.patch(Website, "a", { type: "merge", body: { spec: { image: "slow" } } }, { namespace: "team" });
  await world.createWebsite("b");
  await world.clock.advance(2_000);
  expect(value(`ongoing_reconcile_processes{event_type="UPDATE",${KIND}}`)).toBe(1);
  expect(value(`ongoing_reconcile_events{event_type="UPDATE",${KIND}}`)).toBe(1);
  expect(value(`ongoing_reconcile_events{event_type="CREATE",${KIND}}`)).toBe(1);
  expect(value('workqueue_depth{name="websites",controller="websites"}')).toBe(1);
  expect(value('workqueue_unfinished_work_seconds{name="websites",controller="websites"}')).toBe(2);
  expect(value('workqueue_longest_running_processor_seconds{name="websites",controller="websites"}')).toBe(2);
  expect(value('controller_runtime_active_workers{controller="websites"}')).toBe(1);
  release();
  await world.clock.advance(1_000);
  await world.client.delete(Website, "b", { namespace: "team" });
  await world.clock.advance(1_000);

  // Deletion.
  await world.client.delete(Website, "a", { namespace: "team" });
  await world.clock.advance(5_000);
  expect(value(`informer_events_total{event_type="DELETE",${KIND}}`)).toBe(2);
  expect(value(`kubernetes_client_watch_events_total{event_type="DELETED",${KIND}}`)).toBe(2);
  expect(value(`kubernetes_client_watch_errors_total{error_type="unparseable_object",${KIND}}`)).toBe(0);
  expect(value(`reconciler_process_duration_seconds_count{event_type="DELETE",${KIND}}`)).toBe(2);
  expect(value(`watcher_process_duration_seconds_count{event_type="DELETE",${KIND}}`)).toBe(2);
  expect(value(`setpoint_informer_objects{${KIND}}`)).toBe(0);
});
