/** Cells by column name. */
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

/** The number of entries of a map. */
export function count(value: unknown): number {
  return Object.keys(record(value)).length;
}

/** The first texts and the number of others: `a,b,c + 2 more...`. */
export function firstOf(texts: readonly string[], shown: number, separator = ","): string {
  const first = texts.slice(0, shown).join(separator);
  return texts.length > shown ? `${first} + ${texts.length - shown} more...` : first;
}

/** Labels as kubectl shows them, sorted by key: `a=b,c=d`. */
export function labelsText(labels: unknown): string {
  const entries = Object.entries(record(labels)).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? NONE : entries.map(([key, value]) => `${key}=${text(value)}`).join(",");
}

/** The unique addresses of a load balancer, sorted. */
export function addressesText(balancer: unknown): string {
  const addresses = list(record(balancer).ingress).map((each) => text(record(each).ip || record(each).hostname));
  return [...new Set(addresses.filter(Boolean))].sort().join(",");
}
