import {
  DuckDBDecimalValue,
  type DuckDBResultReader,
  type DuckDBType,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from "@duckdb/node-api";
import type { Column } from "../engine.js";

const TIMESTAMP = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00(?::00)?)?$/;

/** So many digits of a decimal come back from a number as they went in. */
const EXACT_DIGITS = 15;

/** Integers and decimals that a number holds exactly are numbers; timestamps are in the form of RFC 3339. */
const jsonValue: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) {
    return Number(value);
  }
  if (value instanceof DuckDBDecimalValue && String(value.value).replace("-", "").length <= EXACT_DIGITS) {
    return Number(value.toString());
  }
  const json = JsonDuckDBValueConverter(value, type, converter);
  if (typeof json !== "string" || !isTimestamp(type)) return json;
  const match = TIMESTAMP.exec(json);
  return match ? `${match[1]}T${match[2]}Z` : json;
};

function isTimestamp(type: DuckDBType): boolean {
  return String(type).startsWith("TIMESTAMP");
}

export type Row = Readonly<Record<string, Json>>;

export function rowsOf(reader: DuckDBResultReader): Row[] {
  return reader.convertRowObjects(jsonValue);
}

export function columnsOf(reader: DuckDBResultReader): readonly Column[] {
  return reader.columnTypes().map((type, at) => ({ name: reader.columnName(at), type: String(type) }));
}
