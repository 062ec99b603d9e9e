import type { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import type { Pod } from "setpoint/kinds/v1";
import type { GoJson } from "../rendering/go-json.js";
import { HASH_ANNOTATION, type NodeGroup, type WorkloadChild, withHash } from "../rendering/render.js";
import { differing, missingFrom } from "./difference.js";

export type LiveWorkload = StatefulSet | Deployment;

/** How an apply affects the workload's pods. `scale` only changes their number. */
export type RolloutAction = "create" | "none" | "scale" | "update";

export function changeOf(
  wanted: WorkloadChild,
  live: LiveWorkload | undefined,
  rehash: (child: WorkloadChild) => string,
): RolloutAction {
  if (!live) return "create";
  const hash = live.metadata.annotations?.[HASH_ANNOTATION];
  if (hash === wanted.metadata.annotations?.[HASH_ANNOTATION]) return "none";
  const scaled = { ...wanted, spec: { ...wanted.spec, replicas: live.spec?.replicas } };
  return rehash(scaled) === hash ? "scale" : "update";
}

export function hashWith(go: GoJson, owner: Parameters<typeof withHash>[1]): (child: WorkloadChild) => string {
  return (child) => {
    const { [HASH_ANNOTATION]: _old, ...annotations } = child.metadata.annotations ?? {};
    const bare = { ...child, metadata: { ...child.metadata, annotations } };
    return withHash(bare, owner, go).metadata.annotations![HASH_ANNOTATION]!;
  };
}

export interface Progress {
  /** All pods are ready, and those at or above the partition have the newest revision. */
  readonly isDone: boolean;
  /** Some pods have an older revision. */
  readonly isRolling: boolean;
  readonly replicas: number;
  readonly ready: number;
  readonly updated: number;
  readonly message: string;
}

export function isObserved({ metadata, status }: LiveWorkload): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Also true for a recreated StatefulSet: it knows only one revision, and adopted pods do not have it. */
function hasOldPods({ status }: StatefulSet): boolean {
  const { currentRevision, updateRevision, replicas = 0, currentReplicas = 0, updatedReplicas = 0 } = status ?? {};
  return currentRevision !== updateRevision || replicas > Math.max(currentReplicas, updatedReplicas);
}

/** The rollout progress that the workload's status reports for its newest generation. */
export function progressOf(live: LiveWorkload): Progress {
  const { readyReplicas = 0, updatedReplicas = 0 } = live.status ?? {};
  const replicas = live.spec?.replicas ?? 1;
  const counts = { replicas, ready: readyReplicas, updated: updatedReplicas };
  if (!isObserved(live)) {
    return { ...counts, isDone: false, isRolling: true, message: "its newest generation has not been observed yet" };
  }
  const isReady = readyReplicas === replicas;
  const tally = `${updatedReplicas}/${replicas} updated, ${readyReplicas}/${replicas} ready`;
  if (live.kind === "Deployment") {
    const { replicas: all = 0, conditions = [] } = live.status ?? {};
    const stuck = conditions.find(({ type, status }) => type === "Progressing" && status === "False");
    const failed = conditions.find(({ type, status }) => type === "ReplicaFailure" && status === "True");
    const isDone = isReady && updatedReplicas === replicas && all === replicas && !failed;
    const why = failed ?? stuck;
    const isRolling = updatedReplicas !== replicas || all !== replicas;
    return { ...counts, isDone, isRolling, message: why ? `${tally}; ${why.reason}: ${why.message}` : tally };
  }
  const { currentRevision, updateRevision } = live.status ?? {};
  const { type, rollingUpdate } = live.spec?.updateStrategy ?? {};
  const isRolling = hasOldPods(live);
  const partition = Math.min(rollingUpdate?.partition ?? 0, replicas);
  const isUpdated = !isRolling || updatedReplicas >= replicas - partition;
  const revisions = isRolling ? ` (${currentRevision} to ${updateRevision})` : "";
  const byHand = type === "OnDelete" && isRolling ? "; it replaces pods when you delete them (OnDelete)" : "";
  return {
    ...counts,
    isDone: isReady && (isUpdated || type === "OnDelete"),
    isRolling,
    message: `${tally}${revisions}${byHand}`,
  };
}

/** The partition at the start of an update: it holds back all pods until the new revision is observed. */
export function held({ spec: { updateStrategy } }: WorkloadChild, replicas: number, batch: number): number {
  const isOwn = updateStrategy?.type === "OnDelete" || updateStrategy?.rollingUpdate?.partition !== undefined;
  return batch < 1 || isOwn ? 0 : replicas;
}

/** The current partition: pods at or above it are being replaced. 0 if all are replaced, or batches are off. */
export function partitionOf(wanted: WorkloadChild, live: StatefulSet, pods: readonly SetPod[], batch: number): number {
  const isOld = ({ pod }: SetPod): boolean => revisionOf(pod) !== live.status?.updateRevision;
  if (isObserved(live) && !hasOldPods(live) && !pods.some(isOld)) return 0;
  const partition = live.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  return Math.min(partition, held(wanted, live.spec?.replicas ?? 1, batch));
}

/** What is wrong with a pod, in one line; undefined for a healthy or starting pod. */
export function podTrouble(pod: Pod): string | undefined {
  const { status } = pod;
  if (status?.phase === "Failed" || status?.phase === "Unknown")
    return `${status.phase}${status.reason ? ` (${status.reason})` : ""}`;
  for (const { state, lastState, name, restartCount } of [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ]) {
    const { waiting } = state ?? {};
    if (waiting?.reason && !["ContainerCreating", "PodInitializing"].includes(waiting.reason)) {
      const last = lastState?.terminated?.reason;
      return `container ${name}: ${waiting.reason}${last ? `, last ${last}` : ""}${restartCount ? `, ${restartCount} restarts` : ""}`;
    }
  }
  const scheduled = status?.conditions?.find(({ type, status: value }) => type === "PodScheduled" && value === "False");
  if (scheduled?.reason === "Unschedulable") return `Unschedulable: ${scheduled.message ?? ""}`;
  return undefined;
}

/** The StatefulSet revision of a pod. */
export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.["controller-revision-hash"];
}

/** A pod of a StatefulSet. */
export interface SetPod {
  readonly pod: Pod;
  readonly ordinal: number;
}

export function podsOfSet({ name }: Pick<NodeGroup, "name">, pods: readonly Pod[]): readonly SetPod[] {
  return pods.flatMap((pod) => {
    const [stem, ordinal] = [pod.metadata.name.slice(0, name.length + 1), pod.metadata.name.slice(name.length + 1)];
    return stem === `${name}-` && /^\d+$/.test(ordinal) ? [{ pod, ordinal: Number(ordinal) }] : [];
  });
}

/** The least replica count that explains these pods: the highest ordinal plus one. */
export function replicasOf(pods: readonly SetPod[]): number {
  return Math.max(0, ...pods.map(({ ordinal }) => ordinal + 1));
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** Whether druid-operator would delete the pod, so that an ordered StatefulSet gets past it. */
export function isFailing({ status }: Pod): boolean {
  if (status?.phase === "Failed" || status?.phase === "Unknown") return true;
  const isUnready =
    status?.conditions?.some((each) => each.type === "ContainersReady" && each.status === "False") ?? false;
  return isUnready && (status?.containerStatuses ?? []).some(({ restartCount = 0 }) => restartCount > 1);
}

/** Whether the group's processes run ingestion tasks. */
export function isWorker({ node }: Pick<NodeGroup, "node">): boolean {
  return node.nodeType === "middleManager" || node.nodeType === "indexer";
}

/** How many pods of a StatefulSet are replaced between checks; 0 for no checks. */
export function batchOf({ node }: Pick<NodeGroup, "node">, batch: number): number {
  return node.maxUnavailable ?? (node.nodeType === "historical" || isWorker({ node }) ? batch : 0);
}

/**
 * The workload with live values that the operator must not change. It keeps the live selector if that still matches the
 * pod template, because a selector is immutable. It keeps the autoscaler's replicas unless the spec says 0.
 */
export function asLive(
  { workload, node }: Pick<NodeGroup, "workload" | "node">,
  live: LiveWorkload | undefined,
  pods: readonly SetPod[] = [],
): WorkloadChild {
  const { selector } = live?.spec ?? {};
  const fits = missingFrom(workload.spec.template.metadata?.labels, selector?.matchLabels).length === 0;
  const replicas = node.hpAutoscaler && workload.spec.replicas ? (live?.spec?.replicas ?? replicasOf(pods)) : 0;
  return {
    ...workload,
    spec: { ...workload.spec, ...(selector && fits ? { selector } : {}), ...(replicas ? { replicas } : {}) },
  };
}

/** The immutable spec fields that would have to change. Claim sizes are handled separately. */
export function immutableChanges(wanted: WorkloadChild, live: LiveWorkload): readonly string[] {
  const selector = differing(live.spec?.selector, wanted.spec.selector).length > 0 ? ["selector"] : [];
  if (live.kind === "Deployment") return selector;
  const [has, wants] = [live.spec, wanted.spec].map((spec) => {
    const claims = spec?.volumeClaimTemplates ?? [];
    return {
      serviceName: spec?.serviceName ?? "",
      podManagementPolicy: spec?.podManagementPolicy,
      volumeClaimTemplates: claims.map((claim) => ({ ...claim.spec, resources: undefined })),
      names: claims.map(({ metadata: { name, labels, annotations } = {} }) => ({ name, labels, annotations })),
    };
  });
  const fields = ["serviceName", "podManagementPolicy", "volumeClaimTemplates"] as const;
  const changed = fields.filter(
    (field) =>
      missingFrom(has![field], wants![field]).length > 0 ||
      (field === "volumeClaimTemplates" && differing(has!.names, wants!.names).length > 0),
  );
  return [...selector, ...changed];
}
