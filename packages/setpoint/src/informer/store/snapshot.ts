import type { Buffer } from "node:buffer";
import type { KubeObject } from "../../kinds/object.js";
import type { Slot, Store } from "./store.js";

/**
 * One version of an object, parsed on first read. While the store still has that version, the snapshot costs only
 * itself; before the store overwrites the version, it passes the bytes to the snapshot.
 */
export class Snapshot<T extends KubeObject = KubeObject> {
  readonly resourceVersion: string;
  readonly #store: Store<T>;
  #slot: Slot;
  #body: Buffer | undefined;
  #managedFields: string | undefined;
  #object: T | undefined;

  constructor(store: Store<T>, slot: Slot, resourceVersion: string) {
    this.#store = store;
    this.#slot = slot;
    this.resourceVersion = resourceVersion;
  }

  get object(): T {
    if (this.#object) return this.#object;
    this.#object = this.#body
      ? this.#store.parse(this.#body.toString("utf8"), this.#managedFields)
      : this.#store.read(this.#slot);
    this.#body = undefined;
    return this.#object;
  }

  /** Whether it no longer needs the store. */
  get isParsed(): boolean {
    return this.#object !== undefined;
  }

  /** Called by the store before it overwrites the slot, if it has the parsed object. */
  keep(object: T): void {
    this.#slot = -1;
    this.#object ??= object;
  }

  /** The same with the bytes of the object. */
  detach(body: Buffer, managedFields: string | undefined): void {
    this.#slot = -1;
    this.#body = body;
    this.#managedFields = managedFields;
  }
}
