import { scaledValue } from "setpoint/kinds";
import type { DaemonSet, DaemonSetStatus } from "setpoint/kinds/apps/v1";
import type { Node, Pod } from "setpoint/kinds/v1";
import { REVISION_HASH } from "../controller-revision.js";
import { isPodAvailable, isPodReady } from "../pod/pod-state.js";
import { belongs, nodeOfPod } from "./daemon-pod.js";

/** One step of a DaemonSet. */
export interface DaemonSetPlan {
  /** Names of the nodes that need a pod. */
  readonly created: readonly string[];
  readonly deleted: readonly Pod[];
  readonly status: DaemonSetStatus;
}

interface Place {
  readonly node: string;
  readonly shouldRun: boolean;
  readonly mayStay: boolean;
  /** Oldest first. */
  readonly pods: readonly Pod[];
}

/** The next step of a DaemonSet: create a pod on each eligible node; once all exist, replace pods of old revisions. */
export function planDaemonSet(
  set: DaemonSet,
  pods: readonly Pod[],
  nodes: readonly Node[],
  hash: string,
  nowMs: number,
): DaemonSetPlan {
  const places = placesOf(set, pods, nodes);
  const status = statusOf(set, places, hash, nowMs);
  if (set.metadata.deletionTimestamp) return { created: [], deleted: [], status };
  const created: string[] = [];
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  const deleted = pods.filter((pod) => isLiving(pod) && !known.has(nodeOfPod(pod) ?? ""));
  for (const place of places) {
    const step = placeStep(set, place, hash, nowMs);
    if (step.isMissing) created.push(place.node);
    deleted.push(...step.surplus);
  }
  if (created.length > 0 || deleted.length > 0 || set.spec.updateStrategy?.type === "OnDelete") {
    return { created, deleted, status };
  }
  return { ...rollingUpdate(set, places, hash, nowMs), status };
}

function placesOf(set: DaemonSet, pods: readonly Pod[], nodes: readonly Node[]): readonly Place[] {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = nodeOfPod(pod) ?? "";
    byNode.set(node, [...(byNode.get(node) ?? []), pod]);
  }
  return nodes.map((node) => ({
    node: node.metadata.name,
    ...belongs(set, node),
    pods: (byNode.get(node.metadata.name) ?? []).sort(byAge),
  }));
}

function byAge(left: Pod, right: Pod): number {
  const [leftTime, rightTime] = [left.metadata.creationTimestamp, right.metadata.creationTimestamp];
  if (leftTime !== rightTime) return leftTime < rightTime ? -1 : 1;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}

const isLiving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp === undefined;
const isFailed = ({ status }: Pod): boolean => status?.phase === "Failed" || status?.phase === "Succeeded";

/**
 * The missing and surplus pods of one node. Failed pods are deleted and recreated. Of several running pods the oldest
 * stays; with maxSurge, the oldest of each revision stays.
 */
function placeStep(
  set: DaemonSet,
  { shouldRun, mayStay, pods }: Place,
  hash: string,
  nowMs: number,
): { readonly isMissing: boolean; readonly surplus: readonly Pod[] } {
  if (shouldRun && pods.length === 0) return { isMissing: true, surplus: [] };
  if (!mayStay) return { isMissing: false, surplus: pods.filter(isLiving) };
  if (!shouldRun) return { isMissing: false, surplus: pods.filter((pod) => isLiving(pod) && isFailed(pod)) };
  const failed = pods.filter((pod) => isLiving(pod) && isFailed(pod));
  const running = pods.filter((pod) => isLiving(pod) && !isFailed(pod));
  const fresh = running.filter((pod) => isUpdated(pod, hash));
  const old = running.filter((pod) => !isUpdated(pod, hash));
  if (surgeOf(set) === 0) return { isMissing: false, surplus: [...failed, ...running.slice(1)] };
  const isReplaced = fresh[0] !== undefined && isAvailable(set, fresh[0], nowMs);
  return { isMissing: false, surplus: [...failed, ...fresh.slice(1), ...old.slice(isReplaced ? 0 : 1)] };
}

function isUpdated({ metadata }: Pod, hash: string): boolean {
  return metadata.labels?.[REVISION_HASH] === hash;
}

function isAvailable(set: DaemonSet, pod: Pod, nowMs: number): boolean {
  return isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}

function surgeOf({ spec, status }: DaemonSet): number {
  return scaledValue(spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, status?.desiredNumberScheduled ?? 0, "up");
}

function rollingUpdate(
  set: DaemonSet,
  places: readonly Place[],
  hash: string,
  nowMs: number,
): Pick<DaemonSetPlan, "created" | "deleted"> {
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const own = places.filter(({ shouldRun }) => shouldRun);
  const surge = scaledValue(set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, own.length, "up");
  const unavailable = scaledValue(maxUnavailable, own.length, "up");
  // If both were zero, the rollout would never progress.
  const room = surge === 0 ? Math.max(1, unavailable) : 0;
  let busy = 0;
  const replaced: Pod[] = [];
  const candidates: Place[] = [];
  for (const place of own) {
    const fresh = place.pods.find((pod) => isUpdated(pod, hash) && isLiving(pod));
    const old = place.pods.find((pod) => !isUpdated(pod, hash) && isLiving(pod));
    if (fresh) {
      if (!isAvailable(set, fresh, nowMs)) busy++;
    } else if (!old) busy++;
    else if (isAvailable(set, old, nowMs)) candidates.push(place);
    else if (surge === 0) replaced.push(old);
    else candidates.unshift(place);
  }
  const chosen = candidates.slice(0, Math.max(0, (surge || room) - busy));
  if (surge > 0) return { created: chosen.map(({ node }) => node), deleted: [] };
  return { created: [], deleted: [...replaced, ...chosen.flatMap(({ pods }) => pods.filter(isLiving).slice(0, 1))] };
}

function statusOf(set: DaemonSet, places: readonly Place[], hash: string, nowMs: number): DaemonSetStatus {
  const wanted = places.filter(({ shouldRun }) => shouldRun);
  const oldest = wanted.flatMap(({ pods }) => pods.slice(0, 1));
  const available = oldest.filter((pod) => isPodReady(pod) && isAvailable(set, pod, nowMs)).length;
  const { collisionCount, conditions } = set.status ?? {};
  return {
    currentNumberScheduled: oldest.length,
    numberMisscheduled: places.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: oldest.filter(isPodReady).length,
    observedGeneration: set.metadata.generation ?? 0,
    updatedNumberScheduled: oldest.filter((pod) => isUpdated(pod, hash)).length,
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
  };
}
