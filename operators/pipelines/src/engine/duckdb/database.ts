import { DuckDBInstance } from "@duckdb/node-api";
import type { PartitionRecord, Publication, RefreshRequest, TableFacts } from "../engine.js";
import {
  BOOKKEEPING,
  deletePartitions,
  insertPartitions,
  insertRequest,
  insertStamp,
  LAST_STAMPS,
  type StoredStamp,
  storedStamp,
} from "./bookkeeping.js";
import { Connection } from "./connection.js";
import { duckDbError, EngineFailure } from "./duckdb-error.js";
import { type CatalogEntry, driftedTables, readCatalog, searchPath } from "./inspection.js";
import type { OpenRequest } from "./protocol.js";
import { piecesOf, publish } from "./publication.js";
import { identifier, literal, MAIN_SCHEMA, qualified, tableId } from "./sql-text.js";

const LOCKED = /Conflicting lock is held in (.*?) \(PID (\d+)\)/;
/** Errors on opening that say nothing about the file's content. */
const OUTSIDE =
  /permission denied|no such file|no space left|read-only file system|newer version|too many open files|set config|unrecognized configuration/i;

/**
 * The database in the engine's process. It caches the catalog and the stamps: the file is locked, so only statements of
 * this process can change it.
 */
export class Database {
  readonly #instance: DuckDBInstance;
  readonly #stamps = new Map<string, StoredStamp>();
  readonly #requests = new Map<string, RefreshRequest[]>();
  #catalog = new Map<string, CatalogEntry>();
  #drifted: ReadonlySet<string> = new Set();
  #seq = 0;
  /** How many stored stamps were replaced by later ones. */
  #superseded = 0;
  /** True after a user's statement, which may have changed anything: the database must be inspected again. */
  #isDoubtful = false;

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance;
  }

  static async open({ path, settings, isSealed }: OpenRequest): Promise<Database> {
    let instance: DuckDBInstance;
    try {
      instance = await DuckDBInstance.create(path, { ...settings, errors_as_json: "true" });
    } catch (thrown) {
      throw openFailure(thrown);
    }
    const database = new Database(instance);
    try {
      await database.#load(isSealed);
    } catch (thrown) {
      instance.closeSync();
      throw openFailure(thrown);
    }
    return database;
  }

  async connect(schema?: string): Promise<Connection> {
    const connection = new Connection(await this.#instance.connect());
    if (schema !== undefined && schema !== MAIN_SCHEMA) {
      await connection.run(`CREATE SCHEMA IF NOT EXISTS ${identifier(schema)}`);
      await connection.run(`SET search_path = '${searchPath(schema)}'`);
    }
    return connection;
  }

  async #load(isSealed: boolean): Promise<void> {
    using connection = await this.connect();
    await connection.run(BOOKKEEPING);
    const [{ count = 0 } = {}] = await connection.rows("SELECT count(*) AS count FROM _setpoint.stamps");
    for (const row of await connection.rows(LAST_STAMPS)) {
      const stored = storedStamp(row);
      this.#stamps.set(stored.id, stored);
      this.#seq = Math.max(this.#seq, Number(row.seq));
    }
    this.#superseded = Number(count) - this.#stamps.size;
    for (const row of await connection.rows("SELECT id, body FROM _setpoint.requests")) {
      this.#addRequest(String(row.id), JSON.parse(String(row.body)));
    }
    await this.#look(isSealed, connection);
  }

  /** Compares the tables with their stamps. A drifted table stays marked until it is published again. */
  async #look(isSealed: boolean, connection: Connection): Promise<void> {
    this.#isDoubtful = false;
    this.#catalog = await readCatalog(connection);
    this.#drifted = await driftedTables(this.#stamps.values(), this.#catalog, isSealed, connection);
    for (const id of this.#drifted) {
      const stored = this.#stamps.get(id)!;
      if (stored.isDrifted) continue;
      await connection.run(insertStamp(++this.#seq, { ...stored, isDrifted: true }));
      this.#superseded++;
      this.#stamps.set(id, { ...stored, isDrifted: true });
    }
  }

  async publish(publication: Publication, connection: Connection): Promise<TableFacts> {
    const { table, schema, runId } = publication;
    const id = tableId(table, schema);
    const after = piecesOf("after", publication.after);
    if ([...piecesOf("before", publication.before), ...after].some(({ isSession }) => !isSession))
      this.#isDoubtful = true;
    try {
      const stored = await publish(publication, {
        connection,
        existing: this.#catalog.get(id)?.type,
        previous: this.#stamps.get(id),
        nextSeq: () => ++this.#seq,
      });
      if (connection.isInterrupted) await this.#assertCommitted(id, runId);
      this.#remember(stored, publication);
      return this.factsOf(stored.table, stored.schema);
    } catch (thrown) {
      await connection.rollback();
      throw thrown;
    } finally {
      // Detach what was attached, even if the run failed.
      for (const { sql, isSession } of after) {
        if (isSession) await connection.duckdb.run(sql).catch(() => {});
      }
    }
  }

  #remember(stored: StoredStamp, { fulfils, write, schema }: Publication): void {
    const { id, type, columns } = stored;
    if (this.#stamps.has(id)) this.#superseded++;
    if (write.type === "adopt") this.#forget(tableId(write.from, schema));
    this.#stamps.set(id, stored);
    this.#catalog.set(id, { type, columns });
    if (this.#drifted.has(id)) this.#drifted = new Set([...this.#drifted].filter((other) => other !== id));
    const left = this.#requests.get(id)?.filter((request) => !fulfils.includes(request.id));
    if (left) this.#requests.set(id, left);
  }

  /** After an interrupt, a successful COMMIT proves nothing. Look for the stamp. */
  async #assertCommitted(id: string, runId: string): Promise<void> {
    using connection = await this.connect();
    const [row] = await connection.rows(
      `SELECT 1 FROM _setpoint.stamps WHERE id = ${literal(id)} AND run_id = ${literal(runId)}`,
    );
    if (!row) throw new EngineFailure({ code: "aborted", message: "interrupted" });
  }

  /** Facts of every table and view, of every stamp and of every open request. */
  async facts(): Promise<readonly TableFacts[]> {
    if (this.#isDoubtful) {
      using connection = await this.connect();
      await this.#look(false, connection);
    }
    const ids = new Set([...this.#stamps.keys(), ...this.#catalog.keys(), ...this.#requests.keys()]);
    return [...ids].map((id) => {
      const stored = this.#stamps.get(id);
      if (stored) return this.factsOf(stored.table, stored.schema);
      const [schema = "", ...rest] = id.split(".");
      return this.factsOf(rest.join("."), schema);
    });
  }

  factsOf(table: string, schema: string): TableFacts {
    const id = tableId(table, schema);
    const entry = this.#catalog.get(id);
    const stored = this.#stamps.get(id);
    return {
      schema,
      table,
      type: entry?.type ?? "absent",
      columns: entry?.columns ?? [],
      isDrifted: this.#drifted.has(id),
      requests: this.#requests.get(id) ?? [],
      ...(stored ? { stamp: stored.stamp } : {}),
    };
  }

  async partitions(table: string, schema?: string): Promise<readonly PartitionRecord[]> {
    using connection = await this.connect();
    const id = literal(tableId(table, schema));
    const rows = await connection.rows(`SELECT record FROM _setpoint.partitions WHERE id = ${id} ORDER BY key`);
    return rows.map((row) => JSON.parse(String(row.record)));
  }

  async savePartitions(table: string, records: readonly PartitionRecord[], schema?: string): Promise<void> {
    if (records.length === 0) return;
    const id = tableId(table, schema);
    const keys = records.map(({ key }) => key);
    await this.#transaction([deletePartitions(id, keys), insertPartitions(id, records)]);
  }

  async rename(from: string, to: string, schema?: string): Promise<void> {
    const [fromId, toId] = [tableId(from, schema), tableId(to, schema)];
    const entry = this.#catalog.get(fromId);
    const stored = this.#stamps.get(fromId);
    if (!entry && !stored) return;
    const target = this.#catalog.get(toId);
    const set = (table: string): string =>
      `UPDATE _setpoint.${table} SET id = ${literal(toId)} WHERE id = ${literal(fromId)}`;
    const moved: StoredStamp | undefined = stored && { ...stored, id: toId, table: to };
    const { definition: _, ...fresh } = moved ?? {};
    const seq = ++this.#seq;
    await this.#transaction([
      ...(entry && target && fromId !== toId ? [`DROP ${target.type} ${qualified(to, schema)}`] : []),
      ...(fromId === toId ? [] : ["stamps", "partitions"].map((name) => deleteId(name, toId))),
      ...(entry ? [`ALTER ${entry.type} ${qualified(from, schema)} RENAME TO ${identifier(to)}`] : []),
      deleteId("stamps", fromId),
      ...(fromId === toId ? [] : [set("partitions"), set("requests")]),
      ...(moved ? [insertStamp(seq, fresh as StoredStamp)] : []),
    ]);
    const requests = [
      ...(this.#requests.get(toId) ?? []),
      ...(fromId === toId ? [] : (this.#requests.get(fromId) ?? [])),
    ];
    this.#requests.delete(fromId);
    if (requests.length > 0) this.#requests.set(toId, requests);
    this.#stamps.delete(fromId);
    this.#stamps.delete(toId);
    this.#catalog.delete(fromId);
    this.#catalog.delete(toId);
    if (moved) this.#stamps.set(toId, fresh as StoredStamp);
    if (entry) this.#catalog.set(toId, { type: entry.type, columns: entry.columns });
    this.#drifted = new Set([...this.#drifted].filter((id) => id !== toId).map((id) => (id === fromId ? toId : id)));
  }

  async drop(table: string, schema?: string): Promise<void> {
    const id = tableId(table, schema);
    const entry = this.#catalog.get(id);
    const stored = this.#stamps.get(id);
    await this.#transaction([
      ...(entry && stored ? [`DROP ${entry.type} ${qualified(table, schema)}`] : []),
      ...["stamps", "partitions", "requests"].map((name) => deleteId(name, id)),
    ]);
    if (stored) this.#forget(id);
    this.#requests.delete(id);
  }

  #forget(id: string): void {
    this.#catalog.delete(id);
    this.#stamps.delete(id);
    this.#drifted = new Set([...this.#drifted].filter((other) => other !== id));
  }

  /** Drops a schema with everything in it. */
  async dropSchema(schema: string): Promise<void> {
    const gone = [...this.#stamps.values()].filter((stored) => stored.schema.toLowerCase() === schema.toLowerCase());
    await this.#transaction([
      `DROP SCHEMA IF EXISTS ${identifier(schema)} CASCADE`,
      ...gone.flatMap(({ id }) => ["stamps", "partitions", "requests"].map((name) => deleteId(name, id))),
    ]);
    for (const id of [...this.#catalog.keys()]) {
      if (id.startsWith(`${schema.toLowerCase()}.`)) this.#catalog.delete(id);
    }
    for (const { id } of gone) {
      this.#stamps.delete(id);
      this.#requests.delete(id);
    }
  }

  async request(table: string, request: RefreshRequest, schema?: string): Promise<void> {
    const id = tableId(table, schema);
    if (this.#requests.get(id)?.some((other) => other.id === request.id)) return;
    await this.#transaction([insertRequest(id, request)]);
    this.#addRequest(id, request);
  }

  /** Writes the log into the file, deletes replaced stamps and records the text of views. */
  async checkpoint(): Promise<void> {
    using connection = await this.connect();
    const unrecorded = [...this.#stamps.values()].filter(
      ({ type, definition }) => type === "view" && definition === undefined,
    );
    const last = "SELECT id, max(seq) FROM _setpoint.stamps GROUP BY id";
    const statements = [
      ...(this.#superseded > 0 ? [`DELETE FROM _setpoint.stamps WHERE (id, seq) NOT IN (${last})`] : []),
      ...(unrecorded.length > 0 ? [RECORD_VIEWS] : []),
    ];
    if (statements.length > 0) await this.#transaction(statements);
    this.#superseded = 0;
    if (unrecorded.length > 0) {
      for (const row of await connection.rows("SELECT id, definition FROM _setpoint.stamps WHERE type = 'view'")) {
        const stored = this.#stamps.get(String(row.id));
        if (stored && row.definition !== null) {
          this.#stamps.set(stored.id, { ...stored, definition: String(row.definition) });
        }
      }
    }
    await connection.run("CHECKPOINT");
  }

  async close(): Promise<void> {
    await this.checkpoint().catch(() => {});
    this.#instance.closeSync();
  }

  #addRequest(id: string, request: RefreshRequest): void {
    this.#requests.set(id, [...(this.#requests.get(id) ?? []), request]);
  }

  async #transaction(statements: readonly string[]): Promise<void> {
    using connection = await this.connect();
    await connection.run("BEGIN");
    try {
      for (const statement of statements) await connection.run(statement);
      await connection.run("COMMIT");
    } catch (thrown) {
      await connection.rollback();
      throw thrown;
    }
  }
}

/** Records the text of all views with one statement. One by one it would take as long as building them. */
const RECORD_VIEWS = `UPDATE _setpoint.stamps SET definition = v.sql FROM duckdb_views() v
  WHERE definition IS NULL AND type = 'view' AND v.database_name = current_database()
  AND lower(v.schema_name || '.' || v.view_name) = id`;

function deleteId(table: string, id: string): string {
  return `DELETE FROM _setpoint.${table} WHERE id = ${literal(id)}`;
}

function openFailure(thrown: unknown): EngineFailure {
  if (thrown instanceof EngineFailure && thrown.wire.code !== "PIPELINES_ENGINE_FAILED") return thrown;
  const message =
    thrown instanceof EngineFailure ? thrown.message : (duckDbError(thrown).exception_message ?? String(thrown));
  const locked = LOCKED.exec(message);
  if (locked) return new EngineFailure({ code: "lock", message: locked[2]! });
  if (OUTSIDE.test(message)) return new EngineFailure({ code: "PIPELINES_ENGINE_FAILED", message });
  return new EngineFailure({ code: "broken", message });
}
