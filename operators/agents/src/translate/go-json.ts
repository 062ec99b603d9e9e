/** Values as Go's encoding/json writes them: the bytes count, since agents' configurations are hashed. */
export type Json = null | boolean | number | string | readonly Json[] | JsonFields;
/** In the order in which they are written; undefined ones are left out. */
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

/** Compact, or indented by two spaces. Go escapes what could end a script element, and lone surrogates become U+FFFD. */
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

/** Objects put keys that are numbers first, so that the order of a map's keys can only be made where they are written. */
const MAP = Symbol("map of Go");

/** A Go map: {@link goJson} writes its keys in the order of their bytes. */
export function goMap<T extends Json>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return { ...map, [MAP]: true };
}

/** Like {@link goMap}, maps within it included: what was decoded into `any`. */
export function goMaps(value: Json): Json {
  if (Array.isArray(value)) return value.map(goMaps);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, Json>>;
  return goMap(Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, goMaps(field)])));
}

/** `omitempty` of texts, lists and maps. */
export function nonEmpty<T extends Json>(value: T | undefined): T | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "object" && Object.keys(value).length === 0) return undefined;
  return value;
}

/** The number that a text holds; undefined for what is none, as the original drops it. */
export function parseFraction(text: string | undefined): number | undefined {
  const isNumber = text !== undefined && /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text);
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

const wellFormed = <T>(value: T): T | string =>
  typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
