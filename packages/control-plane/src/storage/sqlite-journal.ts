import { closeSync, fdatasync, fdatasyncSync, fstatSync, openSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Database, openDatabase, type Row, SqliteError, type Statement } from "@setpoint/sqlite";
import { afterInput, type Clock } from "setpoint/clock";
import type { Journal, RestoredChange, RestoredState } from "./journal.js";
import { decodeBatch, encodeBatch, type JournalRecord } from "./journal-batch.js";
import { damaged, failureToOpen, failureToWrite } from "./journal-failure.js";
import type { Change, StorageState, StoredObject } from "./storage.js";
import { StorageFailure } from "./storage-error.js";
import { StoredState } from "./stored-state.js";

/** "SPNT": distinguishes a Setpoint journal from any other SQLite database. */
const APPLICATION_ID = 0x53504e54;
/** Increases when the tables change. Setpoint refuses a newer version and would migrate an older one here. */
const FORMAT_VERSION = 1;

/** The size of about a thousand pages in the log. At that size SQLite checkpoints them and restarts the log. */
const LOG_BYTES = 1100 * (4096 + 24);

const FILL_AFTER_MS = 500;

/** About how many changes one compaction step folds: a few milliseconds. Batches are written between the steps. */
const FOLD_CHANGES = 200;
const FOLD_PAUSE_MS = 5;

/**
 * `batch` is the journal, one row per transaction. `object` is the state just before the first row of `batch`.
 * Compaction folds the oldest batches into `object` and removes them.
 */
const SCHEMA = `
  CREATE TABLE meta (compacted INTEGER NOT NULL, starts INTEGER NOT NULL);
  INSERT INTO meta VALUES (0, 0);
  CREATE TABLE object (
    resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, json BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (resource, key)
  );
  CREATE TABLE batch (
    last INTEGER PRIMARY KEY, changes BLOB NOT NULL, checksum INTEGER NOT NULL
  );
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT_VERSION};
`;

/**
 * A journal in a SQLite file, locked for this process.
 *
 * A batch is one transaction in the write-ahead log. SQLite does not sync it (`synchronous = NORMAL` syncs only at
 * checkpoints). This class syncs the log instead, on libuv's threads, so reads and further writes continue while the
 * disk works. Only then are the changes durable.
 */
export class SqliteJournal implements Journal {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #database: Database;
  readonly #statements: Statements;
  /** Only for syncing. Never open the database file itself beside SQLite: closing it would release SQLite's lock. */
  readonly #log: number;
  /** All changes up to this revision are folded. */
  #compacted = 0;
  #compactUntil = 0;
  #foldTimer: Disposable | undefined;
  readonly #fillTimer: Disposable;
  /** Set when a sync failed. The content of the file is then unknown, so the journal accepts no more batches. */
  #failure: StorageFailure | undefined;
  #isClosed = false;

  /** Throws a `StorageFailure` that says what is wrong with the file and what to do. */
  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    let database: Database | undefined;
    try {
      database = openDatabase(path);
      prepareFile(database, path);
      this.#statements = prepareStatements(database);
      this.#log = openSync(`${path}-wal`, "r+");
      this.#database = database;
      // Delayed, so that startup does not wait for it and a short-lived process skips it.
      this.#fillTimer = clock.timer(FILL_AFTER_MS, () => fillLog(this.#log)).unref();
    } catch (error) {
      database?.close();
      throw failureToOpen(path, error);
    }
  }

  /**
   * Begins with this state, which is on disk when the method returns. Call it before `restore` or not at all. Throws
   * a `StorageFailure` if the journal already holds anything.
   */
  adopt({ revision, trees }: StorageState): void {
    const { isUsed } = this.#database
      .prepare("SELECT EXISTS (SELECT 1 FROM object) OR EXISTS (SELECT 1 FROM batch) AS isUsed")
      .get() as Row;
    if (isUsed) {
      const text = `${this.#path} has objects already: restore a snapshot only into an empty folder`;
      throw new StorageFailure("STORAGE_NOT_EMPTY", text);
    }
    try {
      this.#database.transaction(() => {
        for (const tree of trees.values()) for (const [, stored] of tree.from()) this.#foldOne(stored);
        this.#statements.mark.run(revision);
      });
      fdatasyncSync(this.#log);
    } catch (error) {
      throw failureToWrite(this.#path, error);
    }
  }

  restore(): RestoredState {
    try {
      const { quick_check } = this.#database.prepare("PRAGMA quick_check(1)").get() as Row;
      if (quick_check !== "ok") throw damaged(this.#path, String(quick_check));
      this.#compacted = Number(this.#statements.compacted.get()?.compacted);
      const newest = this.#database.prepare("SELECT max(last) AS revision FROM batch").get();
      return {
        revision: Math.max(Number(newest?.revision ?? 0), this.#compacted),
        compactedRevision: this.#compacted,
        objects: this.#objects(),
        changes: this.#changes(),
      };
    } catch (error) {
      throw failureToOpen(this.#path, error);
    }
  }

  async append(changes: readonly Change[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    const last = changes.at(-1)!.revision;
    const bytes = encodeBatch(changes);
    try {
      // One statement is its own transaction.
      this.#statements.append.run(last, bytes, batchChecksum(last, bytes));
    } catch (error) {
      throw failureToWrite(this.#path, error);
    }
    try {
      await this.#sync();
    } catch (error) {
      this.#failure = failureToWrite(this.#path, error);
      throw this.#failure;
    }
  }

  /**
   * A batch of ten changes costs as much as a batch of one. So the batch waits until the requests that have already
   * arrived are handled, which is after this turn of the event loop.
   */
  gathered(): Promise<void> {
    return new Promise((resolve) => afterInput(() => afterInput(resolve)));
  }

  compact(revision: number): void {
    this.#compactUntil = Math.max(this.#compactUntil, revision);
    if (this.#compacted < this.#compactUntil) this.#scheduleFold();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#foldTimer?.[Symbol.dispose]();
    this.#fillTimer[Symbol.dispose]();
    closeSync(this.#log);
    // Closing the last connection checkpoints the log and removes it.
    this.#database.close();
  }

  #sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#log, (error) => (error ? reject(error) : resolve()));
    });
  }

  #scheduleFold(): void {
    this.#foldTimer ??= this.#clock
      .timer(FOLD_PAUSE_MS, () => {
        this.#foldTimer = undefined;
        if (this.#fold()) this.#scheduleFold();
      })
      .unref();
  }

  /**
   * Runs one step and returns whether there may be more. Leaves a batch that crosses the line to the next compaction.
   */
  #fold(): boolean {
    const { oldest, forget, mark } = this.#statements;
    try {
      return this.#database.transaction(() => {
        let folded = 0;
        for (const { last, changes } of oldest.all(this.#compactUntil, FOLD_CHANGES)) {
          const newest = new Map<string, JournalRecord>();
          for (const record of decodeBatch(changes as Uint8Array))
            newest.set(`${record.resource} ${record.key}`, record);
          for (const record of newest.values()) this.#foldOne(record);
          this.#compacted = Number(last);
          folded += newest.size;
          if (folded >= FOLD_CHANGES) break;
        }
        forget.run(this.#compacted);
        mark.run(this.#compacted);
        return folded >= FOLD_CHANGES;
      });
    } catch (error) {
      if (!(error instanceof SqliteError)) throw error;
      // Most likely the disk is full. The transaction changed nothing; the next compaction tries again.
      this.#compacted = Number(this.#statements.compacted.get()?.compacted);
      return false;
    }
  }

  #foldOne({ resource, key, revision, json }: JournalRecord): void {
    if (json) this.#statements.put.run(resource, key, revision, json, objectChecksum(resource, key, revision, json));
    else this.#statements.remove.run(resource, key);
  }

  *#objects(): Iterable<StoredObject> {
    for (const row of this.#rows("SELECT * FROM object")) {
      const { resource, key, revision, json, checksum } = row as unknown as StoredObject & {
        readonly checksum: number;
      };
      if (checksum !== objectChecksum(resource, key, revision, json)) {
        throw damaged(this.#path, `the checksum of ${resource} ${key} is wrong`);
      }
      yield StoredState.parse(resource, key, revision, json);
    }
  }

  *#changes(): Iterable<RestoredChange> {
    for (const row of this.#rows("SELECT * FROM batch ORDER BY last")) {
      const { last, changes, checksum } = row as {
        readonly last: number;
        readonly changes: Uint8Array;
        checksum: number;
      };
      if (checksum !== batchChecksum(last, changes)) {
        throw damaged(this.#path, `the checksum of the changes up to revision ${last} is wrong`);
      }
      for (const { resource, key, revision, json } of decodeBatch(changes)) {
        // Copy the bytes: a slice would keep the whole batch in memory.
        const stored = json && StoredState.parse(resource, key, revision, Buffer.from(json));
        yield { resource, key, revision, stored };
      }
    }
  }

  *#rows(sql: string): Iterable<Row> {
    try {
      yield* this.#database.prepare(sql).iterate();
    } catch (error) {
      throw failureToOpen(this.#path, error);
    }
  }
}

interface Statements {
  readonly append: Statement;
  readonly oldest: Statement;
  readonly put: Statement;
  readonly remove: Statement;
  readonly forget: Statement;
  readonly mark: Statement;
  readonly compacted: Statement;
}

function prepareStatements(database: Database): Statements {
  return {
    append: database.prepare("INSERT INTO batch VALUES (?, ?, ?)"),
    oldest: database.prepare("SELECT last, changes FROM batch WHERE last <= ? ORDER BY last LIMIT ?"),
    put: database.prepare("INSERT OR REPLACE INTO object VALUES (?, ?, ?, ?, ?)"),
    remove: database.prepare("DELETE FROM object WHERE resource = ? AND key = ?"),
    forget: database.prepare("DELETE FROM batch WHERE last <= ?"),
    mark: database.prepare("UPDATE meta SET compacted = ?"),
    compacted: database.prepare("SELECT compacted FROM meta"),
  };
}

function prepareFile(database: Database, path: string): void {
  // Lock before reading anything, so that a second process fails at once.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  database.exec("PRAGMA cell_size_check = ON");
  database.prepare("PRAGMA journal_mode = WAL").get();
  database.exec("PRAGMA synchronous = NORMAL");
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  if (pragma("schema_version") === 0) database.transaction(() => database.exec(SCHEMA));
  if (pragma("application_id") !== APPLICATION_ID) {
    throw new StorageFailure("STORAGE_VERSION", `${path} is a SQLite file of another program; choose another folder`);
  }
  if (pragma("user_version") !== FORMAT_VERSION) {
    const found = pragma("user_version");
    const text = `${path} has format ${found}, this version reads ${FORMAT_VERSION}: use the Setpoint that wrote it`;
    throw new StorageFailure("STORAGE_VERSION", text);
  }
  // The first write creates the log, takes the lock and proves that the folder is writable.
  database.transaction(() => database.exec("UPDATE meta SET starts = starts + 1"));
}

/**
 * Fills the log with zeros up to the size at which SQLite restarts it. Frames then overwrite existing blocks, and
 * syncing those takes a fraction of the time of syncing a growing file. Zeros are not valid frames, so a reader of
 * the log stops where they begin. No frame is overwritten, because the zeros start at the end of the file.
 */
function fillLog(log: number): void {
  const { size } = fstatSync(log);
  if (size >= LOG_BYTES) return;
  try {
    writeSync(log, Buffer.alloc(LOG_BYTES - size), 0, LOG_BYTES - size, size);
  } catch {
    // The disk has no room. The log then grows on demand, or a write reports that the disk is full.
  }
}

function batchChecksum(last: number, changes: Uint8Array): number {
  return crc32(changes, last % 2 ** 32);
}

function objectChecksum(resource: string, key: string, revision: number, json: Uint8Array): number {
  return crc32(json, crc32(`${revision}\0${resource}\0${key}\0`));
}
