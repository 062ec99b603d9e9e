import { createHash } from "node:crypto";
import type { Column, PartitionRecord, RefreshRequest, Stamp } from "../engine.js";
import type { Row } from "./json-values.js";
import { literal, optional } from "./sql-text.js";

/**
 * The engine's own tables. None has a key or an index, because DuckDB may fail to replay those from its log. Stamps are
 * only inserted: the one with the highest `seq` counts, and a checkpoint deletes the earlier ones.
 */
export const BOOKKEEPING = `
CREATE SCHEMA IF NOT EXISTS _setpoint;
CREATE TABLE IF NOT EXISTS _setpoint.stamps (
  id VARCHAR, seq BIGINT, schema_name VARCHAR, table_name VARCHAR, type VARCHAR, spec_hash VARCHAR, test_hash VARCHAR,
  inputs VARCHAR, run_id VARCHAR, output_version VARCHAR, row_count BIGINT, checksum VARCHAR, columns VARCHAR,
  definition VARCHAR, built_on BIGINT, duration_ms BIGINT, state VARCHAR, is_drifted BOOLEAN
);
CREATE TABLE IF NOT EXISTS _setpoint.partitions (
  id VARCHAR, key VARCHAR, record VARCHAR
);
CREATE TABLE IF NOT EXISTS _setpoint.requests (
  id VARCHAR, request VARCHAR, body VARCHAR
);`;

/** A stamp, with what is needed to tell whether the table is still the one that was stamped. */
export interface StoredStamp {
  readonly id: string;
  readonly schema: string;
  readonly table: string;
  readonly type: "table" | "view";
  readonly stamp: Stamp;
  readonly columns: readonly Column[];
  /** Sum of the rows' hashes; undefined for a view. */
  readonly checksum?: string;
  /** The view's text as the database prints it; undefined until a checkpoint has recorded it. */
  readonly definition?: string;
  readonly isDrifted: boolean;
}

/** Only the last stamp of each table. */
export const LAST_STAMPS = `
SELECT * FROM _setpoint.stamps QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1`;

export function storedStamp(row: Row): StoredStamp {
  const text = (name: string): string => String(row[name] ?? "");
  const state = row.state;
  const columns: readonly Column[] = JSON.parse(text("columns"));
  // The version of a table is computed from its rows and columns, unless one is stored.
  const version = row.output_version ?? tableVersion(Number(row.row_count), text("checksum"), columns);
  return {
    id: text("id"),
    schema: text("schema_name"),
    table: text("table_name"),
    type: row.type === "view" ? "view" : "table",
    columns,
    isDrifted: row.is_drifted === true,
    ...(row.checksum === null ? {} : { checksum: text("checksum") }),
    ...(row.definition === null ? {} : { definition: text("definition") }),
    stamp: {
      specHash: text("spec_hash"),
      testHash: text("test_hash"),
      inputs: JSON.parse(text("inputs")),
      runId: text("run_id"),
      outputVersion: String(version),
      rows: Number(row.row_count),
      builtOn: Number(row.built_on),
      durationMs: Number(row.duration_ms),
      ...(state === null || state === undefined ? {} : { state: JSON.parse(String(state)) }),
    },
  };
}

/** Inserts a stamp, which replaces the earlier ones. */
export function insertStamp(seq: number, stored: StoredStamp): string {
  const { stamp, checksum } = stored;
  const values = stampValues(seq, stored, optional(stamp.rows), optional(checksum), optional(stamp.outputVersion));
  return `INSERT INTO _setpoint.stamps VALUES (${values})`;
}

/** Alias for the whole row. No column may have this name. */
const ROW = "_setpoint_row";
const ROWS = "count(*)";
/** Equal for equal rows in any order. */
const CHECKSUM = `coalesce(sum(hash(${ROW})::HUGEINT), 0)::VARCHAR`;

/** Selects `row_count` and `checksum` of a table. */
export function contentSql(target: string): string {
  return `${ROWS} AS row_count, ${CHECKSUM} AS checksum FROM ${target} ${ROW}`;
}

/** Inserts the stamp of a table. The same statement computes and returns the row count and the checksum. */
export function insertTableStamp(
  seq: number,
  stored: StoredStamp,
  target: string,
  version: string | undefined,
): string {
  const values = stampValues(seq, stored, ROWS, CHECKSUM, optional(version));
  return `INSERT INTO _setpoint.stamps SELECT ${values} FROM ${target} ${ROW} RETURNING row_count, checksum`;
}

function stampValues(seq: number, stored: StoredStamp, rows: string, checksum: string, version: string): string {
  const { id, schema, table, type, stamp, columns, definition, isDrifted } = stored;
  const { specHash, testHash, inputs, runId, builtOn, durationMs, state } = stamp;
  return [
    ...[id, seq, schema, table, type, specHash, testHash, JSON.stringify(inputs), runId].map(optional),
    version,
    rows,
    checksum,
    ...[JSON.stringify(columns), definition, builtOn, durationMs, state && JSON.stringify(state), isDrifted].map(
      optional,
    ),
  ].join(", ");
}

/** The output version of a table: a digest of its rows and columns. */
export function tableVersion(rows: number, checksum: string, columns: readonly Column[]): string {
  return digest(["table", checksum, rows, columns]);
}

export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 22);
}

export function deletePartitions(id: string, keys?: readonly string[]): string {
  const some = keys ? ` AND key IN (${keys.map(literal).join(", ")})` : "";
  return `DELETE FROM _setpoint.partitions WHERE id = ${literal(id)}${some}`;
}

export function insertPartitions(id: string, records: readonly PartitionRecord[]): string {
  const rows = records.map((record) => `(${[id, record.key, JSON.stringify(record)].map(literal).join(", ")})`);
  return `INSERT INTO _setpoint.partitions VALUES ${rows.join(", ")}`;
}

export function insertRequest(id: string, request: RefreshRequest): string {
  return `INSERT INTO _setpoint.requests VALUES (${[id, request.id, JSON.stringify(request)].map(literal).join(", ")})`;
}
