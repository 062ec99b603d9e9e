import type { Action } from "../../controller/causes/cause.js";
import type { ControllerObserver } from "../../controller/environment.js";
import type { MetricValue } from "../../controller/metric-source.js";
import type { LiveController } from "../../controller/run/live-controller.js";
import type { LiveWatcher } from "../../controller/run/live-watcher.js";
import type { RunRecord } from "../../controller/timeline/timeline.js";
import type { WatchStep } from "../../controller/watcher.js";
import type { InformerEvent } from "../../informer/informer.js";
import type { Informers } from "../../informer/informers.js";
import type { WatchTally } from "../../informer/reflector/watch-tally.js";
import { type Kind, kindId } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import type { MetricDefinition } from "../../queue/queue-metrics.js";
import { knownLabels } from "./known-labels.js";
import type { Collector, MetricRegistry } from "./metric-registry.js";

const metric = (name: string, type: MetricDefinition["type"], help: string): MetricDefinition => ({ name, type, help });

/** The stages of an object's processing, under the names of the grafana-app-sdk, by type of event and kind. */
const STAGES = {
  watchEvents: metric("kubernetes_client_watch_events_total", "counter", "Watch events received, bookmarks included."),
  watchErrors: metric("kubernetes_client_watch_errors_total", "counter", "Watch events that could not be decoded."),
  events: metric("informer_events_total", "counter", "Events that informers delivered to handlers."),
  informerDuration: metric(
    "informer_reconcile_duration_seconds",
    "histogram",
    "Time from queueing an object to the end of its run.",
  ),
  reconcileDuration: metric("reconciler_process_duration_seconds", "histogram", "Duration of reconciles."),
  reconcileErrors: metric("reconciler_errors_total", "counter", "Failed runs, retries included."),
  stepDuration: metric("watcher_process_duration_seconds", "histogram", "Duration of watcher steps."),
  stepErrors: metric("watcher_errors_total", "counter", "Failed steps, retries included."),
  ongoing: metric("ongoing_reconcile_processes", "gauge", "Runs in progress."),
  pendingEvents: metric("ongoing_reconcile_events", "gauge", "Objects queued or being processed."),
  watcherDepth: metric("concurrent_watcher_queue_depth", "gauge", "Steps waiting for a watcher."),
  retriesEnqueued: metric("retry_processor_enqueued_total", "counter", "Runs that requested a later run."),
  retriesExecuted: metric("retry_processor_executions_total", "counter", "Requested later runs by result."),
  retriesPending: metric("retry_processor_pending_total", "gauge", "Objects waiting for their later run."),
  retryWait: metric(
    "retry_processor_queue_wait_duration_seconds",
    "histogram",
    "Queue time of later runs after they were due.",
  ),
} as const;

type EventType = "CREATE" | "UPDATE" | "DELETE" | "RESYNC";

const OF_ACTION: Readonly<Record<Action, EventType>> = {
  created: "CREATE",
  updated: "UPDATE",
  deleted: "DELETE",
  resynced: "RESYNC",
};
const OF_STEP: Readonly<Record<WatchStep["type"], EventType>> = {
  add: "CREATE",
  update: "UPDATE",
  delete: "DELETE",
  sync: "RESYNC",
};

/** Counts the events that informers deliver. */
export function informerMetrics(
  registry: MetricRegistry,
): (kind: Kind, type: InformerEvent<KubeObject>["type"]) => void {
  const events = registry.counter(STAGES.events);
  const stage = knownLabels("event_type", "kind");
  return (kind, type) => events.add(stage(OF_STEP[type], kindId(kind)));
}

/** Updates the metrics of each stage after the informers. */
export function stageMetrics(registry: MetricRegistry): ControllerObserver {
  const informerDuration = registry.histogram(STAGES.informerDuration);
  const reconcileDuration = registry.histogram(STAGES.reconcileDuration);
  const reconcileErrors = registry.counter(STAGES.reconcileErrors);
  const stepDuration = registry.histogram(STAGES.stepDuration);
  const stepErrors = registry.counter(STAGES.stepErrors);
  const ongoing = registry.gauge(STAGES.ongoing);
  const enqueued = registry.counter(STAGES.retriesEnqueued);
  const executed = registry.counter(STAGES.retriesExecuted);
  const waited = registry.histogram(STAGES.retryWait);
  const stage = knownLabels("event_type", "kind");
  return {
    runStarted: ({ controller, action }) => ongoing.add(stage(OF_ACTION[action], kindId(controller.kind)), 1),
    runEnded: (run) => {
      if (["paused", "held", "gone"].includes(run.outcome)) return;
      const { kind, durationMs, waitedMs } = run;
      const action = OF_ACTION[run.action];
      const labels = stage(action, kind);
      ongoing.add(labels, -1);
      reconcileDuration.observe(labels, durationMs / 1_000);
      informerDuration.observe(labels, (waitedMs + durationMs) / 1_000);
      const isFailed = run.outcome === "retry" || run.outcome === "terminal";
      if (isFailed) reconcileErrors.add(labels);
      if (isRepeated(run)) {
        executed.add({ action, result: resultOf(run) });
        waited.observe({ action }, waitedMs / 1_000);
      }
      if (run.outcome === "retry" || run.outcome === "requeueAfter" || run.outcome === "waitFor")
        enqueued.add({ action });
    },
    stepEnded: ({ kind, type, durationMs, isFailed }) => {
      const labels = stage(OF_STEP[type], kind);
      stepDuration.observe(labels, durationMs / 1_000);
      if (isFailed) stepErrors.add(labels);
    },
  };
}

/** Metrics that are read on each scrape. */
export function collectStages(
  registry: MetricRegistry,
  runs: () => Iterable<LiveController | LiveWatcher>,
  informers: readonly Informers[],
): void {
  const tallied =
    (values: (tally: WatchTally) => Readonly<Record<string, number>>, label: string): Collector =>
    () =>
      informers.flatMap((each) =>
        [...each.tallies()].flatMap((tally) =>
          Object.entries(values(tally)).map(([type, value]) => ({
            labels: { [label]: type, kind: tally.kind },
            value,
          })),
        ),
      );
  registry.collect(
    STAGES.watchEvents,
    tallied(({ events }) => events, "event_type"),
  );
  registry.collect(
    STAGES.watchErrors,
    tallied(({ errors }) => errors, "error_type"),
  );
  const collect = (definition: MetricDefinition, value: (run: LiveController | LiveWatcher) => MetricValue[]): void => {
    registry.collect(definition, () => [...runs()].flatMap(value));
  };
  collect(STAGES.pendingEvents, (run) => {
    if (!("controller" in run)) return [];
    const kind = kindId(run.controller.kind);
    const counts = new Map(Object.values(OF_ACTION).map((type) => [type, 0]));
    for (const action of run.ongoing()) counts.set(OF_ACTION[action], counts.get(OF_ACTION[action])! + 1);
    return [...counts].map(([event_type, value]) => ({ labels: { event_type, kind }, value }));
  });
  collect(STAGES.retriesPending, (run) => ("controller" in run ? [{ labels: {}, value: run.status().delayed }] : []));
  collect(STAGES.watcherDepth, (run) =>
    "watcher" in run ? [{ labels: { kind: kindId(run.watcher.kind) }, value: run.backlog }] : [],
  );
}

function isRepeated({ causes }: RunRecord): boolean {
  return causes.some(({ type }) => type === "retry" || type === "requeue" || type === "recheck");
}

function resultOf({ outcome, parked }: RunRecord): "success" | "requeue" | "retry" | "failed" {
  if (outcome === "requeueAfter" || outcome === "waitFor") return "requeue";
  if (outcome === "terminal" || parked) return "failed";
  return outcome === "done" ? "success" : "retry";
}
