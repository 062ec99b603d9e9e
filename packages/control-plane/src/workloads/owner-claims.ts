import type { Kind, KubeObject } from "setpoint";
import { formatLabelSelector, type LabelSelector, labelMatcher, type OwnerReference } from "setpoint/kinds";

/** Index of objects by the uid of their controller. */
export const BY_CONTROLLER = "controller";
/** Index of objects without a controller by namespace and label, to find orphans to adopt. */
export const ORPHANS = "orphans";

/** Both indexes, for `scoped`. */
export const CLAIM_INDEXES = { [BY_CONTROLLER]: controllerUids, [ORPHANS]: orphanLabels } as const;

function controllerUids({ metadata }: KubeObject): readonly string[] {
  const uid = controllerOf(metadata)?.uid;
  return uid === undefined ? [] : [uid];
}

function orphanLabels({ metadata }: KubeObject): readonly string[] {
  if (controllerOf(metadata)) return [];
  const { namespace = "", labels = {} } = metadata;
  return [`${namespace}/`, ...Object.entries(labels).map(([key, value]) => `${namespace}/${key}=${value}`)];
}

/** The key in {@link ORPHANS} under which the objects are that a selector can match. */
export function orphanPlace(namespace: string, { matchLabels = {} }: LabelSelector): string {
  const first = Object.entries(matchLabels)[0];
  return first ? `${namespace}/${first[0]}=${first[1]}` : `${namespace}/`;
}

export function controllerOf({ ownerReferences }: KubeObject["metadata"]): OwnerReference | undefined {
  return ownerReferences?.find(({ controller }) => controller);
}

/** The part of a kind that an owner reference contains. */
type OwnerKind = Pick<Kind, "apiVersion" | "kind">;

/** The owner reference that makes `owner` the controller of an object. */
export function controllerReference(kind: OwnerKind, { metadata: { name, uid } }: KubeObject): OwnerReference {
  return { apiVersion: kind.apiVersion, kind: kind.kind, name, uid, blockOwnerDeletion: true, controller: true };
}

export interface Claims<T> {
  /** The owner's objects that match its selector. */
  readonly kept: readonly T[];
  /** Orphans that match the selector. The owner adopts them. */
  readonly adopted: readonly T[];
  /** The owner's objects that no longer match. The owner releases them. */
  readonly released: readonly T[];
}

/** Sorts objects by what the owner does with them. An owner that is being deleted adopts and releases nothing. */
export function claims<T extends KubeObject>(
  owner: KubeObject,
  selector: LabelSelector,
  objects: readonly T[],
): Claims<T> {
  const kept: T[] = [];
  const adopted: T[] = [];
  const released: T[] = [];
  const isLeaving = owner.metadata.deletionTimestamp !== undefined;
  const selects = isEmpty(selector) ? () => false : labelMatcher(selector);
  for (const object of objects) {
    const controller = controllerOf(object.metadata);
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (selects(object.metadata.labels)) kept.push(object);
      else if (!isLeaving) released.push(object);
    } else if (!isLeaving && !object.metadata.deletionTimestamp && selects(object.metadata.labels)) {
      adopted.push(object);
    }
  }
  return { kept, adopted, released };
}

/** Whether a selector is empty, which selects nothing here. */
export function isEmpty(selector: LabelSelector): boolean {
  return formatLabelSelector(selector) === "";
}

/** The patch that makes `owner` the controller. The uid guards against a new object with the same name. */
export function adoption(kind: OwnerKind, owner: KubeObject, object: KubeObject) {
  const { uid } = object.metadata;
  return {
    type: "strategic",
    body: { metadata: { uid, ownerReferences: [{ ...controllerReference(kind, owner) }] } },
  } as const;
}

/** The patch that releases an object. */
export function release(owner: KubeObject, object: KubeObject) {
  const { uid } = object.metadata;
  return {
    type: "strategic",
    body: { metadata: { uid, ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }] } },
  } as const;
}
