import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type Database, openDatabase } from "@setpoint/sqlite";
import { isSetpointError } from "setpoint";
import { systemRandom } from "setpoint/clock";
import { PipelinesError } from "../errors.js";
import { makeStateFolder, type StateFolder } from "./state-folder.js";

const NAME_BYTES = 12;

/** How other processes reach the one that holds the folder's lock. */
export interface ServerFile {
  readonly pid: number;
  /** Undefined until the process serves HTTP. */
  readonly url?: string;
  readonly token?: string;
}

/**
 * The lock of a project's folder: only the process that holds it may write the tables. It is a file lock of SQLite,
 * which the operating system releases when the process ends, even by a kill. So there are no stale locks.
 */
export class FolderLock implements Disposable {
  readonly #folder: StateFolder;
  readonly #database: Database;

  private constructor(folder: StateFolder, database: Database) {
    this.#folder = folder;
    this.#database = database;
  }

  /** Throws `PIPELINES_BUSY` with the PID of the process that holds the lock. */
  static take(folder: StateFolder): FolderLock {
    makeStateFolder(folder);
    const database = openDatabase(folder.lock);
    try {
      database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    } catch (cause) {
      database.close();
      if (isSetpointError(cause, "SQLITE_BUSY")) throw busy(folder, cause);
      throw cause;
    }
    const lock = new FolderLock(folder, database);
    lock.publish({ pid: process.pid });
    return lock;
  }

  /** Tells other processes how to reach this one. */
  publish(server: ServerFile): void {
    // Create a new file under a name that nobody can guess, so that the token is never written through a link.
    const fresh = `${this.#folder.server}.${Buffer.from(systemRandom.bytes(NAME_BYTES)).toString("hex")}.new`;
    writeFileSync(fresh, `${JSON.stringify(server)}\n`, { flag: "wx", mode: 0o600 });
    renameSync(fresh, this.#folder.server);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder.server, { force: true });
    this.#database.exec("ROLLBACK");
    this.#database.close();
  }
}

/** Reads the server file. The process in it may have ended: only the lock tells whether it still runs. */
export function readServerFile({ server }: StateFolder): ServerFile | undefined {
  try {
    return JSON.parse(readFileSync(server, "utf8")) as ServerFile;
  } catch {
    return undefined;
  }
}

/** Whether a process holds the lock now. Takes the lock for a moment to find out. */
export function isKept(folder: StateFolder): boolean {
  if (!existsSync(folder.lock)) return false;
  const database = openDatabase(folder.lock);
  try {
    database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch (error) {
    if (isSetpointError(error, "SQLITE_BUSY")) return true;
    throw error;
  } finally {
    database.close();
  }
}

function busy(folder: StateFolder, cause: unknown): PipelinesError {
  const pid = readServerFile(folder)?.pid;
  const who = pid === undefined ? "another process" : `the process with PID ${pid}`;
  return new PipelinesError("PIPELINES_BUSY", `${folder.project}: ${who} runs on this folder`, { cause });
}
