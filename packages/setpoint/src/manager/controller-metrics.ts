import type { WebhookServerOptions } from "../app/webhook-server.js";
import type { ObservedRequest } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import type { ControllerRun } from "../controller/controller-run.js";
import type { ControllerObserver } from "../controller/environment.js";
import { isSetpointError } from "../errors/error.js";
import type { Informers } from "../informer/informers.js";
import { type MetricDefinition, queueMetrics } from "../queue/queue-metrics.js";
import { knownLabels } from "./known-labels.js";
import type { MetricRegistry } from "./metric-registry.js";

const metric = (name: string, type: MetricDefinition["type"], help: string): MetricDefinition => ({ name, type, help });

/** Under controller-runtime's names, so that its dashboards show our controllers as well. */
const RECONCILES = metric("controller_runtime_reconcile_total", "counter", "Runs by controller and result.");
const ERRORS = metric("controller_runtime_reconcile_errors_total", "counter", "Failed runs, retries included.");
const TERMINAL = metric(
  "controller_runtime_terminal_reconcile_errors_total",
  "counter",
  "Runs that will not be retried.",
);
const TIMEOUTS = metric("controller_runtime_reconcile_timeouts_total", "counter", "Runs that their timeout ended.");
const DURATION = metric("controller_runtime_reconcile_time_seconds", "histogram", "How long runs took.");
const ACTIVE = metric("controller_runtime_active_workers", "gauge", "Workers at a key.");
const MAX_CONCURRENT = metric("controller_runtime_max_concurrent_reconciles", "gauge", "Workers there are.");
const PARKED = metric(
  "setpoint_parked_keys",
  "gauge",
  "Keys whose retries are used up: they run at the longest interval.",
);
/** Whether this process does the work: 1, or 0 on standby. */
export const MASTER_STATUS = metric("leader_election_master_status", "gauge", "1 while this process leads.");
export const EVENTS_DROPPED = metric(
  "setpoint_events_dropped_total",
  "counter",
  "Events that never reached the server: too many alike, or out of reach.",
);
const WEBHOOK_REQUESTS = metric(
  "controller_runtime_webhook_requests_total",
  "counter",
  "Requests to webhooks by code.",
);
const WEBHOOK_IN_FLIGHT = metric(
  "controller_runtime_webhook_requests_in_flight",
  "gauge",
  "Requests that webhooks are at.",
);
const WEBHOOK_DURATION = metric("controller_runtime_webhook_latency_seconds", "histogram", "How long webhooks took.");
const REST_REQUESTS = metric("rest_client_requests_total", "counter", "Requests by status code, method and host.");
const REQUESTS = metric("kubernetes_client_requests_total", "counter", "Requests by verb, kind and status code.");
const REQUEST_DURATION = metric(
  "kubernetes_client_request_duration_seconds",
  "histogram",
  "Time to a response's head.",
);
const INFORMER_OBJECTS = metric("setpoint_informer_objects", "gauge", "Objects in the cache.");
const INFORMER_BYTES = metric("setpoint_informer_bytes", "gauge", "Bytes that the cache keeps for a kind.");
const INFORMER_BACKLOG = metric("setpoint_informer_backlog", "gauge", "Steps not yet taken by the slowest handler.");
const INFORMER_SYNCED = metric("setpoint_informer_synced", "gauge", "1 once the initial list is there.");

/** Feeds the metrics of controllers from what they tell. */
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
      const labels = { name };
      return {
        added: () => adds.add(labels),
        retried: () => retries.add(labels),
        taken: (waitedMs) => queueDuration.observe(labels, waitedMs / 1000),
        finished: (workedMs) => workDuration.observe(labels, workedMs / 1000),
      };
    },
    runEnded: ({ controller, outcome, durationMs }) => {
      reconciles.add(withResult(controller, RESULTS[outcome] ?? outcome));
      duration.observe(of(controller), durationMs / 1000);
      if (outcome === "terminal") terminal.add(of(controller));
    },
    failed: (error, { controller }) => {
      errors.add(of(controller));
      // One that goes on all the same is reported as hung, because of its timeout.
      const { cause } = (error ?? {}) as { readonly cause?: unknown };
      if ([error, cause].some((each) => isSetpointError(each, "RECONCILE_TIMEOUT"))) timeouts.add(of(controller));
    },
  };
}

/** What controller-runtime calls our outcomes. */
const RESULTS: Readonly<Record<string, string>> = {
  done: "success",
  requeueAfter: "requeue_after",
  waitFor: "requeue_after",
  retry: "error",
  terminal: "error",
};

/** Metrics that are read when they are asked for: queues, workers and caches. */
export function collectState(
  registry: MetricRegistry,
  runs: () => Iterable<ControllerRun>,
  informers: Informers,
  clock: Pick<Clock, "monotonic">,
): void {
  const perRun = (definition: MetricDefinition, label: string, value: (run: ControllerRun) => number): void => {
    registry.collect(definition, () =>
      [...runs()].map((run) => ({ labels: { [label]: run.controller.name }, value: value(run) })),
    );
  };
  perRun(queueMetrics.depth, "name", (run) => run.status().queued);
  const workedMs = (run: ControllerRun): readonly number[] =>
    [...run.workingSince()].map((startedMs) => clock.monotonic() - startedMs);
  perRun(queueMetrics.unfinishedWork, "name", (run) => workedMs(run).reduce((sum, ms) => sum + ms, 0) / 1_000);
  perRun(queueMetrics.longestRunning, "name", (run) => Math.max(0, ...workedMs(run)) / 1_000);
  perRun(ACTIVE, "controller", (run) => run.status().running.length);
  perRun(MAX_CONCURRENT, "controller", (run) => run.controller.concurrency);
  perRun(PARKED, "controller", (run) => run.status().parked.length);
  const perInformer = (definition: MetricDefinition, field: "objects" | "bytes" | "backlog"): void => {
    registry.collect(definition, () =>
      [...informers.statuses()].map((status) => ({ labels: { kind: status.kind }, value: status[field] })),
    );
  };
  perInformer(INFORMER_OBJECTS, "objects");
  perInformer(INFORMER_BYTES, "bytes");
  perInformer(INFORMER_BACKLOG, "backlog");
  registry.collect(INFORMER_SYNCED, () => {
    // Of several caches of a kind the last one to come counts.
    const synced = new Map<string, boolean>();
    for (const status of informers.statuses())
      synced.set(status.kind, status.synced && (synced.get(status.kind) ?? true));
    return [...synced].map(([kind, isSynced]) => ({ labels: { kind }, value: Number(isSynced) }));
  });
}

/** Counts what webhooks and routes were asked. */
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

/** Counts a client's requests: by what they are about, and as client-go does. */
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
