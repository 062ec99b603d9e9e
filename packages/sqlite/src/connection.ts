import { checkedParameters } from "./bind.js";
import type { Database, DriverName, Row, SqlValue, Statement, StatementResult } from "./database.js";
import { SqliteError } from "./sqlite-error.js";

/** The part of a driver's database in use, common to `node:sqlite` and libsql. */
export interface DriverDatabase {
  exec(sql: string): void;
  prepare(sql: string): DriverStatement;
  close(): void;
}

export interface DriverStatement {
  run(...parameters: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...parameters: SqlValue[]): unknown;
  all(...parameters: SqlValue[]): unknown[];
  iterate(...parameters: SqlValue[]): IterableIterator<unknown>;
}

/** The differences between drivers. */
export interface Driver {
  readonly name: DriverName;
  open(path: string): DriverDatabase;
  /** SQLite's extended result code of a driver's error; undefined for other errors. */
  errorCode(error: unknown): number | undefined;
  /** Converts a driver's row to a plain object. */
  row(row: unknown): Row;
}

/** The common interface to a driver's database: checked parameters, plain rows, stable error codes. */
export class Connection implements Database {
  readonly #driver: Driver;
  readonly #database: DriverDatabase;
  readonly #path: string;
  #isOpen = true;
  #begin: Statement | undefined;
  #commit: Statement | undefined;

  constructor(driver: Driver, path: string) {
    this.#driver = driver;
    this.#path = path;
    this.#database = this.#guarded(() => driver.open(path));
  }

  get driver(): DriverName {
    return this.#driver.name;
  }

  exec(sql: string): void {
    this.#guarded(() => this.#database.exec(sql));
  }

  prepare(sql: string): Statement {
    const statement = this.#guarded(() => this.#database.prepare(sql));
    const { row } = this.#driver;
    return {
      run: (...parameters): StatementResult => {
        const result = this.#guarded(() => statement.run(...checkedParameters(parameters)));
        return { changes: Number(result.changes), lastInsertRowid: result.lastInsertRowid };
      },
      get: (...parameters) => {
        const found = this.#guarded(() => statement.get(...checkedParameters(parameters)));
        return found === undefined || found === null ? undefined : row(found);
      },
      all: (...parameters) => this.#guarded(() => statement.all(...checkedParameters(parameters))).map(row),
      iterate: (...parameters) => this.#rows(statement, checkedParameters(parameters)),
    };
  }

  transaction<Result>(work: () => Result): Result {
    // Compiled once, because compiling is most of their cost.
    this.#begin ??= this.prepare("BEGIN IMMEDIATE");
    this.#commit ??= this.prepare("COMMIT");
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      try {
        this.exec("ROLLBACK");
      } catch {
        // SQLite has already rolled back, as it does on a full disk.
      }
      throw error;
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#guarded(() => this.#database.close());
    this.#isOpen = false;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  *#rows(statement: DriverStatement, parameters: SqlValue[]): IterableIterator<Row> {
    const rows = this.#guarded(() => statement.iterate(...parameters));
    try {
      for (;;) {
        const next = this.#guarded(() => rows.next());
        if (next.done) return;
        yield this.#driver.row(next.value);
      }
    } finally {
      rows.return?.();
    }
  }

  #guarded<Result>(work: () => Result): Result {
    if (!this.#isOpen) throw new SqliteError("SQLITE_MISUSE", `${this.#path}: the database is closed`);
    try {
      return work();
    } catch (error) {
      if (error instanceof SqliteError) throw error;
      const code = this.#driver.errorCode(error);
      if (code === undefined) throw error;
      throw SqliteError.of(code, `${this.#path}: ${(error as Error).message}`, error);
    }
  }
}
