import { SetpointError } from "setpoint";
import type { GraphRecord, GraphSession, GraphStore, StoreWrite } from "setpoint/graph";
import type { Database } from "./database.js";
import { type OpenOptions, openDatabase } from "./open-database.js";

export interface SqliteGraphStoreOptions extends OpenOptions {
  /**
   * `full` (default): a commit survives a power cut. `normal`: a commit survives a crash of the process, without an
   * fsync per commit.
   */
  readonly synchronous?: "full" | "normal";
}

/**
 * Keeps the resources of a graph in a SQLite file. Each commit is one transaction, which first checks that nobody else
 * has opened the file since.
 *
 * ```ts
 * await using graph = await openGraph({ kinds: [Table], store: sqliteGraphStore("catalog.db") });
 * ```
 */
export function sqliteGraphStore(path: string, options: SqliteGraphStoreOptions = {}): GraphStore {
  return {
    open(): GraphSession {
      const database = openDatabase(path, options);
      try {
        return sessionOn(database, options.synchronous ?? "full");
      } catch (error) {
        database.close();
        throw error;
      }
    },
  };
}

function sessionOn(database: Database, synchronous: "full" | "normal"): GraphSession {
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(`PRAGMA synchronous = ${synchronous}`);
  database.exec("PRAGMA busy_timeout = 5000");
  const epoch = database.transaction(() => {
    database.exec(`
      CREATE TABLE IF NOT EXISTS graph_epoch (only INTEGER PRIMARY KEY CHECK (only = 1), epoch INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS graph_resource (id TEXT PRIMARY KEY, version INTEGER NOT NULL, record TEXT NOT NULL)
        WITHOUT ROWID;
      INSERT INTO graph_epoch (only, epoch) VALUES (1, 1) ON CONFLICT DO UPDATE SET epoch = epoch + 1`);
    return Number(database.prepare("SELECT epoch FROM graph_epoch").get()?.epoch);
  });
  const current = database.prepare("SELECT epoch FROM graph_epoch");
  const all = database.prepare("SELECT id, record FROM graph_resource");
  const insert = database.prepare(
    "INSERT INTO graph_resource (id, version, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const update = database.prepare("UPDATE graph_resource SET version = ?, record = ? WHERE id = ? AND version = ?");
  const remove = database.prepare("DELETE FROM graph_resource WHERE id = ? AND version = ?");

  const write = (given: StoreWrite): void => {
    const { id, expected } = given;
    let changes: number;
    if (given.type === "remove") changes = remove.run(id, expected).changes;
    else {
      const { version } = given.record.meta;
      const text = JSON.stringify(given.record);
      changes =
        expected === 0 ? insert.run(id, version, text).changes : update.run(version, text, id, expected).changes;
    }
    if (changes !== 1) throw new SetpointError("GRAPH_CONFLICT", `${id} is not stored with version ${expected}`);
  };

  return {
    *records() {
      for (const { id, record } of all.iterate()) {
        yield { id: String(id), record: JSON.parse(String(record)) as GraphRecord };
      }
    },
    commit(writes) {
      database.transaction(() => {
        if (Number(current.get()?.epoch) !== epoch) {
          throw new SetpointError("GRAPH_FENCED", "another process has opened the store of this graph");
        }
        for (const one of writes) write(one);
      });
    },
    [Symbol.dispose]: () => database.close(),
  };
}
