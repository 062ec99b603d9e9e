import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { PipelinesError } from "../errors.js";
import { literalOf } from "./reader-sql.js";

export interface CopyRequest {
  readonly url: string;
  readonly sql: string;
  /** The file to write the rows to. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/** DuckDB types by the OID of the PostgreSQL type. Any other type, except NUMERIC, is read as text. */
const TYPES: Readonly<Record<number, string>> = {
  16: "BOOLEAN",
  20: "BIGINT",
  21: "SMALLINT",
  23: "INTEGER",
  26: "BIGINT",
  700: "FLOAT",
  701: "DOUBLE",
  114: "JSON",
  3802: "JSON",
  1082: "DATE",
  1083: "TIME",
  1114: "TIMESTAMP",
  1184: "TIMESTAMPTZ",
  1186: "INTERVAL",
  2950: "UUID",
};
const NUMERIC = 1700;

interface FieldInfo {
  readonly name: string;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
}

/** The methods that `pg` calls while a COPY runs. */
interface CopyQuery {
  submit(connection: { query(sql: string): void }): void;
  handleCopyData(message: { readonly chunk: Buffer }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

/**
 * Copies the rows of a query on a PostgreSQL server to a file. Returns SQL that reads the file with the types of the
 * columns.
 */
export async function copyFromPostgres({ url, sql, path, signal }: CopyRequest): Promise<string> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url, application_name: "setpoint pipelines" });
  client.on("error", () => {});
  const onAbort = (): void => void client.end().catch(() => {});
  signal.addEventListener("abort", onAbort, { once: true });
  const query = sql.trim().replace(/;+\s*$/, "");
  try {
    await client.connect();
    await client.query("BEGIN TRANSACTION READ ONLY");
    const { fields } = await client.query(`SELECT * FROM (\n${query}\n) AS setpoint_rows LIMIT 0`);
    const file = createWriteStream(path, { mode: 0o600 });
    await new Promise<void>((resolve, reject) => {
      const copy: CopyQuery = {
        submit: (connection) => connection.query(`COPY (\n${query}\n) TO STDOUT (FORMAT csv, FORCE_QUOTE *)`),
        handleCopyData: ({ chunk }) => void file.write(chunk),
        handleCommandComplete: () => {},
        handleReadyForQuery: resolve,
        handleError: reject,
      };
      client.once("end", () => reject(new Error("the connection was closed")));
      client.query(copy as never);
    });
    file.end();
    await finished(file);
    return rowsSql(path, fields);
  } catch (cause) {
    signal.throwIfAborted();
    // Quote only the server's message: the URL may hold a password.
    throw new PipelinesError(
      "PIPELINES_INPUT_FAILED",
      `PostgreSQL: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  } finally {
    signal.removeEventListener("abort", onAbort);
    await client.end().catch(() => {});
  }
}

function rowsSql(path: string, fields: readonly FieldInfo[]): string {
  const columns = fields.map((field) => `${literalOf(field.name)}: ${literalOf(typeOf(field))}`);
  // PostgreSQL quotes every value, so that an empty text differs from NULL.
  return `SELECT * FROM read_csv(${literalOf(path)}, header = false, auto_detect = false, delim = ',', quote = '"', escape = '"',
    nullstr = '', allow_quoted_nulls = false, columns = {${columns.join(", ")}})`;
}

function typeOf({ dataTypeID, dataTypeModifier }: FieldInfo): string {
  if (dataTypeID !== NUMERIC) return TYPES[dataTypeID] ?? "VARCHAR";
  const [precision, scale] = [((dataTypeModifier - 4) >> 16) & 65_535, (dataTypeModifier - 4) & 65_535];
  return dataTypeModifier >= 4 && precision <= 38 && scale <= precision ? `DECIMAL(${precision}, ${scale})` : "DOUBLE";
}
