import { type Kind, keyOf, kindId } from "../kinds/kind.js";
import type { KubeObject, OwnerReference } from "../kinds/object.js";

/**
 * Names the owner of an object that cannot refer to it, because it lives in another namespace or cluster:
 * `apiVersion/Kind namespace/name uid`. Kubernetes does not collect such objects; the controller does.
 */
export const OWNER_ANNOTATION = "setpoint.dev/owner";

/**
 * The index over owned objects: by the uid of their controller, or of the owner in the annotation; by that one's kind and
 * key as well, for when it is gone and nobody knows its uid.
 */
export const OWNER_INDEX = "setpoint.dev/owner";

export interface AnnotatedOwner {
  readonly kind: string;
  readonly key: string;
  readonly uid: string;
}

function ownerUids(object: KubeObject, annotated: AnnotatedOwner | undefined): readonly string[] {
  const uids: string[] = [];
  for (const { controller, uid } of object.metadata.ownerReferences ?? []) if (controller) uids.push(uid);
  if (annotated) uids.push(annotated.uid);
  return uids;
}

/** What an object is found by in the {@link OWNER_INDEX}. */
export function ownerIndexValues(object: KubeObject): readonly string[] {
  const annotated = annotatedOwner(object);
  const uids = ownerUids(object, annotated);
  return annotated ? [...uids, ownerIndexValue(annotated.kind, annotated.key)] : uids;
}

/** What the objects of an annotated owner are found by. */
export function ownerIndexValue(kind: string, key: string): string {
  return `${kind} ${key}`;
}

export function annotatedOwner(object: Pick<KubeObject, "metadata">): AnnotatedOwner | undefined {
  const text = object.metadata.annotations?.[OWNER_ANNOTATION];
  if (text === undefined) return undefined;
  const [kind, key, uid, ...rest] = text.split(" ");
  return kind && key && uid && rest.length === 0 ? { kind, key, uid } : undefined;
}

export function controllerOf(object: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller);
}

/** An owner reference works within a namespace, or from a cluster-scoped owner, and only within one cluster. */
export function canRefer(owner: KubeObject, childNamespace: string | undefined, isSameCluster: boolean): boolean {
  return isSameCluster && (!owner.metadata.namespace || owner.metadata.namespace === childNamespace);
}

/** The metadata that marks a child as the owner's. */
export function ownerMark(
  kind: Kind,
  owner: KubeObject,
  childNamespace: string | undefined,
  isSameCluster: boolean,
): { readonly ownerReferences?: readonly OwnerReference[]; readonly annotations?: Readonly<Record<string, string>> } {
  const { name, uid } = owner.metadata;
  if (!canRefer(owner, childNamespace, isSameCluster)) {
    return { annotations: { [OWNER_ANNOTATION]: `${kindId(kind)} ${keyOf(owner)} ${uid}` } };
  }
  const { apiVersion } = kind;
  return {
    ownerReferences: [{ apiVersion, kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true }],
  };
}

/** Whose an object is, seen from `owner`. */
export type Ownership =
  | { readonly type: "ours" }
  | { readonly type: "nobody's" }
  /** `isPredecessor`: it belongs to a deleted object of the owner's name, and will be collected. */
  | { readonly type: "another's"; readonly owner: string; readonly isPredecessor: boolean };

export function ownershipOf(child: KubeObject, kind: Kind, owner: KubeObject): Ownership {
  const annotated = annotatedOwner(child);
  if (ownerUids(child, annotated).includes(owner.metadata.uid)) return { type: "ours" };
  const controller = controllerOf(child);
  if (controller) {
    const isPredecessor = controller.kind === kind.kind && controller.name === owner.metadata.name;
    return { type: "another's", owner: `${controller.kind} ${controller.name}`, isPredecessor };
  }
  if (!annotated) return { type: "nobody's" };
  const isPredecessor = annotated.kind === kindId(kind) && annotated.key === keyOf(owner);
  return { type: "another's", owner: `${annotated.kind} ${annotated.key}`, isPredecessor };
}

/** The key of the object of `kind` that controls this one; undefined where another kind does, or none. */
export function ownerKeyOf(child: KubeObject, kind: Kind): string | undefined {
  const controller = controllerOf(child);
  if (controller?.kind === kind.kind && groupOf(controller.apiVersion) === kind.group) {
    return kind.scope === "Namespaced" ? `${child.metadata.namespace}/${controller.name}` : controller.name;
  }
  const annotated = annotatedOwner(child);
  return annotated?.kind === kindId(kind) ? annotated.key : undefined;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
