/** Cells by the name of their column. */
export type Cells = Readonly<Record<string, unknown>>;

export const NONE = "<none>";

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

export function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** How many entries a map has. */
export function count(value: unknown): number {
  return Object.keys(record(value)).length;
}
