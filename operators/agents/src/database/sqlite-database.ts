import { type Database, openDatabase, SqliteError } from "@setpoint/sqlite";
import type { Clock } from "setpoint/clock";
import { AgentsError } from "../errors.js";
import { SCHEMA, type SqlDatabase, type SqlStatement } from "./sql-store.js";

const RETRY_MS = 50;
/** How long another process may hold the file before a write fails, and its reconcile is tried again later. */
const BUSY_LIMIT_MS = 15_000;

/**
 * A SQLite file. Its driver is synchronous: a transaction begins and ends within one turn of the event loop, so no two of
 * this process overlap. A file that another process holds is waited for between turns, never inside of one.
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
