import type { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import type { Pod } from "setpoint/kinds/v1";
import type { GoJson } from "../rendering/go-json.js";
import { HASH_ANNOTATION, type NodeGroup, type WorkloadChild, withHash } from "../rendering/render.js";
import { differing, missingFrom } from "./difference.js";

export type LiveWorkload = StatefulSet | Deployment;

/** What an apply of a workload would mean for its pods. `scale` changes nothing but their number. */
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
  /** All pods are of the newest revision and ready, as far as the group is rolled for now. */
  readonly isDone: boolean;
  /** Some pods are of an older revision. */
  readonly isRolling: boolean;
  readonly replicas: number;
  readonly ready: number;
  readonly updated: number;
  readonly message: string;
}

export function isObserved({ metadata, status }: LiveWorkload): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Also where the StatefulSet was made anew around them: then it knows but one revision, which they are not of. */
function hasOldPods({ status }: StatefulSet): boolean {
  const { currentRevision, updateRevision, replicas = 0, currentReplicas = 0, updatedReplicas = 0 } = status ?? {};
  return currentRevision !== updateRevision || replicas > Math.max(currentReplicas, updatedReplicas);
}

/** How far a workload is, by what its controller has observed of its newest generation. */
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

/** The partition with which an update begins: it touches no pod before the server has said which ones it concerns. */
export function held({ spec: { updateStrategy } }: WorkloadChild, replicas: number, batch: number): number {
  const isOwn = updateStrategy?.type === "OnDelete" || updateStrategy?.rollingUpdate?.partition !== undefined;
  return batch < 1 || isOwn ? 0 : replicas;
}

/** The ordinal from which on pods are replaced, or have been; 0 where all are, or are not replaced in batches. */
export function partitionOf(wanted: WorkloadChild, live: StatefulSet, pods: readonly SetPod[], batch: number): number {
  const isOld = ({ pod }: SetPod): boolean => revisionOf(pod) !== live.status?.updateRevision;
  if (isObserved(live) && !hasOldPods(live) && !pods.some(isOld)) return 0;
  const partition = live.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  return Math.min(partition, held(wanted, live.spec?.replicas ?? 1, batch));
}

/** What is wrong with a pod, in one line; undefined for one that is well, or still starting. */
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

/** The revision of its StatefulSet that a pod was made of. */
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

/** How many replicas a StatefulSet must have, or have had, for its pods. */
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

/** Those that run tasks. */
export function isWorker({ node }: Pick<NodeGroup, "node">): boolean {
  return node.nodeType === "middleManager" || node.nodeType === "indexer";
}

/** How many pods of a StatefulSet are replaced before the rollout looks; 0 where it does not. */
export function batchOf({ node }: Pick<NodeGroup, "node">, batch: number): number {
  return node.maxUnavailable ?? (node.nodeType === "historical" || isWorker({ node }) ? batch : 0);
}

/**
 * The workload with what is not for the operator to change: a selector that fits the pods, since labels that were only added
 * leave it as good as it was; and the replicas that an autoscaler has chosen, which it does unless there are to be none.
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

/** The fields of a workload's spec that would have to change, and cannot. The sizes of claims are looked at apart. */
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
