/** A value to write as Go's encoding/json does. The bytes must match because configurations are hashed. */
export type Json = null | boolean | number | string | readonly Json[] | JsonFields;
/** Fields in output order. Undefined fields are omitted. */
export interface JsonFields {
  readonly [name: string]: Json | undefined;
}

const ESCAPED: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** Writes JSON, compact or indented. Escapes HTML characters like Go, and replaces lone surrogates by U+FFFD. */
export function goJson(value: Json, indent?: number): string {
  const text = indent === undefined ? compact(value) : JSON.stringify(value, (_, field) => wellFormed(field), indent);
  return text.replace(/[<>&\u2028\u2029]/g, (character) => ESCAPED[character]!);
}

function compact(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(wellFormed(value));
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  if (MAP in value) fields.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${fields.map(([name, field]) => `${JSON.stringify(wellFormed(name))}:${compact(field!)}`).join(",")}}`;
}

/** Marks Go maps. Keys must be sorted on output, because JavaScript objects put numeric keys first. */
const MAP = Symbol("map of Go");

/** A Go map: {@link goJson} sorts its keys by bytes. */
export function goMap<T extends Json>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return { ...map, [MAP]: true };
}

/** Like {@link goMap}, recursively: a value that Go decoded into `any`. */
export function goMaps(value: Json): Json {
  if (Array.isArray(value)) return value.map(goMaps);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, Json>>;
  return goMap(Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, goMaps(field)])));
}

/** `omitempty` for strings, lists and maps. */
export function nonEmpty<T extends Json>(value: T | undefined): T | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "object" && Object.keys(value).length === 0) return undefined;
  return value;
}

/** Parses a number; undefined if invalid, because kagent drops invalid numbers. */
export function parseFraction(text: string | undefined): number | undefined {
  const isNumber = text !== undefined && /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text);
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

const wellFormed = <T>(value: T): T | string =>
  typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
