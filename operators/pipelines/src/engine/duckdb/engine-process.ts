/** The program of the engine's process: DuckDB behind messages. It ends when its parent ends. */

import { statementOf } from "../../sql/statement.js";
import type { ParsedStatement } from "../engine.js";
import type { Connection } from "./connection.js";
import { Database } from "./database.js";
import { EngineFailure } from "./duckdb-error.js";
import { columnsOf, rowsOf } from "./json-values.js";
import type { CallName, Calls, FromChild, ToChild, WireError } from "./protocol.js";
import { literal } from "./sql-text.js";

type Handlers = {
  readonly [Name in CallName]: (
    args: Calls[Name]["args"],
    run: RunningCall,
  ) => Promise<Calls[Name]["answer"]> | Calls[Name]["answer"];
};

const ROWS_BY_DEFAULT = 1_000_000;

/** A call in progress, with its own connection. */
class RunningCall {
  readonly id: number;
  readonly #wantsProgress: boolean;
  #connection: Connection | undefined;
  #isAborted = false;

  constructor(id: number, wantsProgress: boolean) {
    this.id = id;
    this.#wantsProgress = wantsProgress;
  }

  abort(): void {
    this.#isAborted = true;
    this.#connection?.interrupt();
  }

  async connect(schema?: string): Promise<Connection> {
    const connection = await opened().connect(schema);
    this.#connection = connection;
    if (this.#isAborted) connection.interrupt();
    if (this.#wantsProgress) await connection.watch((share) => send({ type: "progress", id: this.id, share }));
    return connection;
  }
}

const handlers: Handlers = {
  async open(request) {
    database = await Database.open(request);
    return null;
  },
  async parse(statements, run) {
    using connection = await run.connect();
    return await parsed(statements, connection);
  },
  async describe({ sql, schema }, run) {
    using connection = await run.connect(schema);
    return await connection.columns(sql, { part: "query" });
  },
  async query({ sql, schema, limit = ROWS_BY_DEFAULT }, run) {
    using connection = await run.connect(schema);
    await connection.run("BEGIN TRANSACTION READ ONLY");
    const reader = await connection.readUntil(sql, limit, { part: "query" });
    const rows = rowsOf(reader);
    return { columns: columnsOf(reader), rows: rows.slice(0, limit), isCut: rows.length > limit };
  },
  async publish(publication, run) {
    using connection = await run.connect(publication.schema);
    return await opened().publish(publication, connection);
  },
  facts: () => opened().facts(),
  partitions: ({ table, schema }) => opened().partitions(table, schema),
  savePartitions: ({ table, records, schema }) => opened().savePartitions(table, records, schema).then(nothing),
  rename: ({ table, to, schema }) => opened().rename(table, to, schema).then(nothing),
  drop: ({ table, schema }) => opened().drop(table, schema).then(nothing),
  dropSchema: ({ schema }) => opened().dropSchema(schema).then(nothing),
  request: ({ table, request, schema }) => opened().request(table, request, schema).then(nothing),
  checkpoint: () => opened().checkpoint().then(nothing),
  async close() {
    await opened().close();
    return null;
  },
};

const calls = new Map<number, RunningCall>();
let database: Database | undefined;

function opened(): Database {
  if (!database) throw new EngineFailure({ code: "PIPELINES_ENGINE_FAILED", message: "no database is open" });
  return database;
}

const nothing = (): null => null;

/** Parses all statements with one query. One by one they would take ten times as long. */
async function parsed(statements: readonly string[], connection: Connection): Promise<readonly ParsedStatement[]> {
  if (statements.length === 0) return [];
  const values = statements.map((sql, at) => `(${at}, ${literal(sql)})`).join(", ");
  const rows = await connection.rows(
    `SELECT json_serialize_sql(sql)::VARCHAR AS tree FROM (VALUES ${values}) AS v(nr, sql) ORDER BY nr`,
  );
  return statements.map((sql, at) => statementOf(sql, String(rows[at]!.tree)));
}

function send(message: FromChild): void {
  process.send?.(message);
}

async function answer(message: Extract<ToChild, { type: "call" }>): Promise<void> {
  const { id, name, args } = message;
  const run = new RunningCall(id, message.progress);
  calls.set(id, run);
  try {
    const handler = handlers[name] as (given: unknown, call: RunningCall) => unknown;
    send({ type: "answer", id, answer: await handler(args, run) });
  } catch (thrown) {
    send({ type: "failed", id, error: wireError(thrown) });
  } finally {
    calls.delete(id);
  }
}

function wireError(thrown: unknown): WireError {
  if (thrown instanceof EngineFailure) return thrown.wire;
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return { code: "PIPELINES_ENGINE_FAILED", message };
}

process.on("message", (message: ToChild) => {
  if (message.type === "call") void answer(message);
  else if (message.type === "abort") calls.get(message.id)?.abort();
  else send({ type: "pong" });
});
// Kill the process. An orderly exit would wait for the running statement and hold the file's lock meanwhile.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// Ctrl-C reaches the whole process group. Ignore it: the parent decides when the engine ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
