import type { OwnerReference } from "setpoint/kinds";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, Volume } from "setpoint/kinds/v1";
import { REVISION_HASH } from "../controller-revision.js";
import { controllerReference } from "../owner-claims.js";
import { podFromTemplate } from "../pod-template.js";

const POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const POD_INDEX_LABEL = "apps.kubernetes.io/pod-index";

/** The ordinal of a pod; undefined if its name is not one of the set's. */
export function ordinalOf({ metadata: set }: StatefulSet, { metadata }: Pick<Pod, "metadata">): number | undefined {
  const match = /^(.*)-(\d+)$/.exec(metadata.name);
  return match && match[1] === set.name ? Number(match[2]) : undefined;
}

export function firstOrdinal({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const first = firstOrdinal(set);
  return ordinal >= first && ordinal < first + (set.spec.replicas ?? 1);
}

export function revisionOfPod({ metadata }: Pod): string {
  return metadata.labels?.[REVISION_HASH] ?? "";
}

/** The pod of an ordinal: its name, its labels and a volume for each claim template. */
export function statefulPod(set: StatefulSet, template: PodTemplateSpec, revision: string, ordinal: number) {
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = { [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal), [REVISION_HASH]: revision };
  const { metadata, spec } = podFromTemplate(template, controllerReference(StatefulSet, set), { name }, labels);
  const { serviceName } = set.spec;
  return {
    // Unnecessary with a name, but every pod from a template has it.
    metadata: { ...metadata, generateName: `${set.metadata.name}-` },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName && { subdomain: serviceName }),
      volumes: volumesOf(set, spec.volumes, ordinal),
    },
  };
}

function volumesOf(set: StatefulSet, volumes: readonly Volume[] = [], ordinal: number): readonly Volume[] {
  const claimed = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }): Volume => {
    const name = metadata.name ?? "";
    return { name, persistentVolumeClaim: { claimName: claimName(set, name, ordinal) } };
  });
  return [...claimed, ...volumes.filter(({ name }) => !claimed.some((each) => each.name === name))];
}

export function claimName({ metadata }: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${metadata.name}-${ordinal}`;
}

/** The claims of an ordinal, with the set's selector labels. */
export function statefulClaims(set: StatefulSet, ordinal: number) {
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata, spec }) => ({
    metadata: {
      name: claimName(set, metadata.name ?? "", ordinal),
      labels: { ...metadata.labels, ...set.spec.selector.matchLabels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
    },
    spec,
  }));
}

/**
 * The owners that a claim should have: none if it is retained, the set if it is deleted with the set, the pod if it
 * is deleted on scale-down. Undefined if the owners are right already, or another controller owns the claim.
 */
export function retentionOwners(
  set: StatefulSet,
  pod: Pod,
  ordinal: number,
  claim: PersistentVolumeClaim,
): readonly OwnerReference[] | undefined {
  const { whenScaled = "Retain", whenDeleted = "Retain" } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const current = claim.metadata.ownerReferences ?? [];
  const ofPod = controllerReference({ apiVersion: "v1", kind: "Pod" }, pod);
  const ofSet = controllerReference(StatefulSet, set);
  const isOwn = ({ kind, name }: OwnerReference): boolean =>
    (kind === "StatefulSet" && name === set.metadata.name) || (kind === "Pod" && name === pod.metadata.name);
  const others = current.filter((reference) => !isOwn(reference));
  if (others.some(({ controller }) => controller) && (whenScaled === "Delete" || whenDeleted === "Delete"))
    return undefined;
  // A claim that an earlier set or pod of the same name owns is about to be garbage collected.
  if (current.some((reference) => isOwn(reference) && reference.uid !== ofPod.uid && reference.uid !== ofSet.uid))
    return undefined;
  const isGoing = !isInRange(set, ordinal);
  const owner =
    isGoing && whenScaled === "Delete"
      ? [ofPod]
      : whenDeleted === "Delete" && !(isGoing && whenScaled === "Delete")
        ? [ofSet]
        : [];
  const wanted = [...others, ...owner];
  const uids = (references: readonly OwnerReference[]): string =>
    references
      .map(({ uid }) => uid)
      .sort()
      .join();
  return uids(wanted) === uids(current) ? undefined : wanted;
}
