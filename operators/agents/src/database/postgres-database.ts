import type { Pool } from "pg";
import { AgentsError } from "../errors.js";
import { SCHEMA, type SqlDatabase, type SqlStatement } from "./sql-store.js";

const STATEMENT_LIMIT_MS = 15_000;
const CONNECTIONS = 8;
/** Advisory lock under which one replica at a time creates the tables. The number is arbitrary. */
const SCHEMA_LOCK = 7_220_114;

/** A PostgreSQL database, shared by all replicas. */
export class PostgresDatabase implements SqlDatabase {
  readonly listedTools =
    "SELECT item.value ->> 'name' AS name, item.value ->> 'description' AS description, item.position FROM json_array_elements(?::json) WITH ORDINALITY AS item (value, position)";
  readonly #pool: Pool;

  private constructor(pool: Pool) {
    this.#pool = pool;
  }

  static async open(url: string): Promise<PostgresDatabase> {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS,
      allowExitOnIdle: true,
      connectionTimeoutMillis: STATEMENT_LIMIT_MS,
      statement_timeout: STATEMENT_LIMIT_MS,
      query_timeout: STATEMENT_LIMIT_MS,
    });
    // The pool replaces idle connections that break. Without a listener, the error event would end the process.
    pool.on("error", () => {});
    const database = new PostgresDatabase(pool);
    const lock = { sql: `SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`, values: [] };
    await database.write([lock, ...SCHEMA.map((sql) => ({ sql, values: [] }))]);
    return database;
  }

  async write(statements: readonly SqlStatement[]): Promise<readonly number[]> {
    return this.#guarded(async () => {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      try {
        await client.query("BEGIN");
        const changed: number[] = [];
        for (const { sql, values } of statements) {
          changed.push((await client.query(numbered(sql), [...values])).rowCount ?? 0);
        }
        await client.query("COMMIT");
        return changed;
      } catch (error) {
        // Discard a connection whose rollback failed: its transaction may still be open.
        await client.query("ROLLBACK").catch((failure: Error) => (broken = failure));
        throw error;
      } finally {
        client.release(broken);
      }
    });
  }

  read({ sql, values }: SqlStatement): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#guarded(async () => (await this.#pool.query(numbered(sql), [...values])).rows);
  }

  async #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw new AgentsError("AGENTS_DATABASE_FAILED", `database: ${(error as Error).message}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }
}

/** Replaces `?` by PostgreSQL's numbered parameters. */
function numbered(sql: string): string {
  let at = 0;
  return sql.replace(/\?/g, () => `$${++at}`);
}
