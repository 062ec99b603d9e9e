import type { MetricDefinition } from "../queue/queue-metrics.js";

export type Labels = Readonly<Record<string, string>>;

/** One value of a metric. */
export interface MetricValue {
  readonly labels: Labels;
  readonly value: number;
}

/**
 * Your own counter or gauge: read for each scrape while its controller or app runs. `collect` must be quick and must
 * not throw.
 *
 * ```ts
 * const open: MetricSource = {
 *   name: "orders_open",
 *   type: "gauge",
 *   help: "Open orders.",
 *   collect: () => [{ labels: {}, value: openOrders.size }],
 * };
 * controller(Order, { metrics: [open], reconcile });
 * ```
 */
export interface MetricSource extends MetricDefinition {
  readonly type: "counter" | "gauge";
  collect(): Iterable<MetricValue>;
}

/** A metric by its name, for {@link Metrics}. */
export type OwnMetric = Omit<MetricDefinition, "type">;

export interface Counter {
  add(labels: Labels, by?: number): void;
  /** Removes the series, for an object that is gone. */
  remove(labels: Labels): void;
}

export interface Gauge {
  set(labels: Labels, value: number): void;
  add(labels: Labels, by: number): void;
  /** Removes the series, for an object that is gone. */
  remove(labels: Labels): void;
}

export interface Histogram {
  observe(labels: Labels, value: number): void;
  /** Removes the series, for an object that is gone. */
  remove(labels: Labels): void;
}

/**
 * Your own counters, gauges and histograms in the process's `/metrics`. The same name always returns the same metric.
 * Throws `METRIC_NAME_INVALID`, and `METRIC_CONFLICT` if the name has another type.
 *
 * ```ts
 * const SIZE = { name: "site_size_bytes", help: "How large a site is." };
 * controller(Website, {
 *   reconcile: ({ metadata }, ctx) => ctx.metrics.gauge(SIZE).set({ site: metadata.name }, 7),
 *   gone: (key, ctx) => ctx.metrics.gauge(SIZE).remove({ site: key.split("/")[1]! }),
 * });
 * ```
 */
export interface Metrics {
  counter(metric: OwnMetric): Counter;
  gauge(metric: OwnMetric): Gauge;
  histogram(metric: OwnMetric): Histogram;
}

const nothing = (): void => {};
const unseen = { add: nothing, set: nothing, observe: nothing, remove: nothing };

/** Records nothing: for plans, and without a manager. */
export const noMetrics: Metrics = { counter: () => unseen, gauge: () => unseen, histogram: () => unseen };
