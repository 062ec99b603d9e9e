import type { ResourceCatalog } from "../../kinds/catalog.js";
import type { Change, Storage } from "../../storage/storage.js";

export type ChangeListener = (changes: readonly Change[]) => void;

/**
 * Changes of every resource, including those of CRDs added later. Objects that exist at the start arrive first as
 * added, so that the loops resume work that an earlier process left.
 */
export class ChangeFeed implements Disposable {
  readonly #storage: Storage;
  readonly #catalog: ResourceCatalog;
  readonly #listeners: readonly ChangeListener[];
  readonly #subscriptions = new Map<string, Disposable>();
  #generation = 0;

  constructor(storage: Storage, catalog: ResourceCatalog, listeners: readonly ChangeListener[]) {
    this.#storage = storage;
    this.#catalog = catalog;
    this.#listeners = listeners;
    this.#follow();
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions.values()) subscription[Symbol.dispose]();
    this.#subscriptions.clear();
  }

  #follow(): void {
    if (this.#generation === this.#catalog.generation) return;
    this.#generation = this.#catalog.generation;
    const served = new Set([...this.#catalog.definitions()].map(({ storageId }) => storageId));
    for (const resource of served) if (!this.#subscriptions.has(resource)) this.#subscribe(resource);
  }

  #subscribe(resource: string): void {
    const snapshot = this.#storage.snapshot(resource)!;
    const present = [...snapshot.entries()].map(
      (current): Change => ({ type: "added", revision: current.revision, current }),
    );
    if (present.length > 0) this.#tell(present);
    const subscription = this.#storage.subscribe(resource, snapshot.revision, {
      changes: (changes) => {
        this.#tell(changes);
        // An earlier subscriber may have installed a CRD because of this change.
        this.#follow();
      },
      ended: () => this.#subscriptions.delete(resource),
    });
    this.#subscriptions.set(resource, subscription);
  }

  #tell(changes: readonly Change[]): void {
    for (const listener of this.#listeners) listener(changes);
  }
}
