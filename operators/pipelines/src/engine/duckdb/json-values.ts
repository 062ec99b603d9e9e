import {
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  DuckDBMapType,
  DuckDBMapValue,
  type DuckDBResultReader,
  type DuckDBType,
  DuckDBUnionType,
  DuckDBUnionValue,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from "@duckdb/node-api";
import type { Column } from "../engine.js";

const TIMESTAMP = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00(?::00)?)?$/;

/** A JavaScript number keeps a decimal of up to this many digits exactly. */
const EXACT_DIGITS = 15;

/**
 * Converts a value of DuckDB to JSON. Integers and decimals are numbers if a number holds them exactly, otherwise text.
 * Values that are not finite are null, because JSON has no number for them. Maps and unions are objects, values of type
 * JSON are their content, and timestamps have the form of RFC 3339.
 */
const jsonValue: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (typeof value === "bigint") return integer(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value instanceof DuckDBDecimalValue && String(value.value).replace("-", "").length <= EXACT_DIGITS) {
    return Number(value.toString());
  }
  if (value instanceof DuckDBIntervalValue) {
    return { months: value.months, days: value.days, micros: integer(value.micros) };
  }
  if (value instanceof DuckDBMapValue && type instanceof DuckDBMapType) {
    const entries = value.entries.map((entry) => {
      const key = converter(entry.key, type.keyType, converter);
      return [typeof key === "string" ? key : JSON.stringify(key), converter(entry.value, type.valueType, converter)];
    });
    return Object.fromEntries(entries) as Json;
  }
  if (value instanceof DuckDBUnionValue && type instanceof DuckDBUnionType) {
    return { [value.tag]: converter(value.value, type.memberTypeForTag(value.tag), converter) };
  }
  if (typeof value === "string" && type.alias === "JSON") return parsedJson(value);
  const json = JsonDuckDBValueConverter(value, type, converter);
  if (typeof json !== "string" || !isTimestamp(type)) return json;
  const match = TIMESTAMP.exec(json);
  return match ? `${match[1]}T${match[2]}Z` : json;
};

function integer(value: bigint): Json {
  const isExact = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
  return isExact ? Number(value) : String(value);
}

/** DuckDB may write NaN, which is not JSON. Such a text stays a text. */
function parsedJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function isTimestamp(type: DuckDBType): boolean {
  return String(type).startsWith("TIMESTAMP");
}

export type Row = Readonly<Record<string, Json>>;

export function rowsOf(reader: DuckDBResultReader): Row[] {
  // Use the types of the result. The types of its vectors do not distinguish JSON from text.
  const types = reader.columnTypes();
  const names = reader.deduplicatedColumnNames();
  return reader
    .getRows()
    .map((row) => Object.fromEntries(row.map((value, at) => [names[at]!, jsonValue(value, types[at]!, jsonValue)])));
}

export function columnsOf(reader: DuckDBResultReader): readonly Column[] {
  return reader.columnTypes().map((type, at) => ({ name: reader.columnName(at), type: String(type) }));
}
