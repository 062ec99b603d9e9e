import { formatTime } from "setpoint";
import type { Job } from "setpoint/kinds/batch/v1";
import type { Pod } from "setpoint/kinds/v1";
import { isPodActive } from "../pod/pod-state.js";
import { parseIndexes } from "./index-set.js";
import { finishedAtMs, indexOf, isFailed, isIndexed, isTracked } from "./job-pods.js";
import { failureVerdict } from "./job-policy.js";

/** A job and its pods as one step sees them. */
export interface JobView {
  readonly job: Job;
  readonly spec: NonNullable<Job["spec"]>;
  readonly pods: readonly Pod[];
  readonly nowMs: number;
  readonly completions: number;
  readonly startTime: string | undefined;
  readonly active: readonly Pod[];
  /** Pods whose end the stored status holds, and which are still tracked. */
  readonly settled: readonly Pod[];
  /** Tracked pods that have ended, and that no status knows of yet. */
  readonly ended: readonly Pod[];
  /** Undefined where the job has none. */
  readonly indexes: Indexes | undefined;
  /** With those that are not counted yet. */
  readonly succeeded: number;
  readonly failed: number;
}

export interface Indexes {
  readonly succeeded: ReadonlySet<number>;
  readonly failed: ReadonlySet<number>;
}

export function viewJob(job: Job, pods: readonly Pod[], nowMs: number): JobView {
  const { status = {} } = job;
  const spec = job.spec!;
  const completions = spec.completions ?? 0;
  const uncounted = status.uncountedTerminatedPods ?? {};
  const isKnown = knownEnds(job, completions);
  const tracked = pods.filter(isTracked);
  const ended = tracked.filter((pod) => !isKnown(pod) && (hasSucceeded(pod) || isFailed(pod, job)));
  const indexes = isIndexed(job) ? indexesOf(job, pods, completions) : undefined;
  const newSuccesses = ended.filter(hasSucceeded).length;
  return {
    job,
    spec,
    pods,
    nowMs,
    completions,
    startTime: status.startTime ?? (spec.suspend ? undefined : formatTime(nowMs)),
    active: pods.filter(isPodActive),
    settled: tracked.filter(isKnown),
    ended,
    indexes,
    succeeded: indexes?.succeeded.size ?? (status.succeeded ?? 0) + (uncounted.succeeded?.length ?? 0) + newSuccesses,
    failed: (status.failed ?? 0) + (uncounted.failed?.length ?? 0) + ended.length - newSuccesses,
  };
}

/** Failures that count, of the pods that an index has had. */
export function failuresOf(job: Job, pods: readonly Pod[], index: number): readonly Pod[] {
  const completions = job.spec?.completions ?? 0;
  const failed = pods.filter((pod) => indexOf(pod, completions) === index && isFailed(pod, job));
  return failed.filter((pod) => failureVerdict(job, pod).counts);
}

export function failuresSinceSuccess(pods: readonly Pod[]): readonly Pod[] {
  const lastMs = Math.max(Number.NEGATIVE_INFINITY, ...pods.filter(hasSucceeded).map(finishedAtMs));
  return pods.filter((pod) => pod.status?.phase === "Failed" && finishedAtMs(pod) > lastMs);
}

/** How often containers of living pods were started again in place, where they are. */
export function restartsOf({ spec, pods }: JobView): number {
  if (spec.template.spec?.restartPolicy !== "OnFailure") return 0;
  const living = pods.filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending");
  const statuses = living.flatMap(({ status }) => [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ]);
  return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

export function hasSucceeded({ status }: Pod): boolean {
  return status?.phase === "Succeeded";
}

/** Whether the stored status holds a pod's end, or none has to: of an index that is done, or a failure that is ignored. */
function knownEnds(job: Job, completions: number): (pod: Pod) => boolean {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  const uids = new Set([...succeeded, ...failed]);
  const done = isIndexed(job) ? parseIndexes(job.status?.completedIndexes, completions) : new Set<number>();
  return (pod) =>
    uids.has(pod.metadata.uid) ||
    (hasSucceeded(pod) && done.has(indexOf(pod, completions) ?? -1)) ||
    (isFailed(pod, job) && !failureVerdict(job, pod).counts);
}

function indexesOf(job: Job, pods: readonly Pod[], completions: number): Indexes {
  const succeeded = new Set(parseIndexes(job.status?.completedIndexes, completions));
  for (const pod of pods.filter(hasSucceeded)) {
    const index = indexOf(pod, completions);
    if (index !== undefined) succeeded.add(index);
  }
  const limit = job.spec?.backoffLimitPerIndex;
  if (limit === undefined) return { succeeded, failed: new Set() };
  const failed = new Set(parseIndexes(job.status?.failedIndexes, completions));
  for (const index of new Set(pods.map((pod) => indexOf(pod, completions)))) {
    if (index === undefined || succeeded.has(index)) continue;
    const failures = failuresOf(job, pods, index);
    if (failures.length > limit || failures.some((pod) => failureVerdict(job, pod).failsIndex)) failed.add(index);
  }
  return { succeeded, failed };
}
