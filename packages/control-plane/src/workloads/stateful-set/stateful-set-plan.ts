import { scaledValue } from "setpoint/kinds";
import type { StatefulSet, StatefulSetStatus } from "setpoint/kinds/apps/v1";
import type { Pod } from "setpoint/kinds/v1";
import { isPodAvailable, isPodOver, isPodReady } from "../pod/pod-state.js";
import { firstOrdinal, isInRange, ordinalOf, revisionOfPod } from "./stateful-pod.js";

/** The revisions that a set moves between, and the number of name collisions. */
export interface SetRevisions {
  readonly current: string;
  readonly update: string;
  readonly collisionCount: number;
}

export type SetAction =
  | { readonly type: "create"; readonly ordinal: number; readonly revision: string }
  | { readonly type: "delete"; readonly pod: Pod; readonly ordinal: number; readonly isScaledDown: boolean };

/** Maximum number of pods created or deleted per step. No work is done per desired replica: there may be billions. */
const MOST_ACTIONS = 500;

/** One step of a StatefulSet. */
export interface StatefulSetPlan {
  readonly actions: readonly SetAction[];
  readonly status: StatefulSetStatus;
}

/**
 * Plans the next step of a StatefulSet. OrderedReady handles one pod at a time, each after those before it are
 * available. Parallel handles 500 at once. Surplus pods go first, then pods of another revision, each from the
 * highest ordinal down.
 */
export function planStatefulSet(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: SetRevisions,
  nowMs: number,
): StatefulSetPlan {
  const status = statusOf(set, pods, revisions, nowMs);
  if (set.metadata.deletionTimestamp) return { actions: [], status };
  const first = firstOrdinal(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const replicas: (Pod | undefined)[] = [];
  const isOrdered = set.spec.podManagementPolicy !== "Parallel";
  const isAvailable = (pod: Pod | undefined): boolean =>
    pod !== undefined && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);

  const actions: SetAction[] = [];
  for (let index = 0; index < (set.spec.replicas ?? 1); index++) {
    const ordinal = first + index;
    const pod = byOrdinal.get(ordinal);
    replicas.push(pod);
    const action = replicaAction(set, pod, ordinal, revisions);
    if (action && action !== "wait") actions.push(action);
    if (actions.length >= MOST_ACTIONS) return { actions, status };
    if (isOrdered && (action || pod?.metadata.deletionTimestamp || !isAvailable(pod))) return { actions, status };
  }
  // The loop above replaces failed pods first, even with Parallel pod management.
  const condemned = pods
    .map((pod) => ({ pod, ordinal: ordinalOf(set, pod) ?? -1 }))
    .filter(({ ordinal }) => ordinal >= 0 && !isInRange(set, ordinal))
    .sort((left, right) => right.ordinal - left.ordinal);
  const shrinking = condemnedActions(condemned, isOrdered, isAvailable);
  if (condemned.length > 0 && isOrdered) return { actions: [...actions, ...shrinking], status };
  actions.push(...shrinking.slice(0, MOST_ACTIONS));
  if (set.spec.updateStrategy?.type === "OnDelete") return { actions, status };
  const outdated = outdatedPods(set, replicas, revisions.update, isAvailable);
  for (const pod of outdated) actions.push({ type: "delete", pod, ordinal: ordinalOf(set, pod)!, isScaledDown: false });
  const currentReplicas = Math.max(0, (status.currentReplicas ?? 0) - outdated.length);
  return { actions, status: completed(set, { ...status, currentReplicas }) };
}

function replicaAction(
  set: StatefulSet,
  pod: Pod | undefined,
  ordinal: number,
  revisions: SetRevisions,
): SetAction | "wait" | undefined {
  if (!pod) return { type: "create", ordinal, revision: revisionFor(set, ordinal, revisions) };
  if (!isPodOver(pod)) return undefined;
  return pod.metadata.deletionTimestamp ? "wait" : { type: "delete", pod, ordinal, isScaledDown: false };
}

/** The current revision for ordinals below the partition. Without one, for the first `currentReplicas` ordinals. */
function revisionFor(set: StatefulSet, ordinal: number, { current, update }: SetRevisions): string {
  const { type = "RollingUpdate", rollingUpdate } = set.spec.updateStrategy ?? {};
  const index = ordinal - firstOrdinal(set);
  if (rollingUpdate) return index < (rollingUpdate.partition ?? 0) ? current : update;
  return type === "RollingUpdate" && index < (set.status?.currentReplicas ?? 0) ? current : update;
}

function condemnedActions(
  condemned: readonly { readonly pod: Pod; readonly ordinal: number }[],
  isOrdered: boolean,
  isAvailable: (pod: Pod) => boolean,
): readonly SetAction[] {
  const going = ({ pod }: { readonly pod: Pod }): boolean => pod.metadata.deletionTimestamp !== undefined;
  const asDelete = ({ pod, ordinal }: { readonly pod: Pod; readonly ordinal: number }): SetAction => ({
    type: "delete",
    pod,
    ordinal,
    isScaledDown: true,
  });
  if (!isOrdered) return condemned.filter((each) => !going(each)).map(asDelete);
  const [next] = condemned;
  if (!next || going(next)) return [];
  // Delete an unavailable pod only if it is the lowest condemned pod that is terminating or unavailable.
  const unhealthy = [...condemned].reverse().find((each) => going(each) || !isAvailable(each.pod));
  return isAvailable(next.pod) || unhealthy === next ? [asDelete(next)] : [];
}

/** The pods to replace by the new revision: from the highest ordinal down, up to maxUnavailable. */
function outdatedPods(
  set: StatefulSet,
  replicas: readonly (Pod | undefined)[],
  update: string,
  isAvailable: (pod: Pod | undefined) => boolean,
): readonly Pod[] {
  const { partition = 0, maxUnavailable } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const isUp = (pod: Pod | undefined): boolean => isAvailable(pod) && !pod?.metadata.deletionTimestamp;
  const isOutdated = (pod: Pod | undefined): pod is Pod =>
    pod !== undefined && revisionOfPod(pod) !== update && !pod.metadata.deletionTimestamp;
  const targets = replicas.slice(partition).reverse();
  if (maxUnavailable === undefined) {
    for (const pod of targets) {
      if (isOutdated(pod)) return [pod];
      if (!isUp(pod)) return [];
    }
    return [];
  }
  const allowed = Math.max(1, scaledValue(maxUnavailable, replicas.length, "down"));
  const room = Math.max(0, allowed - replicas.filter((pod) => !isUp(pod)).length);
  return targets.filter(isOutdated).slice(0, room);
}

function statusOf(set: StatefulSet, pods: readonly Pod[], revisions: SetRevisions, nowMs: number): StatefulSetStatus {
  const known = pods.filter((pod) => ordinalOf(set, pod) !== undefined);
  const living = known.filter(({ metadata }) => !metadata.deletionTimestamp);
  const ready = known.filter((pod) => pod.status?.phase === "Running" && isPodReady(pod));
  return completed(set, {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: known.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)).length,
    currentReplicas: living.filter((pod) => revisionOfPod(pod) === revisions.current).length,
    updatedReplicas: living.filter((pod) => revisionOfPod(pod) === revisions.update).length,
    currentRevision: revisions.current,
    updateRevision: revisions.update,
    collisionCount: revisions.collisionCount,
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  });
}

/** The update revision becomes the current one when all pods have it and are ready. */
function completed(set: StatefulSet, status: StatefulSetStatus): StatefulSetStatus {
  const { replicas = 1, updateStrategy } = set.spec;
  const { updatedReplicas = 0, readyReplicas = 0, updateRevision = "" } = status;
  const isComplete = updatedReplicas === replicas && readyReplicas === replicas && status.replicas === replicas;
  if (updateStrategy?.type === "OnDelete" || !isComplete) return status;
  return { ...status, currentReplicas: updatedReplicas, currentRevision: updateRevision };
}
