import { createRequire } from "node:module";
import type { Driver, DriverDatabase } from "./connection.js";
import type { Row, SqlValue } from "./database.js";

/** Like `DriverDatabase`, but takes parameters as an array: libsql crashes on a single null or blob argument. */
interface LibsqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): {
    run(parameters: SqlValue[]): { changes: number; lastInsertRowid: number };
    get(parameters: SqlValue[]): unknown;
    all(parameters: SqlValue[]): unknown[];
    iterate(parameters: SqlValue[]): IterableIterator<unknown>;
  };
  close(): void;
}

type Libsql = new (path: string) => LibsqlDatabase;

/** The prebuilt driver for Node 20; undefined if the package is not installed. */
export function libsqlDriver(): Driver | undefined {
  const Libsql = load();
  return (
    Libsql && {
      name: "libsql",
      open: (path) => withArrays(new Libsql(path)),
      errorCode: ({ message, rawCode }: { message?: string; rawCode?: unknown }) => {
        if (typeof rawCode === "number") return rawCode;
        const code = /^ConnectionFailed\(.*: (\d+)"\)$/.exec(message ?? "")?.[1];
        return code === undefined ? undefined : Number(code);
      },
      row: plainRow,
    }
  );
}

function withArrays(database: LibsqlDatabase): DriverDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        run: (...parameters) => statement.run(parameters),
        get: (...parameters) => statement.get(parameters),
        all: (...parameters) => statement.all(parameters),
        iterate: (...parameters) => statement.iterate(parameters),
      };
    },
    close: () => {
      releaseLocks(database);
      database.close();
    },
  };
}

/**
 * Statements keep the connection and its locks alive until they are garbage collected, so the next connection in this
 * process would find the file busy. Leaving WAL and exclusive mode releases the locks at once.
 */
function releaseLocks(database: LibsqlDatabase): void {
  try {
    database.prepare("PRAGMA journal_mode = DELETE").get([]);
    database.prepare("PRAGMA locking_mode = NORMAL").get([]);
    database.prepare("SELECT count(*) FROM sqlite_master").get([]);
  } catch {
    // The file is damaged or in use by another connection, so there is no lock to release.
  }
}

/** libsql's `get` adds a member to the row, and `all` and `iterate` return blobs as ArrayBuffers. */
function plainRow(row: unknown): Row {
  const { _metadata, ...columns } = row as Record<string, SqlValue | ArrayBuffer>;
  for (const name in columns) {
    const value = columns[name];
    if (value instanceof ArrayBuffer) columns[name] = new Uint8Array(value);
  }
  return columns as Row;
}

function load(): Libsql | undefined {
  try {
    return createRequire(import.meta.url)("libsql") as Libsql;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
