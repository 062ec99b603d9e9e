import type { Change, StoredObject } from "./storage.js";

/** What makes a storage durable. Without one it lives as long as its process. */
export interface Journal extends AsyncDisposable {
  /** What was kept; called once, before anything else. Throws a `StorageFailure` where it is damaged. */
  restore(): RestoredState;
  /**
   * Resolves once the changes are on disk, all of them. Rejects with a `StorageFailure` where they are not; none of
   * them is there after a restart then, or the journal takes no more. Called with one batch at a time, in revision order.
   */
  append(changes: readonly Change[]): Promise<void>;
  /** Resolves when the next batch is to be taken up: all that has come in until then goes with it. */
  gathered?(): Promise<void>;
  /** Folds the changes at or below `revision` into the kept state, bit by bit, between the batches. */
  compact(revision: number): void;
}

export interface RestoredState {
  /** The newest revision that may have been given out. */
  readonly revision: number;
  readonly compactedRevision: number;
  /** The objects as they stood at `compactedRevision`, in any order. */
  readonly objects: Iterable<StoredObject>;
  /** What came after it, in revision order. */
  readonly changes: Iterable<RestoredChange>;
}

export interface RestoredChange {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  /** The new state; undefined for a delete. */
  readonly stored: StoredObject | undefined;
}
