import type { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import type { Pod } from "setpoint/kinds/v1";
import type { GoJson } from "../rendering/go-json.js";
import { HASH_ANNOTATION, type NodeGroup, type WorkloadChild, withHash } from "../rendering/render.js";
import { differing, missingFrom } from "./difference.js";

export type LiveWorkload = StatefulSet | Deployment;

/** What an apply of a workload would mean for its pods. `scale` changes nothing but their number. */
export type Change = "create" | "none" | "scale" | "update";

export function changeOf(
  wanted: WorkloadChild,
  live: LiveWorkload | undefined,
  rehash: (child: WorkloadChild) => string,
): Change {
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

/** How far a workload is, by what its controller has observed of its newest generation. */
export function progressOf(live: LiveWorkload): Progress {
  const { generation = 0 } = live.metadata;
  const { observedGeneration = 0, readyReplicas = 0, updatedReplicas = 0 } = live.status ?? {};
  const replicas = live.spec?.replicas ?? 1;
  const counts = { replicas, ready: readyReplicas, updated: updatedReplicas };
  if (observedGeneration < generation) {
    return { ...counts, isDone: false, isRolling: true, message: "its newest generation is not observed yet" };
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
  const isRolling = currentRevision !== updateRevision;
  const partition = Math.min(rollingUpdate?.partition ?? 0, replicas);
  const isUpdated = !isRolling || updatedReplicas >= replicas - partition;
  const revisions = isRolling ? ` (${currentRevision} to ${updateRevision})` : "";
  const byHand = type === "OnDelete" && isRolling ? "; its pods are replaced as you delete them (OnDelete)" : "";
  return {
    ...counts,
    isDone: isReady && (isUpdated || type === "OnDelete"),
    isRolling,
    message: `${tally}${revisions}${byHand}`,
  };
}

/**
 * The ordinals from which on the pods of a StatefulSet are replaced, now and after the next batch; undefined where it is
 * not rolled in batches. `isNew`: the update is about to begin.
 */
export function partitionsOf(
  wanted: WorkloadChild,
  live: StatefulSet,
  batch: number,
  isNew: boolean,
): { readonly now: number; readonly next: number } | undefined {
  const replicas = live.spec?.replicas ?? 1;
  const { type, rollingUpdate } = wanted.spec.updateStrategy ?? {};
  if (batch < 1 || type === "OnDelete" || rollingUpdate?.partition !== undefined) return undefined;
  const isRolling = live.status?.currentRevision !== live.status?.updateRevision;
  const partition = Math.min(live.spec?.updateStrategy?.rollingUpdate?.partition ?? 0, replicas);
  if (!isNew && !isRolling && partition === 0) return undefined;
  const now = isNew && !isRolling ? replicas : partition;
  return { now, next: Math.max(0, now - batch) };
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

export function isBatched({ node }: Pick<NodeGroup, "node">): boolean {
  return node.kind !== "Deployment" && ["historical", "middleManager", "indexer"].includes(node.nodeType);
}

/** Labels that were only added leave a selector as good as it was; a workload cannot change it. */
export function withLiveSelector(wanted: WorkloadChild, live: LiveWorkload): WorkloadChild {
  const selector = live.spec?.selector;
  const fits = missingFrom(wanted.spec.template.metadata?.labels, selector?.matchLabels).length === 0;
  return selector && fits ? { ...wanted, spec: { ...wanted.spec, selector } } : wanted;
}

/** The fields of a workload's spec that would have to change, and cannot. The sizes of claims are looked at apart. */
export function immutableChanges(wanted: WorkloadChild, live: LiveWorkload): readonly string[] {
  const selector = differing(live.spec?.selector, wanted.spec.selector).length > 0 ? ["selector"] : [];
  if (live.kind === "Deployment") return selector;
  const [has, wants] = [live.spec, wanted.spec].map((spec) => ({
    serviceName: spec?.serviceName ?? "",
    podManagementPolicy: spec?.podManagementPolicy,
    volumeClaimTemplates: (spec?.volumeClaimTemplates ?? []).map(({ metadata, spec: claim }) => ({
      metadata: { name: metadata?.name },
      spec: { ...claim, resources: undefined },
    })),
  }));
  const fields = ["serviceName", "podManagementPolicy", "volumeClaimTemplates"] as const;
  return [...selector, ...fields.filter((field) => missingFrom(has?.[field], wants?.[field]).length > 0)];
}
