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

/** The format of a file by its extension. Ignores a compression extension such as `.gz`. */
export function formatOf(path: string): FileFormat {
  const plain = path.replace(/[?#].*$/, "").replace(/\.(gz|zst|zstd|bz2|xz)$/i, "");
  const format = BY_EXTENSION[extname(plain).toLowerCase()];
  if (format) return format;
  const message = `cannot tell the format of ${path} from its extension; set format to csv, json or parquet`;
  throw new PipelinesError("PIPELINES_FILE_INVALID", message);
}

/** A query for all rows of local files. */
export function readerSql(path: string, format: FileFormat, options: Readonly<Record<string, unknown>>): string {
  const settings = [...readerOptions(format, options)].map(([name, value]) => {
    if (!/^\w+$/.test(name)) {
      throw new PipelinesError(
        "PIPELINES_FILE_INVALID",
        `${JSON.stringify(name)} is not an option of a ${format} file`,
      );
    }
    return `, ${name} = ${value}`;
  });
  return `SELECT * FROM ${READERS[format]}(${literalOf(path)}${settings.join("")})`;
}

/** Settings that are not options of the file reader. */
const NOT_READ = /^(glob|extract|ingestion|batch_size|headers|cast_to_enum)(\.|$)/;

/** The reader's options with their values as SQL. As in Rill, strings below `duckdb` are SQL already. */
function readerOptions(format: FileFormat, options: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of Object.entries(options)) {
    if (name === "allow_schema_relaxation") {
      if (value === true) all.set("union_by_name", "true");
    } else if (name === "csv.delimiter") all.set("delim", literalOf(value));
    else if (name === format || name === "read_options") {
      for (const [inner, of] of entriesOf(value)) all.set(inner === "delimiter" ? "delim" : inner, literalOf(of));
    } else if (name === "duckdb") {
      for (const [inner, of] of entriesOf(value)) all.set(inner, typeof of === "string" ? of : literalOf(of));
    } else if (!NOT_READ.test(name) && !(name in READERS)) all.set(name, literalOf(value));
  }
  return all;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

/** A YAML value as a SQL literal. Text is escaped and never becomes SQL. */
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
