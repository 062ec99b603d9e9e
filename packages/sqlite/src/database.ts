/** The types that SQLite stores. Booleans, dates and objects are rejected, because drivers treat them differently. */
export type SqlValue = string | number | bigint | null | Uint8Array;

export type Row = Readonly<Record<string, SqlValue>>;

/**
 * A synchronous connection to a SQLite file. Every method throws a `SqliteError` with a stable code, whatever the
 * driver.
 *
 * ```ts
 * using database = openDatabase("notes.db");
 * database.exec("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT)");
 * database.prepare("INSERT INTO note (text) VALUES (?)").run("hello");
 * ```
 */
export interface Database extends Disposable {
  /** `node:sqlite` or `libsql`. */
  readonly driver: DriverName;
  /** Runs statements without parameters or results. */
  exec(sql: string): void;
  /** Compiles a statement for repeated use. Parameters are positional. */
  prepare(sql: string): Statement;
  /**
   * Runs `work` in a write transaction: commits when it returns, rolls back when it throws. Rethrows the error of
   * `work` or of the commit. Does not nest.
   */
  transaction<Result>(work: () => Result): Result;
  /** Idempotent. Statements cannot be used afterwards. */
  close(): void;
}

export interface Statement {
  run(...parameters: readonly SqlValue[]): StatementResult;
  /** The first row, if any. */
  get(...parameters: readonly SqlValue[]): Row | undefined;
  all(...parameters: readonly SqlValue[]): Row[];
  /** Reads rows one by one. Do not write to the database until the iteration ends. */
  iterate(...parameters: readonly SqlValue[]): IterableIterator<Row>;
}

export interface StatementResult {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

export type DriverName = "node:sqlite" | "libsql";
