import type { KubeObject } from "setpoint";
import type { StoredObject } from "./storage.js";

/** One state of one object: its bytes, and the object itself, made of them at first use where it was not given. */
export class StoredState implements StoredObject {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly json: Uint8Array;
  #object: KubeObject | undefined;

  private constructor(resource: string, key: string, revision: number, json: Uint8Array, object?: KubeObject) {
    this.resource = resource;
    this.key = key;
    this.revision = revision;
    this.json = json;
    this.#object = object;
  }

  /** Takes the object over, stamps it with `revision` and freezes it. */
  static of(resource: string, key: string, revision: number, object: KubeObject): StoredState {
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    const stamped = { ...object, metadata };
    // Encoded before it is frozen, which is quicker.
    const json = Buffer.from(JSON.stringify(stamped));
    return new StoredState(resource, key, revision, json, deepFreeze(stamped));
  }

  /** A state read back from the journal. */
  static parse(resource: string, key: string, revision: number, json: Uint8Array): StoredState {
    return new StoredState(resource, key, revision, json);
  }

  get object(): KubeObject {
    return (this.#object ??= deepFreeze(JSON.parse(textOf(this.json)) as KubeObject));
  }

  /** A superseded state is rarely read again: keeps the bytes alone. */
  release(): void {
    this.#object = undefined;
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
