/** `"a ""b"""`: a name as a quoted identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `'it''s'`: a text as a literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A value as a literal, NULL if it is undefined. */
export function optional(value: string | number | boolean | undefined): string {
  if (value === undefined) return "NULL";
  return typeof value === "string" ? literal(value) : String(value);
}

export const MAIN_SCHEMA = "main";

export function qualified(table: string, schema: string = MAIN_SCHEMA): string {
  return `${identifier(schema)}.${identifier(table)}`;
}

/** Identifies a table. Names that differ only in case are the same name. */
export function tableId(table: string, schema: string = MAIN_SCHEMA): string {
  return `${schema}.${table}`.toLowerCase();
}
