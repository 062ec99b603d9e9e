import type { DuckDBConnection, DuckDBResultReader } from "@duckdb/node-api";
import { type Clock, systemClock } from "setpoint/clock";
import type { Column } from "../engine.js";
import { EngineFailure, failureOf, type StatementOrigin } from "./duckdb-error.js";
import { type Row, rowsOf } from "./json-values.js";

/** Poll interval for the progress of a running statement. */
const PROGRESS_MS = 200;

/**
 * A connection for one call. It remembers an interrupt, because DuckDB may report success for a COMMIT whose
 * transaction the interrupt has rolled back.
 */
export class Connection implements Disposable {
  readonly duckdb: DuckDBConnection;
  readonly #clock: Clock = systemClock;
  #isInterrupted = false;
  #watch: Disposable | undefined;

  constructor(duckdb: DuckDBConnection) {
    this.duckdb = duckdb;
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  interrupt(): void {
    this.#isInterrupted = true;
    this.duckdb.interrupt();
  }

  /** Reports the completed share of the running statement until the connection is disposed. */
  async watch(report: (share: number) => void): Promise<void> {
    await this.run("SET enable_progress_bar = true; SET enable_progress_bar_print = false");
    this.#look(report);
  }

  #look(report: (share: number) => void): void {
    this.#watch = this.#clock
      .timer(PROGRESS_MS, () => {
        const { percentage } = this.duckdb.progress;
        if (percentage >= 0) report(Math.min(1, percentage / 100));
        this.#look(report);
      })
      .unref();
  }

  async run(sql: string, origin: StatementOrigin = OWN): Promise<void> {
    await this.#guarded(sql, origin, () => this.duckdb.run(sql));
  }

  async rows(sql: string, origin: StatementOrigin = OWN): Promise<Row[]> {
    return rowsOf(await this.read(sql, origin));
  }

  read(sql: string, origin: StatementOrigin = OWN): Promise<DuckDBResultReader> {
    return this.#guarded(sql, origin, () => this.duckdb.runAndReadAll(sql));
  }

  /** Reads one row more than the limit, so that the caller knows whether there are more. */
  readUntil(sql: string, limit: number, origin: StatementOrigin): Promise<DuckDBResultReader> {
    return this.#guarded(sql, origin, () => this.duckdb.streamAndReadUntil(sql, limit + 1));
  }

  /** The columns of a query. Binds the query, but does not run it. */
  async columns(sql: string, origin: StatementOrigin): Promise<readonly Column[]> {
    const prepared = await this.#guarded(sql, origin, () => this.duckdb.prepare(sql));
    try {
      return Array.from({ length: prepared.columnCount }, (_, at) => {
        return { name: prepared.columnName(at), type: String(prepared.columnType(at)) };
      });
    } finally {
      prepared.destroySync();
    }
  }

  async #guarded<Result>(sql: string, origin: StatementOrigin, work: () => Promise<Result>): Promise<Result> {
    this.throwIfInterrupted();
    try {
      return await work();
    } catch (thrown) {
      throw failureOf(thrown, sql, origin);
    }
  }

  throwIfInterrupted(): void {
    if (this.#isInterrupted) throw new EngineFailure({ code: "aborted", message: "interrupted" });
  }

  /** Discards the transaction. Never throws. */
  async rollback(): Promise<void> {
    await this.duckdb.run("ROLLBACK").catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
    this.duckdb.closeSync();
  }
}

/** The origin of the engine's own statements. */
const OWN: StatementOrigin = { part: "engine" };
