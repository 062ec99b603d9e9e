import { PipelinesError } from "../errors.js";

/** Stands for a value that only a run knows, such as a field of `.state`. */
export const UNKNOWN: unique symbol = Symbol("unknown");

/** A function that a template can call. Throws if the arguments are wrong. */
export type TemplateFunction = (values: readonly unknown[]) => unknown;

/** Truth as in Go's templates: false, 0, no value, and an empty text, list or map are false. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null && !(value instanceof Date)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A value as Go's `print` writes it. */
export function printed(value: unknown): string {
  if (value === undefined || value === null) return "<no value>";
  if (Array.isArray(value)) return `[${value.map(printed).join(" ")}]`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object") {
    const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
    return `map[${entries.map(([key, one]) => `${key}:${printed(one)}`).join(" ")}]`;
  }
  return String(value);
}

/** Equality for `eq` and for list functions. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return (left ?? null) === (right ?? null);
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Returns -1, 0 or 1 for two numbers, texts or dates. Throws for other values. */
export function compared(left: unknown, right: unknown): number {
  if (typeof left !== typeof right || !["number", "string", "bigint"].includes(typeof left)) {
    if (left instanceof Date && right instanceof Date) return Math.sign(left.getTime() - right.getTime());
    throw new PipelinesError("PIPELINES_FILE_INVALID", `cannot compare ${typeName(left)} with ${typeName(right)}`);
  }
  return (left as number) < (right as number) ? -1 : (left as number) > (right as number) ? 1 : 0;
}

export function typeName(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a map" : typeof value === "string" ? "a text" : `a ${typeof value}`;
}

/** A value as a text. A missing value becomes the empty text. */
export const textOf = (value: unknown): string => (value === undefined || value === null ? "" : printed(value));

export function numberOf(value: unknown): number {
  const number = typeof value === "boolean" ? Number(value) : Number(value === "" ? Number.NaN : value);
  if (Number.isNaN(number)) throw new PipelinesError("PIPELINES_FILE_INVALID", `${typeName(value)} is not a number`);
  return number;
}
