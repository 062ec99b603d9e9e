import { systemClock } from "setpoint/clock";
import type { Column, Publication, Stamp } from "../engine.js";
import {
  contentSql,
  deletePartitions,
  digest,
  insertPartitions,
  insertStamp,
  insertTableStamp,
  type StoredStamp,
  tableVersion,
} from "./bookkeeping.js";
import type { Connection } from "./connection.js";
import { EngineFailure, type StatementOrigin } from "./duckdb-error.js";
import { identifier, literal, MAIN_SCHEMA, qualified, tableId } from "./sql-text.js";
import { isOfSession, statementsOf } from "./statements.js";

/** Temporary table for the rows of a merge or an overwrite. */
const STAGED = "temp._setpoint_staged";

export interface PublishContext {
  readonly connection: Connection;
  /** What exists at the table's name now. */
  readonly existing: "table" | "view" | undefined;
  /** The current stamp of the table. */
  readonly previous: StoredStamp | undefined;
  readonly nextSeq: () => number;
}

/** Runs a whole publication in one transaction. The caller checks that the commit took place. */
export async function publish(publication: Publication, context: PublishContext): Promise<StoredStamp> {
  const { connection } = context;
  const { schema = MAIN_SCHEMA, table, tests, stateSql, partitions, fulfils, runId } = publication;
  const startedMs = systemClock.monotonic();
  const id = tableId(table, schema);
  const before = piecesOf("before", publication.before);
  // ATTACH and SET do not belong to a transaction. Run such statements before it begins.
  for (const { sql, origin } of before.filter(({ isSession }) => isSession)) await connection.run(sql, origin);
  const transaction = new Transaction(connection);
  for (const { sql, origin } of before.filter(({ isSession }) => !isSession)) await transaction.run(sql, origin);
  await writeTable(publication, context, transaction);
  await transaction.begin();
  await runTests(tests, connection);
  for (const { sql, origin, isSession } of piecesOf("after", publication.after)) {
    if (!isSession) await connection.run(sql, origin);
  }
  const output = await outputOf(publication, context);
  const kept = publication.write.type === "keep" ? context.previous?.stamp.state : undefined;
  const [state = kept] = stateSql === undefined ? [] : await connection.rows(stateSql, { part: "state" });
  const keys = partitions.map(({ key }) => key);
  if (publication.resetPartitions) await connection.run(deletePartitions(id));
  else if (keys.length > 0) await connection.run(deletePartitions(id, keys));
  if (partitions.length > 0) await connection.run(insertPartitions(id, partitions));
  if (fulfils.length > 0) {
    const requests = fulfils.map(literal).join(", ");
    await connection.run(`DELETE FROM _setpoint.requests WHERE id = ${literal(id)} AND request IN (${requests})`);
  }
  const { outputVersion, ...proof } = publication.stamp;
  const stamp: Stamp = {
    ...proof,
    runId,
    outputVersion: outputVersion ?? output.version ?? "",
    rows: 0,
    durationMs: Math.round(systemClock.monotonic() - startedMs),
    ...(state ? { state } : {}),
  };
  const { type, columns } = output;
  const stored: StoredStamp = { id, schema, table, type, stamp, columns, isDrifted: false };
  // Do not commit after an interrupt: COMMIT may succeed although the work was rolled back.
  connection.throwIfInterrupted();
  const seq = context.nextSeq();
  if (type === "view") {
    await connection.run(`${insertStamp(seq, stored)}; COMMIT`);
    return stored;
  }
  const insert = insertTableStamp(seq, stored, qualified(table, schema), outputVersion);
  const [row] = await connection.rows(`${insert}; COMMIT`);
  const [rows, checksum] = [Number(row!.row_count), String(row!.checksum)];
  const version = outputVersion ?? tableVersion(rows, checksum, columns);
  return { ...stored, checksum, stamp: { ...stamp, rows, outputVersion: version } };
}

/** Sends BEGIN together with the first statement, because each round trip matters for small tables. */
class Transaction {
  readonly #connection: Connection;
  #opening = "BEGIN; ";

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async run(sql: string, origin?: StatementOrigin): Promise<void> {
    const opening = this.#opening;
    this.#opening = "";
    const placed = origin && { ...origin, prefix: (origin.prefix ?? 0) + opening.length };
    await this.#connection.run(`${opening}${sql}`, placed);
  }

  async begin(): Promise<void> {
    if (this.#opening !== "") await this.run("");
  }
}

/** The statements before or after the write, each with the place that its errors name. */
export function piecesOf(
  name: "before" | "after",
  texts: readonly string[],
): readonly { readonly sql: string; readonly origin: StatementOrigin; readonly isSession: boolean }[] {
  return texts.flatMap((text, at) =>
    statementsOf(text).map(({ sql, offset }) => {
      return { sql, origin: { part: `${name} ${at}`, prefix: -offset }, isSession: isOfSession(sql) };
    }),
  );
}

async function writeTable(
  { schema, table, write }: Publication,
  { connection, existing }: PublishContext,
  transaction: Transaction,
): Promise<void> {
  const target = qualified(table, schema);
  const make = async (prefix: string, sql: string): Promise<void> => {
    await oneStatement(sql, connection);
    await transaction.run(`${prefix}${sql}`, { part: "write", prefix: prefix.length });
  };
  if (write.type === "view" || write.type === "replace") {
    const isView = write.type === "view";
    if (existing && (existing === "view") !== isView) await transaction.run(`DROP ${existing} ${target}`);
    await make(`CREATE OR REPLACE ${isView ? "VIEW" : "TABLE"} ${target} AS `, write.sql);
    return;
  }
  if (write.type === "adopt") {
    if (existing) await transaction.run(`DROP ${existing} ${target}`);
    await transaction.run(`ALTER TABLE ${qualified(write.from, schema)} RENAME TO ${identifier(table)}`);
    const [from, to] = [tableId(write.from, schema), tableId(table, schema)].map(literal);
    await transaction.run(`DELETE FROM _setpoint.partitions WHERE id = ${to}`);
    await transaction.run(`UPDATE _setpoint.partitions SET id = ${to} WHERE id = ${from}`);
    await transaction.run(`DELETE FROM _setpoint.stamps WHERE id = ${from}`);
    return;
  }
  if (write.type === "keep" && existing) return;
  if (existing !== "table" || write.type === "keep") {
    throw new EngineFailure({
      code: "PIPELINES_ENGINE_FAILED",
      message: `${table} is ${existing ? "a view" : "missing"}: cannot append to it`,
    });
  }
  if (write.type === "append") {
    await make(`INSERT INTO ${target} BY NAME `, write.sql);
    return;
  }
  await make(`CREATE OR REPLACE TEMP TABLE ${STAGED} AS `, write.sql);
  const keys = write.type === "merge" ? write.uniqueKey.map(identifier) : [write.partitionBy];
  // Select only the keys of the staged rows, under names that no column of the table has.
  const staged = keys.map((key, at) => `(${key}) AS _setpoint_key_${at}`).join(", ");
  const equal = keys.map((key, at) => `staged._setpoint_key_${at} IS NOT DISTINCT FROM (${key})`).join(" AND ");
  const origin = { part: "write" };
  await transaction.run(
    `DELETE FROM ${target} WHERE EXISTS (SELECT 1 FROM (SELECT DISTINCT ${staged} FROM ${STAGED}) staged WHERE ${equal})`,
    origin,
  );
  await transaction.run(`INSERT INTO ${target} BY NAME FROM ${STAGED}`, origin);
  await transaction.run(`DROP TABLE ${STAGED}`);
}

/** Refuses a text with several statements, which would do more than create a table. */
async function oneStatement(sql: string, connection: Connection): Promise<void> {
  if (!sql.includes(";")) return;
  const { count } = await connection.duckdb.extractStatements(sql).catch(() => ({ count: 1 }));
  if (count <= 1) return;
  const message = `the SQL has ${count} statements; expected one query`;
  throw new EngineFailure({ code: "PIPELINES_ENGINE_FAILED", message, position: { part: "write" } });
}

async function runTests(tests: Publication["tests"], connection: Connection): Promise<void> {
  const failed: string[] = [];
  for (const { name, sql } of tests) {
    const reader = await connection.readUntil(sql, 1, { part: `test ${name}` });
    if (reader.currentRowCount > 0) failed.push(name);
  }
  if (failed.length === 0) return;
  throw new EngineFailure({ code: "PIPELINES_TESTS_FAILED", message: `tests failed: ${failed.join(", ")}` });
}

interface Output {
  readonly type: "table" | "view";
  readonly columns: readonly Column[];
  /** The output version of a view. That of a table is computed from its rows. */
  readonly version?: string;
}

async function outputOf({ schema, table, write, stamp }: Publication, context: PublishContext): Promise<Output> {
  const { connection, existing, previous } = context;
  const columns = await connection.columns(`FROM ${qualified(table, schema)}`, { part: "write" });
  if (write.type === "view") {
    return { type: "view", columns, version: digest(["view", write.sql, stamp.specHash, stamp.inputs, columns]) };
  }
  if (write.type !== "keep" || existing !== "view") return { type: "table", columns };
  return { type: "view", columns, ...(previous ? { version: previous.stamp.outputVersion } : {}) };
}

/** The row count and the checksum of each table. */
export async function contentOf(
  targets: readonly string[],
  connection: Connection,
): Promise<readonly { readonly rows: number; readonly checksum: string }[]> {
  const parts = targets.map((target, at) => `SELECT ${at} AS nr, ${contentSql(target)}`);
  const rows = await connection.rows(`${parts.join(" UNION ALL ")} ORDER BY nr`);
  return rows.map((row) => ({ rows: Number(row.row_count), checksum: String(row.checksum) }));
}
