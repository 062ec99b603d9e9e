import type { KubeObject } from "setpoint";
import type { OwnerReference } from "setpoint/kinds";
import type { Change, StoredObject } from "../../storage/storage.js";
import { storageKey } from "../write/write-request.js";
import { changeStored, removeStored, withoutFinalizer, withoutOwners } from "./plane-write.js";
import { type LoopEnvironment, WorkLoop } from "./work-loop.js";

const ACCOUNT = "generic-garbage-collector";
const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

/**
 * Deletes objects whose owners are all gone. Finds dependents by the storage's index of owner uids. An owner that never
 * existed counts as gone. A work key is the resource and the storage key, with a space between them.
 */
export class GarbageCollector implements AsyncDisposable {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (key, signal) => this.#collect(key, signal));
  }

  onChanges(changes: readonly Change[]): void {
    for (const { type, current, previous } of changes) {
      const { metadata } = current.object;
      if (previous !== undefined) this.#addReleased(previous.object, current.object);
      const isRelevant = (metadata.ownerReferences?.length ?? 0) > 0 || hasMark(current.object);
      if (type !== "deleted" && isRelevant) this.#add(current);
      if (type !== "deleted" && metadata.deletionTimestamp === undefined) continue;
      for (const dependent of this.#environment.storage.dependents(metadata.uid)) this.#add(dependent);
      // An owner that waits for this object may now be deleted.
      for (const owner of metadata.ownerReferences ?? []) this.#addOwner(owner, metadata.namespace);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  #add({ resource, key }: StoredObject): void {
    this.#loop.add(`${resource} ${key}`);
  }

  #addOwner(owner: OwnerReference, namespace: string | undefined): void {
    const stored = this.#ownerOf(owner, namespace);
    if (typeof stored === "object" && hasMark(stored.object)) this.#add(stored);
  }

  /** Owners that `previous` blocked and `current` does not may now be deleted. */
  #addReleased(previous: KubeObject, current: KubeObject): void {
    const { ownerReferences = [], namespace } = previous.metadata;
    for (const owner of ownerReferences) {
      if (owner.blockOwnerDeletion === true && !isBlocking(current, owner.uid)) this.#addOwner(owner, namespace);
    }
  }

  /** The owner; `absent` if none has this uid; `unknown` if its kind or namespace is unknown. */
  #ownerOf(owner: OwnerReference, namespace: string | undefined): StoredObject | "absent" | "unknown" {
    const definition = this.#environment.catalog.findKind(owner.apiVersion, owner.kind);
    if (definition === undefined || (definition.namespaced && !namespace)) return "unknown";
    const key = storageKey(definition.namespaced ? namespace! : "", owner.name);
    const stored = this.#environment.storage.get(definition.storageId, key);
    return stored?.object.metadata.uid === owner.uid ? stored : "absent";
  }

  async #collect(workKey: string, signal: AbortSignal): Promise<void> {
    const space = workKey.indexOf(" ");
    const stored = this.#environment.storage.get(workKey.slice(0, space), workKey.slice(space + 1));
    if (stored === undefined) return;
    const { metadata } = stored.object;
    if (metadata.deletionTimestamp !== undefined) {
      if (metadata.finalizers?.includes(ORPHAN)) await this.#orphan(stored, signal);
      else if (metadata.finalizers?.includes(FOREGROUND)) await this.#awaitDependents(stored, signal);
      return;
    }
    await this.#judge(stored, signal);
  }

  /** Keeps the object if an owner stays, and deletes it if all owners are gone. */
  async #judge(stored: StoredObject, signal: AbortSignal): Promise<void> {
    const { ownerReferences = [], namespace, finalizers = [], uid } = stored.object.metadata;
    if (ownerReferences.length === 0) return;
    const owners = ownerReferences.map((owner) => ({ owner, found: this.#ownerOf(owner, namespace) }));
    if (owners.some(({ found }) => found === "unknown")) return;
    const isWaiting = (found: StoredObject | "absent" | "unknown"): boolean =>
      typeof found === "object" && isDeletingDependents(found.object);
    const gone = owners.filter(({ found }) => found === "absent");
    const waiting = owners.filter(({ found }) => isWaiting(found));
    if (gone.length === 0 && waiting.length === 0) return;
    if (gone.length + waiting.length < owners.length) {
      const dropped = new Set([...gone, ...waiting].map(({ owner }) => owner.uid));
      await changeStored(this.#environment, stored, ACCOUNT, signal, (object) =>
        withoutOwners(object, (owner) => dropped.has(owner.uid)),
      );
      return;
    }
    const dependents = [...this.#environment.storage.dependents(uid)];
    const isForeground = waiting.length > 0 && dependents.length > 0;
    if (isForeground && dependents.some(({ object }) => isDeletingDependents(object))) {
      // Like the real collector, treat a dependent that waits for this object as an owner further up. In a cycle one
      // object must stop blocking its owner, or all of them wait for each other.
      await changeStored(this.#environment, stored, ACCOUNT, signal, withoutBlocking);
    }
    const policy = finalizers.includes(ORPHAN)
      ? "Orphan"
      : isForeground || finalizers.includes(FOREGROUND)
        ? "Foreground"
        : "Background";
    await removeStored(this.#environment, stored, ACCOUNT, policy, signal);
  }

  /** Removes the owner reference from the dependents, then the finalizer from the owner. */
  async #orphan(owner: StoredObject, signal: AbortSignal): Promise<void> {
    const { uid } = owner.object.metadata;
    for (const dependent of [...this.#environment.storage.dependents(uid)]) {
      await changeStored(this.#environment, dependent, ACCOUNT, signal, (object) =>
        withoutOwners(object, (reference) => reference.uid === uid),
      );
    }
    await changeStored(this.#environment, owner, ACCOUNT, signal, (object) => withoutFinalizer(object, ORPHAN));
  }

  /**
   * In foreground deletion an owner is removed once its blocking dependents are gone. This does not queue the
   * dependents: they were queued when the owner was marked. Otherwise two objects that wait for each other would queue
   * each other forever.
   */
  async #awaitDependents(owner: StoredObject, signal: AbortSignal): Promise<void> {
    const { uid } = owner.object.metadata;
    for (const { object } of this.#environment.storage.dependents(uid)) if (isBlocking(object, uid)) return;
    await changeStored(this.#environment, owner, ACCOUNT, signal, (object) => withoutFinalizer(object, FOREGROUND));
  }
}

function isBlocking({ metadata }: KubeObject, ownerUid: string): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true,
  );
}

function withoutBlocking(object: KubeObject): KubeObject {
  const ownerReferences = object.metadata.ownerReferences?.map((owner) =>
    owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner,
  );
  return { ...object, metadata: { ...object.metadata, ...(ownerReferences && { ownerReferences }) } };
}

function hasMark({ metadata }: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && (finalizers.includes(ORPHAN) || finalizers.includes(FOREGROUND));
}

function isDeletingDependents({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND);
}
