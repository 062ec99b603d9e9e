import type { Column, Engine } from "../engine/engine.js";
import { PipelinesError } from "../errors.js";
import type { UnitTest } from "./model-spec.js";
import { literalOf } from "./reader-sql.js";

type Row = Readonly<Record<string, unknown>>;

export interface UnitTestRun {
  readonly engine: Engine;
  readonly schema?: string;
  readonly signal: AbortSignal;
  /** Columns of an input, to cast the given values to its types. */
  readonly columnsOf: (input: string) => readonly Column[];
}

/**
 * Runs the query on the given rows and compares the result with the expected rows. Throws `PIPELINES_TESTS_FAILED` with
 * the missing and the unexpected rows.
 */
export async function runUnitTest(
  test: UnitTest,
  sql: string,
  { engine, schema, signal, columnsOf }: UnitTestRun,
): Promise<void> {
  const inputs = Object.entries(test.given).map(
    ([name, rows]) => `${quoted(name)} AS (${givenSql(rows, columnsOf(name))})`,
  );
  const body = sql.trim().replace(/;+\s*$/, "");
  const query = `WITH ${[...inputs, `setpoint_result AS (\n${body}\n)`].join(",\n")} SELECT * FROM setpoint_result`;
  const { rows } = await engine.query(query, { signal, ...(schema === undefined ? {} : { schema }) });
  const names = [...new Set(test.expect.flatMap((row) => Object.keys(row)))];
  const text = (row: Row): string => JSON.stringify(names.map((name) => comparable(row[name])));
  const left = rows.map(text);
  const missing: Row[] = [];
  for (const expected of test.expect) {
    const at = left.indexOf(text(expected));
    if (at >= 0) left.splice(at, 1);
    else missing.push(expected);
  }
  if (missing.length === 0 && left.length === 0) return;
  const parts = [
    ...(missing.length > 0
      ? [
          `missing ${missing
            .slice(0, 3)
            .map((row) => JSON.stringify(row))
            .join(", ")}`,
        ]
      : []),
    ...(left.length > 0 ? [`not expected ${left.slice(0, 3).join(", ")} (${names.join(", ")})`] : []),
  ];
  throw new PipelinesError("PIPELINES_TESTS_FAILED", `tests failed: ${test.name}: ${parts.join("; ")}`);
}

function givenSql(rows: readonly Row[], columns: readonly Column[]): string {
  const given = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const all = columns.length > 0 ? columns : given.map((name) => ({ name, type: undefined }));
  const unknown = given.filter((name) => !all.some((column) => column.name.toLowerCase() === name.toLowerCase()));
  const fields = [...all, ...unknown.map((name) => ({ name, type: undefined }))];
  const select = (row: Row): string => {
    const values = fields.map(({ name, type }) => {
      const key = Object.keys(row).find((each) => each.toLowerCase() === name.toLowerCase());
      const value = key === undefined ? "NULL" : literalOf(row[key]);
      return `${type === undefined ? value : `CAST(${value} AS ${type})`} AS ${quoted(name)}`;
    });
    return `SELECT ${values.length > 0 ? values.join(", ") : "NULL AS nothing"}`;
  };
  return rows.length === 0 ? `${select({})} LIMIT 0` : rows.map(select).join(" UNION ALL ");
}

/** Normalises a value for comparison: `1.50` equals 1.5, and a timestamp at midnight equals its date. */
function comparable(value: unknown): unknown {
  if (value === null || value === undefined || (typeof value === "number" && !Number.isFinite(value))) return null;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "object") return value;
  const text = String(value);
  if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  return text
    .replace(" ", "T")
    .replace(/T00:00:00(?:\.0+)?Z?$/, "")
    .replace(/(\d\d:\d\d:\d\d(?:\.\d+)?)Z$/, "$1");
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
