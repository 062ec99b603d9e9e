import type { Column } from "../engine.js";
import type { StoredStamp } from "./bookkeeping.js";
import type { Connection } from "./connection.js";
import { contentOf } from "./publication.js";
import { identifier, qualified, tableId } from "./sql-text.js";

/** The table or view at a name of the database. */
export interface CatalogEntry {
  readonly type: "table" | "view";
  readonly columns: readonly Column[];
  /** The text of a view, as the database prints it. */
  readonly definition?: string;
}

/** How many tables one checksum query covers. */
const TABLES_A_QUERY = 50;

/** Every table and view of the database, by id. Makes two plain queries, because one join costs ten times as much. */
export async function readCatalog(connection: Connection): Promise<Map<string, CatalogEntry>> {
  const own = "NOT internal AND database_name = current_database() AND schema_name <> '_setpoint'";
  const definitions = new Map<string, string>();
  for (const view of await connection.rows(`SELECT schema_name, view_name, sql FROM duckdb_views() WHERE ${own}`)) {
    definitions.set(tableId(String(view.view_name), String(view.schema_name)), String(view.sql));
  }
  const columns = new Map<string, Column[]>();
  const found = await connection.rows(
    `SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE ${own} ORDER BY column_index`,
  );
  for (const row of found) {
    const id = tableId(String(row.table_name), String(row.schema_name));
    const column = { name: String(row.column_name), type: String(row.data_type) };
    const others = columns.get(id);
    if (others) others.push(column);
    else columns.set(id, [column]);
  }
  return new Map(
    [...columns].map(([id, all]) => {
      const definition = definitions.get(id);
      return [
        id,
        definition === undefined ? { type: "table", columns: all } : { type: "view", columns: all, definition },
      ];
    }),
  );
}

/**
 * Ids of the stamped tables that are not what their last publication left. If `isSealed`, nobody else has written to
 * the file, so the rows are not read.
 */
export async function driftedTables(
  stamps: Iterable<StoredStamp>,
  catalog: ReadonlyMap<string, CatalogEntry>,
  isSealed: boolean,
  connection: Connection,
): Promise<ReadonlySet<string>> {
  const drifted = new Set<string>();
  const unproven: StoredStamp[] = [];
  for (const stored of stamps) {
    const entry = catalog.get(stored.id);
    if (stored.isDrifted || !entry || (await hasOtherForm(stored, entry, connection))) drifted.add(stored.id);
    else if (!isSealed) unproven.push(stored);
  }
  const tables = unproven.filter(({ type }) => type === "table");
  for (let at = 0; at < tables.length; at += TABLES_A_QUERY) {
    const some = tables.slice(at, at + TABLES_A_QUERY);
    const contents = await contentOf(
      some.map(({ table, schema }) => qualified(table, schema)),
      connection,
    );
    for (const [index, { rows, checksum }] of contents.entries()) {
      const stored = some[index]!;
      if (rows !== stored.stamp.rows || checksum !== stored.checksum) drifted.add(stored.id);
    }
  }
  // The text of the view was never recorded: our process was killed soon after it created the view.
  for (const { id, type, definition } of unproven) {
    if (type === "view" && definition === undefined) drifted.add(id);
  }
  return drifted;
}

async function hasOtherForm(stored: StoredStamp, entry: CatalogEntry, connection: Connection): Promise<boolean> {
  const { type, columns, definition, table, schema } = stored;
  if (type !== entry.type) return true;
  if (type === "view") return definition !== undefined && definition !== entry.definition;
  if (hasColumns(columns, entry.columns)) return false;
  // The catalog names some types, such as JSON, differently from query results. The stamp has the names of results.
  return !hasColumns(columns, await connection.columns(`FROM ${qualified(table, schema)}`, { part: "engine" }));
}

function hasColumns(columns: readonly Column[], found: readonly Column[]): boolean {
  return (
    columns.length === found.length &&
    columns.every(({ name, type }, at) => name === found[at]!.name && plainType(type) === plainType(found[at]!.type))
  );
}

/** Query results and the catalog quote the names in nested types differently. */
function plainType(type: string): string {
  return type.replaceAll('"', "").toLowerCase();
}

/** The value of `search_path` with which names are looked up in the schema first, then in `main`. */
export function searchPath(schema: string): string {
  return [schema, "main"].map((name) => identifier(name).replaceAll("'", "''")).join(",");
}
