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
  /** The data directory, created if missing. Undefined keeps objects in memory only. */
  readonly dataDir?: string;
  readonly limits?: Partial<StorageLimits>;
  /** The initial state. Requires an empty data directory. */
  readonly from?: StorageState;
  /** Called with a warning when other users can read the data directory. */
  readonly warn?: (message: string) => void;
}

/** The journal's file name in the data directory. */
const JOURNAL_FILE = "journal.db";

/**
 * Opens a storage. Throws a `StorageFailure` with the reason and the cure if another process locks the directory, if
 * the directory is damaged, of another version or not writable, or if it is not empty and `from` is given.
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

/** SQLite gives new -wal and -shm files the mode of the database file. Existing ones need their mode tightened too. */
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
