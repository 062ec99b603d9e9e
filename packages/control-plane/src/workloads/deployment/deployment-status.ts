import { formatTime, parseTime } from "setpoint/kinds";
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from "setpoint/kinds/apps/v1";
import { availableOf, maxUnavailable, replicasOf, sum } from "./replica-counts.js";

const NO_DEADLINE = 2_147_483_647;

type Conditions = readonly DeploymentCondition[];
type NewCondition = Omit<DeploymentCondition, "lastTransitionTime" | "lastUpdateTime">;

export const PROGRESSING = "Progressing";

export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_DEADLINE;
}

export function conditionOf(conditions: Conditions | undefined, type: string): DeploymentCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Sets a condition and moves it to the end. Keeps an existing one with the same status and reason, message included.
 */
export function withCondition(conditions: Conditions, condition: NewCondition, nowMs: number): Conditions {
  const current = conditionOf(conditions, condition.type);
  if (current?.status === condition.status && current.reason === condition.reason) return conditions;
  const now = formatTime(nowMs);
  const since = current?.status === condition.status ? current.lastTransitionTime : undefined;
  return [
    ...withoutCondition(conditions, condition.type),
    { ...condition, lastUpdateTime: now, lastTransitionTime: since ?? now },
  ];
}

export function withoutCondition(conditions: Conditions, type: string): Conditions {
  return conditions.filter((condition) => condition.type !== type);
}

/** The replica counts, and whether enough pods are available. */
export function plainStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  newest: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const available = sum(all, availableOf);
  const isEnough = available >= replicasOf(deployment) - maxUnavailable(deployment);
  const condition = isEnough
    ? { status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : {
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
  const terminating = terminatingOf(all);
  const { collisionCount, conditions = [] } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(all, replicasOf) - available),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withCondition(conditions, { type: "Available", ...condition }, nowMs),
  };
}

/** Undefined if any ReplicaSet does not report it. */
function terminatingOf(all: readonly ReplicaSet[]): number | undefined {
  const counts = all
    .filter(({ status }) => status?.observedGeneration || status?.terminatingReplicas !== undefined)
    .map(({ status }) => status?.terminatingReplicas);
  return counts.every((count) => count !== undefined) ? sum(counts, (count) => count) : undefined;
}

/** The plain status plus the state of the rollout: progressing, complete or timed out. */
export function rolloutStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  newest: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const status = plainStatus(deployment, all, newest, nowMs);
  const before = deployment.status?.conditions;
  const failure = replicaFailure(all, newest);
  let conditions = status.conditions ?? [];
  if (!hasDeadline(deployment)) conditions = withoutCondition(conditions, PROGRESSING);
  else conditions = progressing(deployment, { ...status, conditions }, newest, conditionOf(before, PROGRESSING), nowMs);
  conditions = failure ? withCondition(conditions, failure, nowMs) : withoutCondition(conditions, "ReplicaFailure");
  return { ...status, conditions };
}

function progressing(
  deployment: Deployment,
  status: DeploymentStatus,
  newest: ReplicaSet | undefined,
  current: DeploymentCondition | undefined,
  nowMs: number,
): Conditions {
  const conditions = status.conditions ?? [];
  const isSettled =
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === "NewReplicaSetAvailable";
  if (isSettled) return conditions;
  const subject = newest ? `ReplicaSet "${newest.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const told = (state: string, reason: string, what: string): NewCondition => ({
    type: PROGRESSING,
    status: state,
    reason,
    message: `${subject} ${what}.`,
  });
  if (isComplete(deployment, status)) {
    return withCondition(conditions, told("True", "NewReplicaSetAvailable", "has successfully progressed"), nowMs);
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const now = formatTime(nowMs);
    const since = current?.status === "True" ? current.lastTransitionTime : undefined;
    // Report every progress anew, so that the deadline counts from it.
    const condition = {
      ...told("True", "ReplicaSetUpdated", "is progressing"),
      lastUpdateTime: now,
      lastTransitionTime: since ?? now,
    };
    return [...withoutCondition(conditions, PROGRESSING), condition];
  }
  if (isTimedOut(deployment, conditions, nowMs)) {
    return withCondition(conditions, told("False", "ProgressDeadlineExceeded", "has timed out progressing"), nowMs);
  }
  return conditions;
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const replicas = replicasOf(deployment);
  const { updatedReplicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return (
    updatedReplicas === replicas &&
    (status.replicas ?? 0) === replicas &&
    availableReplicas === replicas &&
    observedGeneration >= (deployment.metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(deployment: Deployment, conditions: Conditions, nowMs: number): boolean {
  const condition = conditionOf(conditions, PROGRESSING);
  if (!condition || condition.reason === "NewReplicaSetAvailable") return false;
  if (condition.reason === "ProgressDeadlineExceeded") return true;
  return deadlineMs(deployment, condition) < nowMs;
}

function deadlineMs({ spec }: Deployment, { lastUpdateTime }: DeploymentCondition): number {
  return parseTime(lastUpdateTime ?? formatTime(0)) + (spec.progressDeadlineSeconds ?? 0) * 1_000;
}

/** When to check the progress deadline; undefined if there is nothing to wait for. */
export function deadlineCheckInMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const condition = conditionOf(status.conditions, PROGRESSING);
  if (!hasDeadline(deployment) || !condition || isComplete(deployment, status)) return undefined;
  if (condition.reason === "ProgressDeadlineExceeded" || condition.reason === "NewReplicaSetAvailable")
    return undefined;
  return Math.max(0, deadlineMs(deployment, condition) - nowMs) + 1_000;
}

/** The condition that says why a ReplicaSet cannot create pods. The newest ReplicaSet comes first. */
function replicaFailure(all: readonly ReplicaSet[], newest: ReplicaSet | undefined): NewCondition | undefined {
  for (const set of newest ? [newest, ...all] : all) {
    const failure = set.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
    if (!failure) continue;
    const { type, status, reason = "", message = "" } = failure;
    return { type, status, reason, message };
  }
  return undefined;
}
