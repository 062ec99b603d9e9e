/** The definition of a metric without its values. */
export interface MetricDefinition {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** For a histogram: the upper bounds of its buckets, ascending. Defaults to those of a latency. */
  readonly buckets?: readonly number[];
}

/** From ten nanoseconds to a thousand seconds, each ten times the previous: those of controller-runtime. */
const QUEUE_BUCKETS: readonly number[] = Array.from({ length: 11 }).reduce<readonly number[]>(
  (bounds) => [...bounds, bounds.at(-1)! * 10],
  [10e-9],
);

/**
 * The metrics of a queue under the names of client-go; the labels are `name` and, as in controller-runtime,
 * `controller`, with the same value.
 */
export const queueMetrics = {
  depth: { name: "workqueue_depth", type: "gauge", help: "Keys in the queue." },
  adds: { name: "workqueue_adds_total", type: "counter", help: "Keys added to the queue." },
  queueDuration: {
    name: "workqueue_queue_duration_seconds",
    type: "histogram",
    help: "Time that a key spends in the queue.",
    buckets: QUEUE_BUCKETS,
  },
  workDuration: {
    name: "workqueue_work_duration_seconds",
    type: "histogram",
    help: "Time to process a key.",
    buckets: QUEUE_BUCKETS,
  },
  unfinishedWork: {
    name: "workqueue_unfinished_work_seconds",
    type: "gauge",
    help: "Seconds of work in progress that work_duration does not include yet. Large values mean stuck workers.",
  },
  longestRunning: {
    name: "workqueue_longest_running_processor_seconds",
    type: "gauge",
    help: "Run time of the longest running worker.",
  },
  retries: { name: "workqueue_retries_total", type: "counter", help: "Rate-limited adds." },
} as const satisfies Record<string, MetricDefinition>;

/** Observes a queue, for counters and histograms; gauges are read from the queue. */
export interface QueueObserver {
  /** A key was queued; a key that was queued already does not count. */
  added(): void;
  taken(waitedMs: number): void;
  finished(workedMs: number): void;
  retried(): void;
}
