import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "setpoint/clock";
import { MemoryStorage, type StorageLimits } from "./memory-storage.js";
import { isOpen, makePrivate, tightenMode } from "./private-file.js";
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
  /** Told where others can look into the data directory. */
  readonly warn?: (message: string) => void;
}

/** The name of the journal in a data directory. */
const JOURNAL_FILE = "journal.db";

/**
 * Opens a storage. Throws a `StorageFailure` with the reason and the cure where the directory is locked by another
 * process, damaged, of another version, not ours to write, or not empty where it is to begin with a state.
 */
export function openStorage({ clock, dataDir, limits, from, warn }: StorageOptions): Storage {
  const options = { clock, ...(limits && { limits }) };
  if (dataDir === undefined) return new MemoryStorage({ ...options, ...(from && { from }) });
  makeFolder(dataDir);
  if (isOpen(statSync(dataDir).mode)) {
    warn?.(`${dataDir} is readable for other users, although its files are not: chmod 700 ${dataDir}`);
  }
  const path = join(dataDir, JOURNAL_FILE);
  keepPrivate(path);
  const journal = new SqliteJournal(path, clock);
  try {
    if (from) journal.adopt(from);
    return new MemoryStorage({ ...options, journal });
  } catch (error) {
    void journal[Symbol.asyncDispose]();
    throw error;
  }
}

/** SQLite gives its log and its index the mode of the file. Those that are there already are made private as well. */
function keepPrivate(path: string): void {
  try {
    makePrivate(path);
    for (const suffix of ["-wal", "-shm"]) tightenMode(`${path}${suffix}`);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    const cure = "it must be a file of this user, not a link";
    throw new StorageFailure("STORAGE_UNREADABLE", `${path} cannot be made private: ${reason}; ${cure}`, {
      cause: error,
    });
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new StorageFailure("STORAGE_UNREADABLE", `cannot create the folder ${path}: ${reason}`, { cause: error });
  }
}
