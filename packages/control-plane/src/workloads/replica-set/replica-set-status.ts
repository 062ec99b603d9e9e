import { formatTime, matchesLabels } from "setpoint/kinds";
import type { ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from "setpoint/kinds/apps/v1";
import type { Pod } from "setpoint/kinds/v1";
import { isPodAvailable, isPodReady } from "../pod/pod-state.js";
import { serverMessage } from "../server-message.js";

const REPLICA_FAILURE = "ReplicaFailure";

/** The status of a ReplicaSet, computed from the pods before this run created or deleted any. */
export function replicaSetStatus(
  set: ReplicaSet,
  active: readonly Pod[],
  terminating: readonly Pod[],
  failure: Error | undefined,
  nowMs: number,
): ReplicaSetStatus {
  const { replicas = 1, minReadySeconds = 0, template } = set.spec;
  const { labels = {} } = template?.metadata ?? {};
  return {
    ...set.status,
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) => matchesLabels({ matchLabels: labels }, metadata.labels))
      .length,
    readyReplicas: active.filter(isPodReady).length,
    availableReplicas: active.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
    terminatingReplicas: terminating.length,
    observedGeneration: set.metadata.generation ?? 0,
    conditions: conditionsAfter(set.status?.conditions ?? [], failure, active.length - replicas, nowMs),
  };
}

/** A ReplicaFailure condition stays unchanged until a run succeeds. */
function conditionsAfter(
  conditions: readonly ReplicaSetCondition[],
  failure: Error | undefined,
  surplus: number,
  nowMs: number,
): readonly ReplicaSetCondition[] {
  const others = conditions.filter(({ type }) => type !== REPLICA_FAILURE);
  if (!failure) return others;
  if (others.length < conditions.length) return conditions;
  const reason = surplus < 0 ? "FailedCreate" : "FailedDelete";
  const lastTransitionTime = formatTime(nowMs);
  return [
    ...others,
    { type: REPLICA_FAILURE, status: "True", reason, message: serverMessage(failure), lastTransitionTime },
  ];
}
