import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "setpoint";
import { MemoryStorage, type StorageLimits } from "./memory-storage.js";
import { SqliteJournal } from "./sqlite-journal.js";
import type { Storage, StorageState } from "./storage.js";
import { StorageFailure } from "./storage-error.js";

export interface StorageOptions {
  readonly clock: Clock;
  /** Where the objects are kept; made where it is not there. Undefined: in memory alone. */
  readonly dataDir?: string;
  readonly limits?: Partial<StorageLimits>;
  /** What it begins with. A data directory must be empty then. */
  readonly from?: StorageState;
}

/** The name of the journal in a data directory. */
const JOURNAL_FILE = "journal.db";

/**
 * Opens a storage. Throws a `StorageFailure` with the reason and the cure where the directory is locked by another
 * process, damaged, of another version, not ours to write, or not empty where it is to begin with a state.
 */
export function openStorage({ clock, dataDir, limits, from }: StorageOptions): Storage {
  const options = { clock, ...(limits && { limits }) };
  if (dataDir === undefined) return new MemoryStorage({ ...options, ...(from && { from }) });
  makeFolder(dataDir);
  const journal = new SqliteJournal(join(dataDir, JOURNAL_FILE), clock);
  try {
    if (from) journal.adopt(from);
    return new MemoryStorage({ ...options, journal });
  } catch (error) {
    void journal[Symbol.asyncDispose]();
    throw error;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new StorageFailure("STORAGE_UNREADABLE", `the folder ${path} cannot be made: ${reason}`, { cause: error });
  }
}
