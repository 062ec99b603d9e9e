import type { WebhookServerOptions } from "../../app/webhooks/webhook-server.js";
import type { ObservedRequest } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import type { ControllerObserver } from "../../controller/environment.js";
import type { Labels } from "../../controller/metric-source.js";
import type { LiveController } from "../../controller/run/live-controller.js";
import { isSetpointError } from "../../errors/error.js";
import type { Informers } from "../../informer/informers.js";
import { type MetricDefinition, queueMetrics } from "../../queue/queue-metrics.js";
import { knownLabels } from "./known-labels.js";
import type { MetricRegistry } from "./metric-registry.js";

const metric = (name: string, type: MetricDefinition["type"], help: string): MetricDefinition => ({ name, type, help });

/** The names are those of controller-runtime, so that its dashboards work. */
const RECONCILES = metric("controller_runtime_reconcile_total", "counter", "Runs by controller and result.");
const ERRORS = metric("controller_runtime_reconcile_errors_total", "counter", "Failed runs, retries included.");
const TERMINAL = metric(
  "controller_runtime_terminal_reconcile_errors_total",
  "counter",
  "Runs that will not be retried.",
);
const TIMEOUTS = metric("controller_runtime_reconcile_timeouts_total", "counter", "Runs that exceeded their timeout.");
const DURATION: MetricDefinition = {
  ...metric("controller_runtime_reconcile_time_seconds", "histogram", "Duration of runs."),
  buckets: [
    ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
    ...[1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60],
  ],
};
const ACTIVE = metric("controller_runtime_active_workers", "gauge", "Busy workers.");
const MAX_CONCURRENT = metric("controller_runtime_max_concurrent_reconciles", "gauge", "Number of workers.");
const PARKED = metric(
  "setpoint_parked_keys",
  "gauge",
  "Keys that used up their retries; they run at the longest interval.",
);
/** Whether this process leads: 1, or 0 on standby. */
export const MASTER_STATUS = metric("leader_election_master_status", "gauge", "1 while this process leads.");
export const EVENTS_DROPPED = metric(
  "setpoint_events_dropped_total",
  "counter",
  "Events that were dropped: too many similar ones, or the server was unreachable.",
);
const WEBHOOK_REQUESTS = metric(
  "controller_runtime_webhook_requests_total",
  "counter",
  "Requests to webhooks by code.",
);
const WEBHOOK_IN_FLIGHT = metric(
  "controller_runtime_webhook_requests_in_flight",
  "gauge",
  "Webhook requests in progress.",
);
const WEBHOOK_DURATION = metric(
  "controller_runtime_webhook_latency_seconds",
  "histogram",
  "Duration of webhook requests.",
);
const REST_REQUESTS = metric("rest_client_requests_total", "counter", "Requests by status code, method and host.");
const REQUESTS = metric("kubernetes_client_requests_total", "counter", "Requests by verb, kind and status code.");
const REQUEST_DURATION = metric(
  "kubernetes_client_request_duration_seconds",
  "histogram",
  "Time until the response headers arrive.",
);
const INFORMER_OBJECTS = metric("setpoint_informer_objects", "gauge", "Objects in the cache.");
const INFORMER_BYTES = metric("setpoint_informer_bytes", "gauge", "Bytes that the cache uses for a kind.");
const INFORMER_BACKLOG = metric(
  "setpoint_informer_backlog",
  "gauge",
  "Events that the slowest handler has not processed yet.",
);
const INFORMER_SYNCED = metric("setpoint_informer_synced", "gauge", "1 once the informer has its initial list.");

/** Updates the metrics of controllers. */
export function controllerMetrics(registry: MetricRegistry): ControllerObserver {
  const reconciles = registry.counter(RECONCILES);
  const errors = registry.counter(ERRORS);
  const terminal = registry.counter(TERMINAL);
  const timeouts = registry.counter(TIMEOUTS);
  const duration = registry.histogram(DURATION);
  const adds = registry.counter(queueMetrics.adds);
  const retries = registry.counter(queueMetrics.retries);
  const queueDuration = registry.histogram(queueMetrics.queueDuration);
  const workDuration = registry.histogram(queueMetrics.workDuration);
  const of = knownLabels("controller");
  const withResult = knownLabels("controller", "result");
  return {
    queueObserver: (name) => {
      const labels = { name, controller: name };
      // Alerts on an increase would miss the first one without a zero before it.
      for (const counter of [adds, retries]) counter.add(labels, 0);
      errors.add(of(name), 0);
      return {
        added: () => adds.add(labels),
        retried: () => retries.add(labels),
        taken: (waitedMs) => queueDuration.observe(labels, waitedMs / 1000),
        finished: (workedMs) => workDuration.observe(labels, workedMs / 1000),
      };
    },
    runEnded: ({ controller, outcome, durationMs }) => {
      if (outcome === "paused" || outcome === "held" || outcome === "gone") return;
      reconciles.add(withResult(controller, RESULTS[outcome] ?? outcome));
      duration.observe(of(controller), durationMs / 1000);
      if (outcome === "terminal") terminal.add(of(controller));
    },
    failed: (error, { controller }) => {
      errors.add(of(controller));
      // A run that continues anyway is reported as hung, with its timeout as the cause.
      const { cause } = (error ?? {}) as { readonly cause?: unknown };
      if ([error, cause].some((each) => isSetpointError(each, "RECONCILE_TIMEOUT"))) timeouts.add(of(controller));
    },
  };
}

/** Our outcomes in the words of controller-runtime. */
const RESULTS: Readonly<Record<string, string>> = {
  done: "success",
  requeueAfter: "requeue_after",
  waitFor: "requeue_after",
  retry: "error",
  terminal: "error",
};

/**
 * Creates the series of a controller at its start, like controller-runtime: otherwise an alert on an increase would
 * miss the first one.
 */
export function initControllerMetrics(registry: MetricRegistry, controller: string): void {
  for (const definition of [ERRORS, TERMINAL, TIMEOUTS]) registry.counter(definition).add({ controller }, 0);
  for (const result of new Set(Object.values(RESULTS))) registry.counter(RECONCILES).add({ controller, result }, 0);
}

/**
 * Metrics that are read on each scrape: queues, workers and caches. The label `cluster` distinguishes other clusters;
 * it is empty for the manager's own.
 */
export function collectState(
  registry: MetricRegistry,
  runs: () => Iterable<LiveController>,
  informers: ReadonlyMap<string, Informers>,
  clock: Pick<Clock, "monotonic">,
): void {
  const perRun = (
    definition: MetricDefinition,
    labels: readonly string[],
    value: (run: LiveController) => number,
  ): void => {
    const of = ({ controller: { name } }: LiveController): Labels =>
      Object.fromEntries(labels.map((label) => [label, name]));
    registry.collect(definition, () => [...runs()].map((run) => ({ labels: of(run), value: value(run) })));
  };
  const ofQueue = ["name", "controller"];
  const ofController = ["controller"];
  perRun(queueMetrics.depth, ofQueue, (run) => run.status().queued);
  const workedMs = (run: LiveController): readonly number[] =>
    [...run.workingSince()].map((startedMs) => clock.monotonic() - startedMs);
  perRun(queueMetrics.unfinishedWork, ofQueue, (run) => workedMs(run).reduce((sum, ms) => sum + ms, 0) / 1_000);
  perRun(queueMetrics.longestRunning, ofQueue, (run) => Math.max(0, ...workedMs(run)) / 1_000);
  perRun(ACTIVE, ofController, (run) => run.status().running.length);
  perRun(MAX_CONCURRENT, ofController, (run) => run.controller.concurrency);
  perRun(PARKED, ofController, (run) => run.status().parked.length);
  const statuses = () =>
    [...informers].flatMap(([cluster, each]) =>
      [...each.statuses()].map((status) => ({
        labels: { kind: status.kind, ...(cluster ? { cluster } : {}) } as Labels,
        status,
      })),
    );
  const perInformer = (definition: MetricDefinition, field: "objects" | "bytes" | "backlog"): void => {
    registry.collect(definition, () => statuses().map(({ labels, status }) => ({ labels, value: status[field] })));
  };
  perInformer(INFORMER_OBJECTS, "objects");
  perInformer(INFORMER_BYTES, "bytes");
  perInformer(INFORMER_BACKLOG, "backlog");
  registry.collect(INFORMER_SYNCED, () => {
    // Of several caches of a kind, the last one to sync counts.
    const synced = new Map<string, { readonly labels: Labels; readonly value: number }>();
    for (const { labels, status } of statuses()) {
      const id = JSON.stringify(labels);
      synced.set(id, { labels, value: Math.min(Number(status.synced), synced.get(id)?.value ?? 1) });
    }
    return synced.values();
  });
}

/** Counts the requests of webhooks and routes. */
export function webhookMetrics(
  registry: MetricRegistry,
): Required<Pick<WebhookServerOptions, "onAsked" | "onAnswered">> {
  const requests = registry.counter(WEBHOOK_REQUESTS);
  const durations = registry.histogram(WEBHOOK_DURATION);
  const inFlight = registry.gauge(WEBHOOK_IN_FLIGHT);
  return {
    onAsked: (webhook) => inFlight.add({ webhook }, 1),
    onAnswered: ({ webhook, status, durationMs }) => {
      inFlight.add({ webhook }, -1);
      requests.add({ webhook, code: String(status) });
      durations.observe({ webhook }, durationMs / 1000);
    },
  };
}

/** Counts a client's requests by kind and verb, and under the names of client-go. */
export function requestMetrics(registry: MetricRegistry): (request: ObservedRequest) => void {
  const requests = registry.counter(REQUESTS);
  const durations = registry.histogram(REQUEST_DURATION);
  const restRequests = registry.counter(REST_REQUESTS);
  const labelsOf = knownLabels("verb", "kind", "subresource", "status_code");
  const restLabelsOf = knownLabels("code", "method", "host");
  return ({ verb, kind, subresource, status, method, host, durationMs }) => {
    const code = status === 0 ? "<error>" : String(status);
    const labels = labelsOf(verb, kind, subresource, code);
    requests.add(labels);
    restRequests.add(restLabelsOf(code, method, host));
    durations.observe(labels, durationMs / 1000);
  };
}
