import type { Driver, DriverDatabase } from "./connection.js";
import type { Row } from "./database.js";

interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => DriverDatabase;
}

/** Node's own driver, since 22.13; undefined on Node 20. */
export function nodeDriver(): Driver | undefined {
  const sqlite = loadQuietly();
  return (
    sqlite && {
      name: "node:sqlite",
      open: (path) => new sqlite.DatabaseSync(path),
      errorCode: (error) => {
        const { code, errcode } = error as { code?: string; errcode?: number };
        return code === "ERR_SQLITE_ERROR" ? errcode : undefined;
      },
      // Rows have no prototype here. With one, they compare and print like other objects.
      row: (row) => ({ ...(row as Row) }),
    }
  );
}

/** Suppresses Node 22's warning that SQLite is experimental. All other warnings pass. */
function loadQuietly(): NodeSqlite | undefined {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).startsWith("SQLite is an experimental feature")) emitWarning.call(process, warning, ...rest);
  }) as typeof emitWarning;
  try {
    return process.getBuiltinModule("node:sqlite" as "node:fs") as unknown as NodeSqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
