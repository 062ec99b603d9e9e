import type { Buffer } from "node:buffer";
import type { Duration } from "../../clock/duration.js";

export interface StoredBody {
  readonly resourceVersion: string;
  readonly body: Buffer;
}

/**
 * Stores the bodies of an {@link ExternalInformer} outside the process; it may lose them. The informer itself has keys,
 * resourceVersions, uids and indexes, so a lost body loses no delete and no object.
 *
 * A prefix has one writer at a time: `put` and `delete` reject with `BODY_STORE_TAKEN` if another writer has claimed
 * it.
 */
export interface BodyStore extends AsyncDisposable {
  get(key: string): Promise<StoredBody | undefined>;
  /** Returns false and changes nothing if the store has a newer resourceVersion. */
  put(key: string, stored: StoredBody): Promise<boolean>;
  delete(key: string): Promise<void>;
}

export interface BodyStoreOptions {
  readonly host?: string;
  readonly port?: number;
  /** The prefix of every key, so that several informers may share a server. */
  readonly prefix: string;
  /** Identifies this process among writers of the same prefix. */
  readonly writer: string;
  /** After this long without a write, another writer may take the prefix. Defaults to 30 s. */
  readonly claim?: Duration;
  /** How long one command may take. Defaults to 5 s. */
  readonly timeout?: Duration;
}

export const DEFAULT_CLAIM_MS = 30_000;
