import type { KubeObject } from "setpoint";
import type { OwnerIndex } from "./owner-index.js";
import type { SortedMap } from "./sorted-map.js";

/**
 * Where objects live: memory is primary, a journal makes it durable. One writer, the event loop; one revision counter
 * over all resources.
 *
 * A write is checked against the head (what was accepted), and published (seen by reads and watches) only once it is
 * durable, in revision order. So nothing that a client saw is ever lost, and a revision is never given out twice.
 */
export interface Storage extends AsyncDisposable {
  /** The newest published revision. Survives restarts and only grows. */
  readonly revision: number;
  /** Changes at or below this revision are forgotten: a watch or an exact list from before it gets `expired`. */
  readonly compactedRevision: number;

  /** The published state of one object. `resource` is `group/plural` (`/pods` for the core group). */
  get(resource: string, key: string): StoredObject | undefined;
  /** The accepted state, durable or not: what a write must be computed from. */
  head(resource: string, key: string): StoredObject | undefined;
  /**
   * One consistent published state of a resource in key order, at `revision` (default: the newest). Undefined where
   * that revision is compacted. Cheap: copy-on-write, nothing is copied.
   */
  snapshot(resource: string, revision?: number): Snapshot | undefined;

  /**
   * Accepts a write. Throws `StorageConflict` at once, and changes nothing, where the head is no longer
   * `write.expected`, and likewise `StorageTooLarge` where it has more than `write.maxBytes`. Resolves when the write is
   * durable and published; rejects (journal failure, disk full) with the write undone.
   */
  commit(write: Write): Promise<StoredObject>;

  /**
   * The published changes of a resource after `fromRevision`, first those remembered (before this returns), then those
   * to come, in order. `StorageExpired` where `fromRevision` is compacted. A subscriber that falls further
   * behind than the storage's limit is ended with `overflow`.
   */
  subscribe(resource: string, fromRevision: number, subscriber: Subscriber): Disposable;

  /** Resolves when `revision` is published; rejects when `signal` is aborted. */
  reached(revision: number, signal?: AbortSignal): Promise<void>;
  /** Objects with an owner reference to `uid`, over all resources. */
  dependents(uid: string): Iterable<StoredObject>;
  /** Forgets changes at or below `revision`. */
  compact(revision: number): void;
  /** The resources that hold at least one object. */
  resources(): Iterable<string>;
  /** All that is published now, to begin another storage with. Cheap: nothing but the index of owners is copied. */
  state(): StorageState;
}

/** One immutable state of a whole storage. A storage that starts from it copies what it writes to. */
export interface StorageState {
  readonly revision: number;
  readonly trees: ReadonlyMap<string, SortedMap<StoredObject>>;
  readonly owners: OwnerIndex;
}

/** One state of one object. Identity is meaningful: `expected` compares it. */
export interface StoredObject {
  readonly resource: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly revision: number;
  /** Frozen, at the storage version, with `metadata.resourceVersion` set to `revision`. */
  readonly object: KubeObject;
  /** The object as compact JSON, encoded once and shared by lists, watches and the journal. */
  readonly json: Uint8Array;
}

export interface Snapshot {
  readonly revision: number;
  readonly size: number;
  get(key: string): StoredObject | undefined;
  /** In key order, from `start` on (inclusive), within a namespace where one is given. */
  entries(options?: { readonly namespace?: string; readonly start?: string }): Iterable<StoredObject>;
}

export interface Write {
  readonly resource: string;
  readonly key: string;
  /** The head that the write was computed from; undefined: the object must not exist. */
  readonly expected: StoredObject | undefined;
  /** The new state (its resourceVersion is set by the storage); undefined deletes. */
  readonly object: KubeObject | undefined;
  /** How many bytes of JSON the new state may have. Left out: any number. */
  readonly maxBytes?: number;
}

export interface Change {
  readonly type: "added" | "modified" | "deleted";
  readonly revision: number;
  /** For a delete: the last state, with the resourceVersion of the delete. */
  readonly current: StoredObject;
  /** The state before; absent for an add. Selectors need it to tell who enters and who leaves. */
  readonly previous?: StoredObject;
}

export interface Subscriber {
  /** All changes published together, in order. Must not throw, must not block. */
  changes(changes: readonly Change[]): void;
  /** How many bytes this subscriber holds unsent; the storage ends it with `overflow` above its limit. */
  backlogBytes?(): number;
  /** The subscription is over and no more changes come. */
  ended(reason: "overflow" | "closed"): void;
}
