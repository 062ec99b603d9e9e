import type { Clock } from "setpoint/clock";
import { AgentsError } from "../errors.js";
import { SqlStore } from "./sql-store.js";
import type { Store } from "./store.js";

/**
 * Opens `postgres://…`, a SQLite file, or `:memory:`. Loads only the driver that it needs. Throws
 * `AGENTS_DATABASE_SHARED` for a file with several replicas, because each would have its own database.
 */
export async function openStore(database: string, clock: Clock, replicas = 1): Promise<Store> {
  if (/^postgres(ql)?:\/\//.test(database)) {
    const { PostgresDatabase } = await import("./postgres-database.js");
    return new SqlStore(await PostgresDatabase.open(database));
  }
  if (replicas > 1) {
    const message = `the SQLite database ${database} cannot serve ${replicas} replicas: each would have its own database`;
    throw new AgentsError("AGENTS_DATABASE_SHARED", message);
  }
  const { SqliteDatabase } = await import("./sqlite-database.js");
  return new SqlStore(await SqliteDatabase.open(database.replace(/^sqlite:/, ""), clock));
}
