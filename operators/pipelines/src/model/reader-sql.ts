import { extname } from "node:path";
import { PipelinesError } from "../errors.js";
import type { FileFormat } from "./model-spec.js";

const READERS: Readonly<Record<FileFormat, string>> = { csv: "read_csv", json: "read_json", parquet: "read_parquet" };

const BY_EXTENSION: Readonly<Record<string, FileFormat>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".txt": "csv",
  ".json": "json",
  ".ndjson": "json",
  ".jsonl": "json",
  ".parquet": "parquet",
  ".parq": "parquet",
};

/** The format of a file by its name; endings of compression do not count. */
export function formatOf(path: string): FileFormat {
  const plain = path.replace(/[?#].*$/, "").replace(/\.(gz|zst|zstd|bz2|xz)$/i, "");
  const format = BY_EXTENSION[extname(plain).toLowerCase()];
  if (format) return format;
  const message = `the format of ${path} is not known by its ending; set format to csv, json or parquet`;
  throw new PipelinesError("PIPELINES_FILE_INVALID", message);
}

/** A query of all rows of local files. */
export function readerSql(path: string, format: FileFormat, options: Readonly<Record<string, unknown>>): string {
  const settings = Object.entries(options).map(([name, value]) => {
    if (!/^\w+$/.test(name)) {
      throw new PipelinesError("PIPELINES_FILE_INVALID", `${JSON.stringify(name)} is no option of a ${format} file`);
    }
    return `, ${name} = ${literalOf(value)}`;
  });
  return `SELECT * FROM ${READERS[format]}(${literalOf(path)}${settings.join("")})`;
}

/** A value of a YAML file as SQL; text is not taken for SQL. */
export function literalOf(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map(literalOf).join(", ")}]`;
  if (typeof value === "object") {
    const fields = Object.entries(value).map(([name, field]) => `${literalOf(name)}: ${literalOf(field)}`);
    return `{${fields.join(", ")}}`;
  }
  return `'${String(value).replaceAll("'", "''")}'`;
}
