import { scaledValue } from "setpoint/kinds";
import type { Deployment, ReplicaSet } from "setpoint/kinds/apps/v1";
import { DESIRED_REPLICAS, MAX_REPLICAS, numberOf } from "./revision.js";

export const replicasOf = ({ spec }: { readonly spec: { readonly replicas?: number } }): number => spec.replicas ?? 1;
export const availableOf = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;

export function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}

export function isRollingUpdate({ spec }: Deployment): boolean {
  return spec.strategy?.type !== "Recreate";
}

/** maxSurge and maxUnavailable as numbers. If both are zero, one pod may be unavailable, or the rollout would stall. */
function fenceposts(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, replicasOf(deployment), "up");
  const unavailable = scaledValue(maxUnavailable, replicasOf(deployment), "down");
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function maxSurge(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? fenceposts(deployment).surge : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const replicas = replicasOf(deployment);
  if (!isRollingUpdate(deployment) || replicas === 0) return 0;
  return Math.min(fenceposts(deployment).unavailable, replicas);
}

/** The permitted size of the newest ReplicaSet, given all others. */
export function newSetReplicas(deployment: Deployment, all: readonly ReplicaSet[], newest: number): number {
  const replicas = replicasOf(deployment);
  if (!isRollingUpdate(deployment)) return replicas;
  const room = replicas + maxSurge(deployment) - sum(all, replicasOf);
  return room <= 0 ? newest : newest + Math.min(room, replicas - newest);
}

/** Whether the newest ReplicaSet has its full size and all its pods are available. */
export function isSaturated(deployment: Deployment, newest: ReplicaSet | undefined): boolean {
  if (!newest) return false;
  const replicas = replicasOf(deployment);
  const desired = numberOf(newest.metadata.annotations?.[DESIRED_REPLICAS]);
  return replicasOf(newest) === replicas && desired === replicas && availableOf(newest) === replicas;
}

/** New sizes, by name, of the ReplicaSets of a Deployment that is scaled during a rollout. */
export function proportionalSizes(deployment: Deployment, active: readonly ReplicaSet[]): ReadonlyMap<string, number> {
  const replicas = replicasOf(deployment);
  const allowed = replicas > 0 ? replicas + maxSurge(deployment) : 0;
  const toAdd = allowed - sum(active, replicasOf);
  const ordered = [...active].sort((left, right) => bySize(left, right, toAdd > 0));
  const sizes = new Map<string, number>();
  let added = 0;
  for (const set of ordered) {
    const share = toAdd === 0 ? 0 : proportion(deployment, set, toAdd, added);
    sizes.set(set.metadata.name, replicasOf(set) + share);
    added += share;
  }
  const largest = ordered[0];
  if (largest && toAdd !== 0) {
    const size = sizes.get(largest.metadata.name)! + (toAdd - added);
    sizes.set(largest.metadata.name, Math.max(0, size));
  }
  return sizes;
}

/** Larger ones first. Among equals, the newer first when growing and the older first when shrinking. */
function bySize(left: ReplicaSet, right: ReplicaSet, isGrowing: boolean): number {
  if (replicasOf(left) !== replicasOf(right)) return replicasOf(right) - replicasOf(left);
  return isGrowing ? byCreation(right, left) : byCreation(left, right);
}

export function byCreation(left: ReplicaSet, right: ReplicaSet): number {
  const [leftTime, rightTime] = [left.metadata.creationTimestamp, right.metadata.creationTimestamp];
  if (leftTime !== rightTime) return leftTime < rightTime ? -1 : 1;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}

function proportion(deployment: Deployment, set: ReplicaSet, toAdd: number, added: number): number {
  if (replicasOf(set) === 0 || toAdd === added) return 0;
  const share = fraction(deployment, set);
  return toAdd > 0 ? Math.min(share, toAdd - added) : Math.max(share, toAdd - added);
}

function fraction(deployment: Deployment, set: ReplicaSet): number {
  const replicas = replicasOf(deployment);
  const size = replicasOf(set);
  if (replicas === 0) return -size;
  const before = numberOf(set.metadata.annotations?.[MAX_REPLICAS]) || deployment.status?.replicas || 0;
  if (before === 0) return 0;
  return Math.round((size * (replicas + maxSurge(deployment))) / before) - size;
}
