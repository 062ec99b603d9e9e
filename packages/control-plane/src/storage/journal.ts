import type { Change, StoredObject } from "./storage.js";

/** Makes a storage durable. A storage without a journal lives as long as its process. */
export interface Journal extends AsyncDisposable {
  /**
   * Returns the kept state. Called once, before any other method. Throws a `StorageFailure` if the journal is
   * damaged.
   */
  restore(): RestoredState;
  /**
   * Resolves once all the changes are on disk. Rejects with a `StorageFailure` if they are not: then either a restart
   * finds none of them, or the journal accepts no more batches. Called with one batch at a time, in revision order.
   */
  append(changes: readonly Change[]): Promise<void>;
  /** Resolves when the storage should take the next batch. Every write that arrives before then joins the batch. */
  gathered?(): Promise<void>;
  /** Folds the changes at or below `revision` into the kept state, in small steps between batches. */
  compact(revision: number): void;
}

export interface RestoredState {
  /** The newest revision that a client may have seen. */
  readonly revision: number;
  readonly compactedRevision: number;
  /** The objects at `compactedRevision`, in any order. */
  readonly objects: Iterable<StoredObject>;
  /** The changes after `compactedRevision`, in revision order. */
  readonly changes: Iterable<RestoredChange>;
}

export interface RestoredChange {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  /** The new state; undefined for a delete. */
  readonly stored: StoredObject | undefined;
}
