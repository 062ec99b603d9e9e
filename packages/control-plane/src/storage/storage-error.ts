import { SetpointError } from "setpoint";
import type { StoredObject } from "./storage.js";

/** The object changed after the write was computed. Nothing was written. */
export class StorageConflict extends SetpointError<"STORAGE_CONFLICT"> {
  override readonly name = "StorageConflict";
  /** The accepted state now; undefined if the object is gone. */
  readonly head: StoredObject | undefined;

  constructor(resource: string, key: string, head: StoredObject | undefined) {
    super("STORAGE_CONFLICT", `${resource} ${key} has changed since it was read`);
    this.head = head;
  }
}

/** The object is larger than the write allows. Nothing was written. */
export class StorageTooLarge extends SetpointError<"STORAGE_TOO_LARGE"> {
  override readonly name = "StorageTooLarge";

  constructor(resource: string, key: string, bytes: number, maxBytes: number) {
    super("STORAGE_TOO_LARGE", `${resource} ${key} has ${bytes} bytes, and may have ${maxBytes}`);
  }
}

/** The storage no longer remembers the changes after the requested revision. */
export class StorageExpired extends SetpointError<"STORAGE_EXPIRED"> {
  override readonly name = "StorageExpired";
  readonly requested: number;
  readonly compacted: number;

  constructor(requested: number, compacted: number) {
    super("STORAGE_EXPIRED", `revision ${requested} is compacted; the oldest one kept is ${compacted}`);
    this.requested = requested;
    this.compacted = compacted;
  }
}

export type StorageFailureCode =
  | "STORAGE_CLOSED"
  | "STORAGE_DAMAGED"
  | "STORAGE_DISK_FULL"
  | "STORAGE_FAILED"
  | "STORAGE_LOCKED"
  | "STORAGE_NOT_EMPTY"
  | "STORAGE_UNREADABLE"
  | "STORAGE_VERSION";

/** The storage cannot start, or could not make a write durable. It has undone such a write. */
export class StorageFailure extends SetpointError<StorageFailureCode> {
  override readonly name = "StorageFailure";
}
