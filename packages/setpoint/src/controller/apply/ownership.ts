import { type Kind, keyOf, kindId } from "../../kinds/kind.js";
import type { KubeObject, OwnerReference } from "../../kinds/object.js";

/**
 * Names the owner of an object in another namespace or cluster, where an owner reference does not work:
 * `apiVersion/Kind namespace/name uid`. For an owner in another cluster it also has the uid of that cluster's namespace
 * `kube-system`. Kubernetes does not collect such objects; the controller does.
 */
export const OWNER_ANNOTATION = "setpoint.dev/owner";

/**
 * The index over owned objects: by the uid of their controller or of the owner in the annotation, and by the kind and
 * key of the annotated owner, for when it is gone and its uid is unknown.
 */
export const OWNER_INDEX = "setpoint.dev/owner";

export interface AnnotatedOwner {
  readonly group: string;
  readonly kind: string;
  readonly key: string;
  readonly uid: string;
  /** Identifies the owner's cluster; undefined if owner and child are in the same one. */
  readonly cluster: string | undefined;
}

function ownerUids(object: KubeObject, annotated: AnnotatedOwner | undefined): readonly string[] {
  const uids: string[] = [];
  for (const { controller, uid } of object.metadata.ownerReferences ?? []) if (controller) uids.push(uid);
  if (annotated) uids.push(annotated.uid);
  return uids;
}

/** The values of an object in the {@link OWNER_INDEX}. */
export function ownerIndexValues(object: KubeObject): readonly string[] {
  const annotated = annotatedOwner(object);
  const uids = ownerUids(object, annotated);
  return annotated ? [...uids, ownerIndexValue(annotated, annotated.key)] : uids;
}

/** The index value of an annotated owner. Without the version, because the owner may have been seen in another one. */
export function ownerIndexValue({ group, kind }: Pick<Kind, "group" | "kind">, key: string): string {
  return `${group}/${kind} ${key}`;
}

export function annotatedOwner(object: Pick<KubeObject, "metadata">): AnnotatedOwner | undefined {
  const text = object.metadata.annotations?.[OWNER_ANNOTATION];
  if (text === undefined) return undefined;
  const [id, key, uid, cluster, ...rest] = text.split(" ");
  if (!id || !key || !uid || cluster === "" || rest.length > 0) return undefined;
  const slash = id.lastIndexOf("/");
  return { group: groupOf(id.slice(0, Math.max(slash, 0))), kind: id.slice(slash + 1), key, uid, cluster };
}

/** Whether the two are the same kind, in any versions. */
export function isOfKind(named: Pick<Kind, "group" | "kind">, kind: Kind): boolean {
  return named.kind === kind.kind && named.group === kind.group;
}

export function controllerOf(object: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller);
}

/** An owner reference works within a namespace, or from a cluster-scoped owner, and only within one cluster. */
export function canRefer(owner: KubeObject, childNamespace: string | undefined, isSameCluster: boolean): boolean {
  return isSameCluster && (!owner.metadata.namespace || owner.metadata.namespace === childNamespace);
}

/** The metadata that marks a child as owned. `ownerCluster` is undefined if both are in one cluster. */
export function ownerMark(
  kind: Kind,
  owner: KubeObject,
  childNamespace: string | undefined,
  ownerCluster: string | undefined,
): { readonly ownerReferences?: readonly OwnerReference[]; readonly annotations?: Readonly<Record<string, string>> } {
  const { name, uid } = owner.metadata;
  if (!canRefer(owner, childNamespace, ownerCluster === undefined)) {
    const mark = `${kindId(kind)} ${keyOf(owner)} ${uid}`;
    return { annotations: { [OWNER_ANNOTATION]: ownerCluster === undefined ? mark : `${mark} ${ownerCluster}` } };
  }
  const { apiVersion } = kind;
  return {
    ownerReferences: [{ apiVersion, kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true }],
  };
}

/** Who owns an object, from the point of view of `owner`. */
export type Ownership =
  | { readonly type: "ours" }
  | { readonly type: "nobody's" }
  /** `isPredecessor`: it belongs to a deleted object with the owner's name, and will be garbage collected. */
  | { readonly type: "another's"; readonly owner: string; readonly isPredecessor: boolean };

export function ownershipOf(
  child: KubeObject,
  kind: Kind,
  owner: KubeObject,
  ownerCluster: string | undefined,
): Ownership {
  const annotated = annotatedOwner(child);
  if (ownerUids(child, annotated).includes(owner.metadata.uid)) return { type: "ours" };
  const controller = controllerOf(child);
  if (controller) {
    const named = { group: groupOf(controller.apiVersion), kind: controller.kind };
    const isPredecessor = isOfKind(named, kind) && controller.name === owner.metadata.name;
    return { type: "another's", owner: `${controller.kind} ${controller.name}`, isPredecessor };
  }
  if (!annotated) return { type: "nobody's" };
  const isHere = annotated.cluster === ownerCluster;
  const isPredecessor = isHere && isOfKind(annotated, kind) && annotated.key === keyOf(owner);
  const where = isHere ? "" : " of another cluster";
  return { type: "another's", owner: `${annotated.kind} ${annotated.key}${where}`, isPredecessor };
}

/** The key of the object of `kind` that controls this one; undefined if it has another controller or none. */
export function ownerKeyOf(child: KubeObject, kind: Kind): string | undefined {
  const controller = controllerOf(child);
  if (controller?.kind === kind.kind && groupOf(controller.apiVersion) === kind.group) {
    return kind.scope === "Namespaced" ? `${child.metadata.namespace}/${controller.name}` : controller.name;
  }
  const annotated = annotatedOwner(child);
  return annotated && isOfKind(annotated, kind) ? annotated.key : undefined;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
