import type { MetricDefinition } from "../queue/queue-metrics.js";

export type Labels = Readonly<Record<string, string>>;

/** One value of a metric. */
export interface MetricValue {
  readonly labels: Labels;
  readonly value: number;
}

/**
 * A counter or gauge of your own, beside those of the runtime: read when it is asked for, while its controller or app
 * runs. `collect` must be quick and must not throw.
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
