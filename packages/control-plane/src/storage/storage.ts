import type { KubeObject } from "setpoint";
import type { OwnerIndex } from "./owner-index.js";
import type { SortedMap } from "./sorted-map.js";

/**
 * Stores objects: memory is primary, a journal makes it durable. The event loop is the only writer, and one revision
 * counter covers all resources.
 *
 * The storage checks a write against the head (the accepted state). It publishes the write (to reads and watches)
 * only once it is durable, in revision order. So the storage never loses anything that a client saw, and never gives
 * out a revision twice.
 */
export interface Storage extends AsyncDisposable {
  /** The newest published revision. Survives restarts and only grows. */
  readonly revision: number;
  /** The storage has forgotten the changes at or below this revision: an older watch or exact list gets `expired`. */
  readonly compactedRevision: number;

  /** The published state of one object. `resource` is `group/plural` (`/pods` for the core group). */
  get(resource: string, key: string): StoredObject | undefined;
  /** The accepted state, durable or not. Compute a write from this. */
  head(resource: string, key: string): StoredObject | undefined;
  /**
   * One consistent published state of a resource in key order, at `revision` (default: the newest). Undefined if that
   * revision is compacted. Cheap, because it is copy-on-write.
   */
  snapshot(resource: string, revision?: number): Snapshot | undefined;

  /**
   * Accepts a write. Throws `StorageConflict` at once, without any change, if the head is no longer `write.expected`,
   * and `StorageTooLarge` if the object has more than `write.maxBytes`. Resolves when the write is durable and
   * published. Rejects after undoing the write if the journal fails (such as on a full disk).
   */
  commit(write: Write): Promise<StoredObject>;

  /**
   * Delivers the published changes of a resource after `fromRevision` in order: first the remembered ones (before
   * this method returns), then new ones. Throws `StorageExpired` if `fromRevision` is compacted. A subscriber whose
   * backlog exceeds the storage's limit is ended with `overflow`.
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
  /** Everything published now, as the initial state of another storage. Cheap: only the owner index is copied. */
  state(): StorageState;
}

/** One immutable state of a whole storage. A storage that starts from it copies a node before it writes to it. */
export interface StorageState {
  readonly revision: number;
  readonly trees: ReadonlyMap<string, SortedMap<StoredObject>>;
  readonly owners: OwnerIndex;
}

/** One state of one object. `expected` compares it by identity. */
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
  /** Yields objects in key order, from `start` on (inclusive), of one namespace if given. */
  entries(options?: { readonly namespace?: string; readonly start?: string }): Iterable<StoredObject>;
}

export interface Write {
  readonly resource: string;
  readonly key: string;
  /** The head that the write was computed from. Undefined: the object must not exist. */
  readonly expected: StoredObject | undefined;
  /** The new state; the storage sets its resourceVersion. Undefined deletes the object. */
  readonly object: KubeObject | undefined;
  /** The maximum JSON size of the new state in bytes. Undefined: unlimited. */
  readonly maxBytes?: number;
}

export interface Change {
  readonly type: "added" | "modified" | "deleted";
  readonly revision: number;
  /** For a delete: the last state, with the resourceVersion of the delete. */
  readonly current: StoredObject;
  /** The previous state; absent for an add. Selectors need it to tell which objects start or stop matching. */
  readonly previous?: StoredObject;
}

export interface Subscriber {
  /** All changes published together, in order. Must not throw, must not block. */
  changes(changes: readonly Change[]): void;
  /** How many unsent bytes this subscriber holds. Above its limit, the storage ends the subscriber with `overflow`. */
  backlogBytes?(): number;
  /** The subscription is over; no more changes follow. */
  ended(reason: "overflow" | "closed"): void;
}
