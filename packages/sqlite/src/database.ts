/** What SQLite stores. A boolean, a date or an object is refused: drivers differ in what they make of them. */
export type SqlValue = string | number | bigint | null | Uint8Array;

export type Row = Readonly<Record<string, SqlValue>>;

/**
 * One connection to one SQLite file, synchronous. Every method throws a `SqliteError` with one of its stable codes,
 * whatever the driver.
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
  /** Runs statements without parameters and without results. */
  exec(sql: string): void;
  /** Compiles a statement for many uses. Parameters are positional. */
  prepare(sql: string): Statement;
  /**
   * Runs `work` in a write transaction: committed when it returns, rolled back when it throws. The error of `work`, or
   * of the commit, is thrown on. Does not nest.
   */
  transaction<Result>(work: () => Result): Result;
  /** Idempotent. Statements are of no use afterwards. */
  close(): void;
}

export interface Statement {
  run(...parameters: readonly SqlValue[]): StatementResult;
  /** The first row, if there is one. */
  get(...parameters: readonly SqlValue[]): Row | undefined;
  all(...parameters: readonly SqlValue[]): Row[];
  /** Rows as they are read. The database must not be written to until the iteration is over. */
  iterate(...parameters: readonly SqlValue[]): IterableIterator<Row>;
}

export interface StatementResult {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

export type DriverName = "node:sqlite" | "libsql";
