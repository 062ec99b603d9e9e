import { createRequire } from "node:module";
import type { Driver, DriverDatabase } from "./connection.js";
import type { Row, SqlValue } from "./database.js";

/** Like `DriverDatabase`, but with all parameters in one array: a lone null or blob is taken for named ones, fatally. */
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

/** The prebuilt driver for Node 20; undefined where the package is not installed. */
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
 * Statements keep the connection alive until they are collected as garbage, and with it its locks: whoever opens the
 * file next in this process would find it busy. Leaving WAL and exclusive mode gives the locks up at once.
 */
function releaseLocks(database: LibsqlDatabase): void {
  try {
    database.prepare("PRAGMA journal_mode = DELETE").get([]);
    database.prepare("PRAGMA locking_mode = NORMAL").get([]);
    database.prepare("SELECT count(*) FROM sqlite_master").get([]);
  } catch {
    // Damaged, or in use by another connection: then we hold no lock to release.
  }
}

/** `get` adds a member of its own to the row, and `all` and `iterate` give blobs as bare buffers. */
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
