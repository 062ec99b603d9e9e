import { Connection, type Driver } from "./connection.js";
import type { Database, DriverName } from "./database.js";
import { libsqlDriver } from "./libsql-driver.js";
import { nodeDriver } from "./node-driver.js";
import { SqliteError } from "./sqlite-error.js";

export interface OpenOptions {
  /** Defaults to the best available driver. */
  readonly driver?: DriverName;
}

/** In order of preference: Node's own driver, then the prebuilt one. */
const LADDER: readonly (() => Driver | undefined)[] = [nodeDriver, libsqlDriver];

/** Opens a file, created if missing. `:memory:` is a separate database without a file. */
export function openDatabase(path: string, options: OpenOptions = {}): Database {
  for (const load of LADDER) {
    const driver = load();
    if (driver && (options.driver ?? driver.name) === driver.name) return new Connection(driver, path);
  }
  const wanted = options.driver === undefined ? "a SQLite driver" : `the SQLite driver ${options.driver}`;
  throw new SqliteError(
    "SQLITE_UNAVAILABLE",
    `${wanted} is not available on Node ${process.versions.node}: use Node 22.13 or newer, or run "npm install libsql"`,
  );
}

/** The available drivers, best first. */
export function availableDrivers(): readonly DriverName[] {
  return LADDER.flatMap((load) => load()?.name ?? []);
}
