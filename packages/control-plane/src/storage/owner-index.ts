import type { OwnerReference } from "setpoint/kinds";
import type { Change, StoredObject } from "./storage.js";

const OWNER_REFERENCES = Buffer.from('"ownerReferences"');

/** Which published objects name which uid as an owner. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Set<StoredObject>>();

  /** One of its own with the same entries. */
  copy(): OwnerIndex {
    const copy = new OwnerIndex();
    for (const [uid, dependents] of this.#dependents) copy.#dependents.set(uid, new Set(dependents));
    return copy;
  }

  restore(stored: StoredObject): void {
    this.#add(stored, ownersOf(stored));
  }

  publish({ type, current, previous }: Change): void {
    if (previous) this.#remove(previous);
    // It was just made from an object, which is still there.
    if (type !== "deleted") this.#add(current, current.object.metadata.ownerReferences ?? []);
  }

  /** As they are now: later changes do not disturb an iteration. */
  dependents(uid: string): Iterable<StoredObject> {
    return [...(this.#dependents.get(uid) ?? [])];
  }

  #add(stored: StoredObject, owners: readonly OwnerReference[]): void {
    for (const { uid } of owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents) dependents.add(stored);
      else this.#dependents.set(uid, new Set([stored]));
    }
  }

  #remove(stored: StoredObject): void {
    for (const { uid } of ownersOf(stored)) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(stored);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
  }
}

/** Most objects have no owner, and their bytes show it without a parse: this keeps the start fast. */
function ownersOf(stored: StoredObject): readonly OwnerReference[] {
  const { buffer, byteOffset, byteLength } = stored.json;
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(OWNER_REFERENCES)) return [];
  return stored.object.metadata.ownerReferences ?? [];
}
