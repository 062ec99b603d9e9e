import type { Buffer } from "node:buffer";
import type { Duration } from "../../clock/duration.js";

export interface StoredBody {
  readonly resourceVersion: string;
  readonly body: Buffer;
}

/**
 * Where the bodies of an {@link ExternalInformer} are kept: outside of the process, and allowed to forget. What is there
 * (keys, resourceVersions, uids, indexes) the informer knows itself, so a body that is lost loses no delete and no object.
 *
 * A prefix has one writer at a time: `put` and `delete` reject with `BODY_STORE_TAKEN` where another has claimed it.
 */
export interface BodyStore extends AsyncDisposable {
  get(key: string): Promise<StoredBody | undefined>;
  /** Returns false, changing nothing, where a newer resourceVersion is there. */
  put(key: string, stored: StoredBody): Promise<boolean>;
  delete(key: string): Promise<void>;
}

export interface BodyStoreOptions {
  readonly host?: string;
  readonly port?: number;
  /** Begins every key, so that several may share a server. */
  readonly prefix: string;
  /** Tells this process from others that may want the same prefix. */
  readonly writer: string;
  /** After so long without a write another writer may take the prefix. Defaults to 30 s. */
  readonly claim?: Duration;
  /** How long one command may take. Defaults to 5 s. */
  readonly timeout?: Duration;
}

export const DEFAULT_CLAIM_MS = 30_000;
