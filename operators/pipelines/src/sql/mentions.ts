import type { TableMention } from "../engine/engine.js";

/** Tables and files that a statement reads. */
export interface Mentions {
  readonly tables: TableMention[];
  readonly files: string[];
}

/** A node of the syntax tree that DuckDB's `json_serialize_sql` returns. */
export type SqlNode = Readonly<Record<string, unknown>>;

const FILE_READERS =
  /^(read_(csv|csv_auto|parquet|json|json_auto|json_objects|json_objects_auto|ndjson|ndjson_auto|ndjson_objects|text|blob|xlsx)|parquet_scan|sniff_csv|glob|parquet_(metadata|schema|file_metadata|kv_metadata)|st_read)$/i;

const FILE_NAME = /\.(csv|tsv|txt|parquet|json|jsonl|ndjson|geojson|xlsx|avro|db|duckdb)(\.(gz|zst))?$/i;

/** Whether DuckDB reads this table name as a file. A table of the same name takes precedence. */
export function isFileName(name: string): boolean {
  return FILE_NAME.test(name) || name.includes("/");
}

/**
 * Collects the tables and files below a node. A common table expression (CTE) hides a table of the same name in the
 * CTEs after it and in the query that it belongs to, and in itself only if it is recursive. A qualified name is always
 * a table.
 */
export function collectMentions(node: unknown, scope: ReadonlySet<string>, found: Mentions): void {
  if (Array.isArray(node)) {
    for (const item of node) collectMentions(item, scope, found);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  const inner = "cte_map" in node ? collectExpressions(node, scope, found) : scope;
  const { type } = node as SqlNode;
  if (type === "BASE_TABLE") addTable(node as SqlNode, inner, found);
  else if (type === "TABLE_FUNCTION") addFunction(node as SqlNode, found);
  for (const [key, value] of Object.entries(node))
    if (key !== "cte_map" && typeof value === "object") collectMentions(value, inner, found);
}

interface Expression {
  readonly key: string;
  readonly value: { readonly query: { readonly node: SqlNode } };
}

function collectExpressions(node: SqlNode, scope: ReadonlySet<string>, found: Mentions): ReadonlySet<string> {
  const { map } = node.cte_map as { readonly map: readonly Expression[] };
  let inner = scope;
  for (const { key, value } of map) {
    const name = key.toLowerCase();
    const isRecursive = value.query.node.type === "RECURSIVE_CTE_NODE";
    collectMentions(value, isRecursive ? new Set(inner).add(name) : inner, found);
    inner = new Set(inner).add(name);
  }
  return inner;
}

function addTable(node: SqlNode, scope: ReadonlySet<string>, { tables, files }: Mentions): void {
  const { catalog_name: catalog, schema_name: schema, table_name: table, query_location: offset } = node;
  const full = [catalog, schema, table].filter((part) => part !== "").join(".");
  if (isFileName(full)) files.push(full);
  else if (full !== table || !scope.has(full.toLowerCase())) {
    tables.push({
      ...(catalog !== "" && { catalog: String(catalog) }),
      ...(schema !== "" && { schema: String(schema) }),
      table: String(table),
      offset: Number(offset),
    });
  }
}

function addFunction({ function: call, query_location: offset }: SqlNode, { tables, files }: Mentions): void {
  const { function_name: name, children } = call as { function_name: string; children: readonly SqlNode[] };
  if (FILE_READERS.test(name)) files.push(...constantsOf(children[0]));
  else if (name.toLowerCase() === "query_table")
    tables.push(...constantsOf(children[0]).map((table) => ({ table, offset: Number(offset) })));
}

/** The string constants of an argument: `'a'` or `['a', 'b']`. */
function constantsOf(argument: SqlNode | undefined): readonly string[] {
  if (argument?.class === "FUNCTION" && argument.function_name === "list_value")
    return (argument.children as readonly SqlNode[]).flatMap(constantsOf);
  const value = argument?.class === "CONSTANT" ? (argument.value as SqlNode).value : undefined;
  return typeof value === "string" ? [value] : [];
}
