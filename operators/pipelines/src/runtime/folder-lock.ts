import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type Database, openDatabase } from "@setpoint/sqlite";
import { isSetpointError } from "setpoint";
import { systemRandom } from "setpoint/clock";
import { PipelinesError } from "../errors.js";
import { makeStateFolder, type StateFolder } from "./state-folder.js";

const NAME_BYTES = 12;

/** How others reach the process that keeps a folder. */
export interface ServerFile {
  readonly pid: number;
  /** Undefined while the process does not answer yet. */
  readonly url?: string;
  readonly token?: string;
}

/**
 * The right to write a project's tables: one process at a time. The operating system holds the lock, by way of SQLite, and
 * releases it when the process ends, however it ends; so no stale lock has to be told from a live one.
 */
export class FolderLock implements Disposable {
  readonly #folder: StateFolder;
  readonly #database: Database;

  private constructor(folder: StateFolder, database: Database) {
    this.#folder = folder;
    this.#database = database;
  }

  /** Throws `PIPELINES_BUSY` with the PID of whoever has it. */
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

  /** Tells others how to reach this process. */
  publish(server: ServerFile): void {
    // Made where there was nothing, under a name that nobody can guess: the token never goes through a link.
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

/** The process that keeps the folder, as far as its file says; the lock alone says whether it still lives. */
export function readServerFile({ server }: StateFolder): ServerFile | undefined {
  try {
    return JSON.parse(readFileSync(server, "utf8")) as ServerFile;
  } catch {
    return undefined;
  }
}

/** Whether some process has the lock now. Takes it for a moment. */
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
