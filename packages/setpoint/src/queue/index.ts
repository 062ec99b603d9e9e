export type { BackoffOptions } from "../loop/backoff.js";
export type { MergeCauses, WorkItem } from "./key-queue.js";
export { type MetricDefinition, type QueueObserver, queueMetrics } from "./queue-metrics.js";
export type { Priority } from "./ready-lines.js";
export type { TokenBucketOptions } from "./token-bucket.js";
export { type AddOptions, type RetryOptions, WorkQueue, type WorkQueueOptions } from "./work-queue.js";
