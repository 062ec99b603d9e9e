import type { KubeObject } from "setpoint";
import type { StoredObject } from "./storage.js";

/** One state of one object: its bytes, and the object, which is parsed from them at first use if it was not given. */
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

  /** Takes ownership of the object, stamps it with `revision` and freezes it. */
  static of(resource: string, key: string, revision: number, object: KubeObject): StoredState {
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    const stamped = { ...object, metadata };
    // Encode before freezing, which is faster.
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

  /** Keeps only the bytes, because a superseded state is rarely read again. */
  release(): void {
    this.#object = undefined;
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Freezes plain JSON data deeply. Skips frozen data: this function froze it. */
function deepFreeze<Data>(data: Data): Data {
  if (typeof data !== "object" || data === null || Object.isFrozen(data)) return data;
  Object.freeze(data);
  if (Array.isArray(data)) for (const item of data) deepFreeze(item);
  else for (const key in data) deepFreeze(data[key]);
  return data;
}
