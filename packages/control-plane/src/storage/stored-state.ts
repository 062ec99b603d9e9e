import type { KubeObject } from "setpoint";
import type { StoredObject } from "./storage.js";

/** One state of one object, in one or both of its forms; the missing one is made at first use. */
export class StoredState implements StoredObject {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  #object: KubeObject | undefined;
  #json: Uint8Array | undefined;

  private constructor(resource: string, key: string, revision: number) {
    this.resource = resource;
    this.key = key;
    this.revision = revision;
  }

  /** Takes the object over, stamps it with `revision` and freezes it. */
  static of(resource: string, key: string, revision: number, object: KubeObject): StoredState {
    const state = new StoredState(resource, key, revision);
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    state.#object = deepFreeze({ ...object, metadata });
    return state;
  }

  /** A state read back from the journal. */
  static parse(resource: string, key: string, revision: number, json: Uint8Array): StoredState {
    const state = new StoredState(resource, key, revision);
    state.#json = json;
    return state;
  }

  get object(): KubeObject {
    return (this.#object ??= deepFreeze(JSON.parse(textOf(this.json)) as KubeObject));
  }

  get json(): Uint8Array {
    return (this.#json ??= Buffer.from(JSON.stringify(this.#object)));
  }

  /** A superseded state is rarely read again: keeps the bytes alone. */
  release(): void {
    if (this.#json) this.#object = undefined;
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Freezes plain JSON data all through; what is frozen already was frozen by this and is not entered again. */
function deepFreeze<Data>(data: Data): Data {
  if (typeof data !== "object" || data === null || Object.isFrozen(data)) return data;
  Object.freeze(data);
  if (Array.isArray(data)) for (const item of data) deepFreeze(item);
  else for (const key in data) deepFreeze(data[key]);
  return data;
}
