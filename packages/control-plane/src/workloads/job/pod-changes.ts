import type { NewObject } from "setpoint";
import { parseTime } from "setpoint/kinds";
import type { Pod } from "setpoint/kinds/v1";
import { isPodReady, isPodTerminating } from "../pod/pod-state.js";
import { finishedAtMs, indexOf, newPod } from "./job-pods.js";
import { failuresByIndex, failuresSinceSuccess, type Indexes, type JobView } from "./job-view.js";

const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 600_000;
/** Maximum number of pods created or deleted in one step. */
const MOST_PODS = 500;

export interface PodChanges {
  readonly create: readonly NewObject<Pod>[];
  readonly remove: readonly Pod[];
  /** Time until a pod may replace a failed one. */
  readonly waitMs: number | undefined;
}

export const NO_CHANGES: PodChanges = { create: [], remove: [], waitMs: undefined };

/** Creates or deletes pods, never both in one step. */
export function podChanges(view: JobView): PodChanges {
  const { job, spec, pods, active, indexes, nowMs } = view;
  const wanted = wantedPods(view);
  const surplus = surplusPods(view, Math.max(0, active.length - wanted));
  if (surplus.length > 0) return { ...NO_CHANGES, remove: surplus.slice(0, MOST_PODS) };
  const leaving = spec.podReplacementPolicy === "Failed" ? pods.filter(isPodTerminating).length : 0;
  const missing = Math.min(wanted - leaving - active.length, MOST_PODS);
  if (missing <= 0) return NO_CHANGES;
  const waitMs = spec.backoffLimitPerIndex === undefined ? backoffMs(failuresSinceSuccess(pods), nowMs) : 0;
  if (waitMs > 0) return { ...NO_CHANGES, waitMs };
  if (indexes) return newIndexes(view, indexes, missing);
  return { ...NO_CHANGES, create: Array.from({ length: missing }, () => newPod(job, undefined, 0)) };
}

function wantedPods({ spec, active, succeeded }: JobView): number {
  const { parallelism = 1, completions, suspend } = spec;
  if (suspend) return 0;
  if (completions !== undefined) return Math.min(Math.max(0, completions - succeeded), parallelism);
  return succeeded > 0 ? active.length : parallelism;
}

function newIndexes(
  { job, spec, pods, active, completions, nowMs }: JobView,
  indexes: Indexes,
  missing: number,
): PodChanges {
  const taken = new Set(active.map((pod) => indexOf(pod, completions)));
  const over = indexes.succeeded.union(indexes.failed);
  const failures = failuresByIndex(job, pods);
  const create: NewObject<Pod>[] = [];
  let soonestMs = Number.POSITIVE_INFINITY;
  let index = over.nextAbsent(0);
  for (; index < completions && create.length < missing; index = over.nextAbsent(index + 1)) {
    if (taken.has(index)) continue;
    const earlier = failures.get(index) ?? [];
    const waitMs = spec.backoffLimitPerIndex === undefined ? 0 : backoffMs(earlier, nowMs);
    if (waitMs > 0) soonestMs = Math.min(soonestMs, waitMs);
    else create.push(newPod(job, index, earlier.length));
  }
  return { create, remove: [], waitMs: Number.isFinite(soonestMs) ? soonestMs : undefined };
}

/** Pods with a duplicate or unneeded index, then the pods that have progressed least. */
function surplusPods({ active, completions, indexes }: JobView, least: number): readonly Pod[] {
  const ranked = [...active].sort(byUse);
  if (!indexes) return ranked.slice(0, least);
  const seen = new Set<number>();
  const useless = ranked.toReversed().filter((pod) => {
    const index = indexOf(pod, completions);
    if (index === undefined || seen.has(index) || indexes.succeeded.has(index)) return true;
    seen.add(index);
    return false;
  });
  const isUseless = new Set(useless);
  const others = ranked.filter((pod) => !isUseless.has(pod));
  return [...useless, ...others.slice(0, Math.max(0, least - useless.length))];
}

/** Time until another pod may follow these failures: 10 seconds, doubling up to 10 minutes. */
function backoffMs(failures: readonly Pod[], nowMs: number): number {
  if (failures.length === 0) return 0;
  const delayMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures.length - 1), LONGEST_BACKOFF_MS);
  return Math.max(0, failures.reduce((last, pod) => Math.max(last, finishedAtMs(pod)), 0) + delayMs - nowMs);
}

/** Pods without a node first, then unready pods, then the youngest. */
function byUse(left: Pod, right: Pod): number {
  const rank = (pod: Pod): number => (pod.spec?.nodeName ? 2 : 0) + (isPodReady(pod) ? 1 : 0);
  const age = (pod: Pod): number => -parseTime(pod.metadata.creationTimestamp!);
  return rank(left) - rank(right) || age(left) - age(right);
}
