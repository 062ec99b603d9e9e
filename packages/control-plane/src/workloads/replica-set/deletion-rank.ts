import { parseTime } from "setpoint/kinds";
import type { Pod } from "setpoint/kinds/v1";
import { isPodReady, readySinceMs } from "../pod/pod-state.js";

const COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * Orders pods for deletion: first those without a node, then pending, unready, cheap to delete, with many related
 * pods on their node, recently ready or created (by order of magnitude), often restarted.
 */
export function deletionOrder(pods: readonly Pod[], related: readonly Pod[], nowMs: number): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of related) onNode.set(spec.nodeName ?? "", (onNode.get(spec.nodeName ?? "") ?? 0) + 1);
  const crowd = ({ spec }: Pod): number => onNode.get(spec.nodeName ?? "") ?? 0;
  return [...pods].sort((left, right) => compare(left, right, crowd, nowMs));
}

function compare(left: Pod, right: Pod, crowd: (pod: Pod) => number, nowMs: number): number {
  const hasNode = ({ spec }: Pod): number => (spec.nodeName ? 1 : 0);
  const phase = ({ status }: Pod): number => PHASES[status?.phase ?? ""] ?? 0;
  const ready = (pod: Pod): number => (isPodReady(pod) ? 1 : 0);
  for (const rank of [hasNode, phase, ready, deletionCost]) {
    if (rank(left) !== rank(right)) return rank(left) - rank(right);
  }
  if (crowd(left) !== crowd(right)) return crowd(right) - crowd(left);
  const byReadiness = byAge(readySinceMs(left), readySinceMs(right), left, right, nowMs);
  if (byReadiness !== 0) return byReadiness;
  if (maxRestarts(left) !== maxRestarts(right)) return maxRestarts(right) - maxRestarts(left);
  return byAge(createdMs(left), createdMs(right), left, right, nowMs) || byUid(left, right);
}

/** Younger first. Ages of the same order of magnitude count as equal; then the uid decides. */
function byAge(leftMs: number | undefined, rightMs: number | undefined, left: Pod, right: Pod, nowMs: number): number {
  if (leftMs === undefined || rightMs === undefined || leftMs === rightMs) return 0;
  const difference = magnitude(nowMs - leftMs) - magnitude(nowMs - rightMs);
  if (difference !== 0) return difference;
  return byUid(left, right);
}

/** Gives otherwise equal pods a stable order, independent of the order in the cache. */
function byUid(left: Pod, right: Pod): number {
  return left.metadata.uid < right.metadata.uid ? -1 : 1;
}

function magnitude(ageMs: number): number {
  return ageMs <= 0 ? -1 : Math.floor(Math.log2(ageMs * 1_000_000));
}

function createdMs({ metadata }: Pod): number {
  return parseTime(metadata.creationTimestamp);
}

function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[COST_ANNOTATION] ?? "0";
  return /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : 0;
}

function maxRestarts({ status }: Pod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}
