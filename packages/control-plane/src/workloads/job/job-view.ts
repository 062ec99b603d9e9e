import { formatTime } from "setpoint/kinds";
import type { Job } from "setpoint/kinds/batch/v1";
import type { Pod } from "setpoint/kinds/v1";
import { isPodActive } from "../pod/pod-state.js";
import { IndexSet } from "./index-set.js";
import { finishedAtMs, indexOf, isFailed, isIndexed, isTracked } from "./job-pods.js";
import { failureVerdict } from "./job-policy.js";

/** A Job and its pods, as one step sees them. */
export interface JobView {
  readonly job: Job;
  readonly spec: NonNullable<Job["spec"]>;
  readonly pods: readonly Pod[];
  readonly nowMs: number;
  readonly completions: number;
  readonly startTime: string | undefined;
  readonly active: readonly Pod[];
  /** Tracked pods whose end is in the stored status. */
  readonly settled: readonly Pod[];
  /** Tracked pods that have ended, but are not in the stored status yet. */
  readonly ended: readonly Pod[];
  /** Undefined if the Job is not Indexed. */
  readonly indexes: Indexes | undefined;
  /** Both counts include pods that are not counted in the status yet. */
  readonly succeeded: number;
  readonly failed: number;
}

export interface Indexes {
  readonly succeeded: IndexSet;
  readonly failed: IndexSet;
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

/** Pods whose failure counts, by completion index. */
export function failuresByIndex(job: Job, pods: readonly Pod[]): ReadonlyMap<number, readonly Pod[]> {
  const completions = job.spec?.completions ?? 0;
  const failures = new Map<number, Pod[]>();
  for (const pod of pods) {
    const index = indexOf(pod, completions);
    if (index === undefined || !isFailed(pod, job) || !failureVerdict(job, pod).counts) continue;
    const others = failures.get(index);
    if (others) others.push(pod);
    else failures.set(index, [pod]);
  }
  return failures;
}

export function failuresSinceSuccess(pods: readonly Pod[]): readonly Pod[] {
  const ends = pods.filter(hasSucceeded).map(finishedAtMs);
  const lastMs = ends.reduce((last, end) => Math.max(last, end), Number.NEGATIVE_INFINITY);
  return pods.filter((pod) => pod.status?.phase === "Failed" && finishedAtMs(pod) > lastMs);
}

/** How often the containers of living pods were restarted in place, for `restartPolicy: OnFailure`. */
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

/**
 * Whether a pod's end needs no recording: the stored status has it, its index is complete, or its failure is ignored.
 */
function knownEnds(job: Job, completions: number): (pod: Pod) => boolean {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  const uids = new Set([...succeeded, ...failed]);
  const done = IndexSet.parse(isIndexed(job) ? job.status?.completedIndexes : undefined, completions);
  return (pod) =>
    uids.has(pod.metadata.uid) ||
    (hasSucceeded(pod) && done.has(indexOf(pod, completions) ?? -1)) ||
    (isFailed(pod, job) && !failureVerdict(job, pod).counts);
}

function indexesOf(job: Job, pods: readonly Pod[], completions: number): Indexes {
  const ended = pods.filter(hasSucceeded).map((pod) => indexOf(pod, completions));
  const stored = IndexSet.parse(job.status?.completedIndexes, completions);
  const succeeded = stored.union(IndexSet.of(ended.filter((index) => index !== undefined)));
  const limit = job.spec?.backoffLimitPerIndex;
  if (limit === undefined) return { succeeded, failed: IndexSet.of([]) };
  const failed: number[] = [];
  for (const [index, failures] of failuresByIndex(job, pods)) {
    if (succeeded.has(index)) continue;
    if (failures.length > limit || failures.some((pod) => failureVerdict(job, pod).failsIndex)) failed.push(index);
  }
  return { succeeded, failed: IndexSet.parse(job.status?.failedIndexes, completions).union(IndexSet.of(failed)) };
}
