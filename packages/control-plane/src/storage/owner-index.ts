import type { OwnerReference } from "setpoint/kinds";
import type { Change, StoredObject } from "./storage.js";

const OWNER_REFERENCES = Buffer.from('"ownerReferences"');

/** Maps an owner uid to the published objects that reference it. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Set<StoredObject>>();

  /** An independent copy with the same entries. */
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
    // `current` was just made from an object, so reading `object` does not parse.
    if (type !== "deleted") this.#add(current, current.object.metadata.ownerReferences ?? []);
  }

  /** Returns a copy, so later changes do not disturb an iteration. */
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

/** Most objects have no owner. Searching the bytes avoids parsing them, which keeps startup fast. */
function ownersOf(stored: StoredObject): readonly OwnerReference[] {
  const { buffer, byteOffset, byteLength } = stored.json;
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(OWNER_REFERENCES)) return [];
  return stored.object.metadata.ownerReferences ?? [];
}
