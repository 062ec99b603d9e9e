import type { KubeObject } from "setpoint";
import type { StatefulSet } from "setpoint/kinds/apps/v1";
import type { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import type { PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { compareQuantities } from "setpoint/quantity";
import type { Druid } from "../druid.js";
import { GROUP_LABEL } from "../rendering/naming.js";
import { isOwned, type NodeGroup, type WorkloadChild } from "../rendering/render.js";

export const DELETE_LABEL = "toBeDeleted";
export const DELETED_AT_LABEL = "deletionTS";

export type ClaimAction =
  | { readonly type: "mark" | "unmark" | "delete" | "repair"; readonly claim: PersistentVolumeClaim }
  | { readonly type: "wait"; readonly claim: PersistentVolumeClaim; readonly ms: number };

/**
 * What to do with claims that no pod needs: ordinals beyond the replicas, and groups that left the spec. Does nothing
 * unless there are pods and all are healthy, because otherwise a claim may still be needed.
 */
export function orphanActions(
  claims: readonly PersistentVolumeClaim[],
  pods: readonly Pod[],
  groups: readonly Pick<NodeGroup, "name" | "workload">[],
  sets: readonly StatefulSet[],
  nowMs: number,
  graceMs: number,
): readonly ClaimAction[] {
  const isWell = ({ status, metadata }: Pod): boolean =>
    !metadata.deletionTimestamp &&
    status?.phase === "Running" &&
    (status.conditions ?? []).every((each) => each.status === "True");
  if (pods.length === 0 || !pods.every(isWell)) return [];
  const mounted = new Set(
    pods.flatMap(({ spec }) => (spec?.volumes ?? []).map((each) => each.persistentVolumeClaim?.claimName)),
  );
  return claims.flatMap((claim): readonly ClaimAction[] => {
    const { labels = {}, name, deletionTimestamp, ownerReferences } = claim.metadata;
    if (deletionTimestamp || ownerReferences?.some(({ controller }) => controller)) return [];
    const isMarked = labels[DELETE_LABEL] === "yes";
    const isOrphan = !mounted.has(name) && isBeyond(claim, groups, sets);
    if (!isOrphan) return isMarked ? [{ type: "unmark", claim }] : [];
    if (!isMarked) return [{ type: "mark", claim }];
    const since = Number(labels[DELETED_AT_LABEL] || Number.NaN) * 1000;
    if (Number.isNaN(since)) return [{ type: "repair", claim }];
    const ms = since + graceMs - nowMs;
    return ms > 0 ? [{ type: "wait", claim, ms }] : [{ type: "delete", claim }];
  });
}

/** Whether a claim with the cluster's label belongs to another controller, or to a StatefulSet that we do not own. */
export function isOfOthers(claim: PersistentVolumeClaim, druid: Druid, foreign: readonly KubeObject[]): boolean {
  const isControlled = claim.metadata.ownerReferences?.some(({ controller }) => controller) ?? false;
  const isOf = ({ metadata }: KubeObject): boolean => new RegExp(`-${metadata.name}-\\d+$`).test(claim.metadata.name);
  return isControlled ? !isOwned(claim, druid) : foreign.some(isOf);
}

function isBeyond(
  { metadata }: PersistentVolumeClaim,
  groups: readonly Pick<NodeGroup, "name" | "workload">[],
  sets: readonly StatefulSet[],
): boolean {
  const name = metadata.labels?.[GROUP_LABEL];
  if (!name) return false;
  const set = sets.find((each) => each.metadata.name === name);
  const group = groups.find((each) => each.name === name && each.workload.kind === "StatefulSet");
  const ordinal = new RegExp(`-${name}-(\\d+)$`).exec(metadata.name)?.[1];
  if (ordinal === undefined) return false;
  if (!set) return group === undefined;
  const replicas = Math.max(set.spec?.replicas ?? 1, set.status?.replicas ?? 0);
  return replicas > 0 && Number(ordinal) >= replicas;
}

export type Expansion =
  | { readonly type: "none" }
  | { readonly type: "refuse"; readonly message: string }
  | { readonly type: "wait"; readonly message: string }
  | { readonly type: "expand"; readonly sizes: Readonly<Record<string, string>>; readonly message: string };

type Template = NonNullable<WorkloadChild["spec"]["volumeClaimTemplates"]>[number];
const sizeOf = (claim: Template | PersistentVolumeClaim | undefined): string | undefined =>
  claim?.spec?.resources?.requests?.storage as string | undefined;

/** Whether the claims of a StatefulSet should and can be expanded. `classes` are the known storage classes by name. */
export function expansionOf(
  wanted: WorkloadChild,
  live: StatefulSet,
  classes: ReadonlyMap<string, StorageClass>,
  isAllowed: boolean,
): Expansion {
  const sizes: Record<string, string> = {};
  for (const template of wanted.spec.volumeClaimTemplates ?? []) {
    const name = template.metadata?.name ?? "";
    const [to, from] = [
      sizeOf(template),
      sizeOf(live.spec?.volumeClaimTemplates?.find((each) => each.metadata?.name === name)),
    ];
    if (to === undefined || from === undefined) continue;
    const order = compareQuantities(to, from);
    const what = `volumeClaimTemplates ${name}: from ${from} to ${to}`;
    if (order < 0)
      return { type: "refuse", message: `${what}: Request for Shrinking of sts pvc size is not supported` };
    if (order === 0) continue;
    if (!isAllowed) return { type: "refuse", message: `${what}: set scalePvcSts to let volumes grow` };
    const storageClass = template.spec?.storageClassName ?? "";
    if (classes.get(storageClass)?.allowVolumeExpansion !== true) {
      return {
        type: "refuse",
        message: `${what}: the storage class "${storageClass}" does not allow volume expansion`,
      };
    }
    sizes[name] = to;
  }
  if (Object.keys(sizes).length === 0) return { type: "none" };
  const message = `volumes of ${wanted.metadata.name} grow: ${Object.entries(sizes)
    .map((each) => each.join(" to "))
    .join(", ")}`;
  const isReady = live.status?.readyReplicas === live.spec?.replicas;
  return isReady
    ? { type: "expand", sizes, message }
    : { type: "wait", message: `${message}, once all pods are ready` };
}

/** The claims of a StatefulSet that request less than their template. */
export function claimsToGrow(
  set: string,
  sizes: Readonly<Record<string, string>>,
  claims: readonly PersistentVolumeClaim[],
) {
  return claims.flatMap((claim) => {
    const at = claim.metadata.name.lastIndexOf(`-${set}-`);
    const size = sizes[claim.metadata.name.slice(0, at)];
    return at > 0 && size && compareQuantities(size, sizeOf(claim) ?? "0") > 0 ? [{ claim, size }] : [];
  });
}

/** What a pending volume expansion waits for; undefined once the claim has its requested size. */
export function resizeState({ metadata, spec, status }: PersistentVolumeClaim): string | undefined {
  const [wanted, has] = [spec?.resources?.requests?.storage, status?.capacity?.storage];
  if (!wanted || !has || compareQuantities(has as string, wanted as string) >= 0) return undefined;
  const reason = status?.conditions?.map(({ type }) => type).join(", ") || "Resizing";
  const hint = reason.includes("FileSystemResizePending") ? "; restart its pod" : "";
  return `${metadata.name} has ${has} of ${wanted} (${reason}${hint})`;
}
