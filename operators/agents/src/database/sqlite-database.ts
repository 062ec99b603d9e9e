import { type Database, openDatabase, SqliteError } from "@setpoint/sqlite";
import type { Clock } from "setpoint/clock";
import { AgentsError } from "../errors.js";
import { SCHEMA, type SqlDatabase, type SqlStatement } from "./sql-store.js";

const RETRY_MS = 50;
/** How long to wait for a file that another process has locked. Then the write fails and its reconcile is retried. */
const BUSY_LIMIT_MS = 15_000;

/**
 * A SQLite file. The driver is synchronous: each transaction starts and ends in one turn of the event loop, so
 * transactions of this process never overlap. Waiting for a locked file does not block the event loop.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly listedTools =
    "SELECT json_extract(value, '$.name') AS name, json_extract(value, '$.description') AS description, key AS position FROM json_each(?)";
  readonly #database: Database;
  readonly #clock: Clock;

  private constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  static async open(file: string, clock: Clock): Promise<SqliteDatabase> {
    const database = new SqliteDatabase(openDatabase(file), clock);
    await database.#whenFree(() => {
      database.#database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      for (const statement of SCHEMA) database.#database.exec(statement);
    });
    return database;
  }

  write(statements: readonly SqlStatement[]): Promise<readonly number[]> {
    return this.#whenFree(() =>
      this.#database.transaction(() =>
        statements.map(({ sql, values }) => this.#database.prepare(sql).run(...values).changes),
      ),
    );
  }

  read({ sql, values }: SqlStatement): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#whenFree(() => this.#database.prepare(sql).all(...values));
  }

  async #whenFree<Result>(work: () => Result): Promise<Result> {
    const limit = this.#clock.monotonic() + BUSY_LIMIT_MS;
    for (;;) {
      try {
        return work();
      } catch (error) {
        const isBusy = error instanceof SqliteError && error.code === "SQLITE_BUSY";
        if (isBusy && this.#clock.monotonic() < limit) await this.#clock.sleep(RETRY_MS);
        else throw new AgentsError("AGENTS_DATABASE_FAILED", `database: ${(error as Error).message}`, { cause: error });
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#database.close();
  }
}
