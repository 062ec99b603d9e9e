import type { Kind, KubeObject } from "setpoint";
import { formatLabelSelector, type LabelSelector, labelMatcher, type OwnerReference } from "setpoint/kinds";

/** The index of children by the uid of their controller. */
export const BY_CONTROLLER = "controller";
/** The index of objects that no controller has, by namespace and label: where adoptions are found. */
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

/** Where among {@link ORPHANS} the objects are that a selector can match. */
export function orphanPlace(namespace: string, { matchLabels = {} }: LabelSelector): string {
  const first = Object.entries(matchLabels)[0];
  return first ? `${namespace}/${first[0]}=${first[1]}` : `${namespace}/`;
}

export function controllerOf({ ownerReferences }: KubeObject["metadata"]): OwnerReference | undefined {
  return ownerReferences?.find(({ controller }) => controller);
}

/** What an owner reference tells of a kind. */
type OwnerKind = Pick<Kind, "apiVersion" | "kind">;

/** The reference that makes `owner` the controller of an object. */
export function controllerReference(kind: OwnerKind, { metadata: { name, uid } }: KubeObject): OwnerReference {
  return { apiVersion: kind.apiVersion, kind: kind.kind, name, uid, blockOwnerDeletion: true, controller: true };
}

export interface Claims<T> {
  /** What is the owner's and matches its selector. */
  readonly kept: readonly T[];
  /** Orphans that the selector matches: the owner adopts them. */
  readonly adopted: readonly T[];
  /** What is the owner's, and no longer matches: is let go. */
  readonly released: readonly T[];
}

/** Sorts out whose objects are. An owner that is being deleted takes in nothing and lets nothing go. */
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

/** A selector that selects everything counts as none. */
export function isEmpty(selector: LabelSelector): boolean {
  return formatLabelSelector(selector) === "";
}

/** The patch that makes an object the owner's, unless another has its name by now. */
export function adoption(kind: OwnerKind, owner: KubeObject, object: KubeObject) {
  const { uid } = object.metadata;
  return {
    type: "strategic",
    body: { metadata: { uid, ownerReferences: [{ ...controllerReference(kind, owner) }] } },
  } as const;
}

/** The patch that lets an object go. */
export function release(owner: KubeObject, object: KubeObject) {
  const { uid } = object.metadata;
  return {
    type: "strategic",
    body: { metadata: { uid, ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }] } },
  } as const;
}
