import { goJson } from "../api/go-format.js";
import { field, isObject, type Json, type JsonObject } from "../api/json.js";
import { OwnershipError } from "./ownership-error.js";

/**
 * One step of a field path in the wire form of `fieldsV1`: `f:name` is a field, `k:{"name":"a"}` the item of a list
 * map with these keys, `v:"a"` the item of a set, `i:0` an index. Equal steps have equal text: keys are sorted,
 * values are canonical JSON.
 */
export type PathElement = string;

const ORDER = "fkvi";
const FIELD = "f".charCodeAt(0);
/** `k:{"type":"Ready"}` without escapes. */
const ONE_PLAIN_KEY = /^k:\{"([^"\\]*)":"([^"\\]*)"\}$/;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function valueElement(value: Json): PathElement {
  return `v:${goJson(value)}`;
}

/** `keys` are the names and values of the item's keys, in any order. */
export function keyElement(keys: readonly (readonly [name: string, value: Json])[]): PathElement {
  const [only] = keys;
  if (keys.length === 1) return `k:{${JSON.stringify(only![0])}:${goJson(only![1])}}`;
  const sorted = [...keys].sort(([a], [b]) => compareText(a, b));
  let text = "k:{";
  for (const [name, value] of sorted) {
    if (text.length > 3) text += ",";
    text += `${JSON.stringify(name)}:${goJson(value)}`;
  }
  return `${text}}`;
}

/**
 * Parses a client's element and makes it canonical. Undefined for an unknown type, which is dropped. Throws if
 * malformed.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new OwnershipError("key must be 2 characters long:");
  if (text[1] !== ":") throw new OwnershipError(`missing colon: ${text}`);
  switch (text[0]) {
    case "f":
      return text;
    case "v":
      return valueElement(parsed(text.slice(2)) as Json);
    case "k": {
      const keys = parsed(text.slice(2));
      if (!isObject(keys)) throw new OwnershipError(`expect { or n, but found ${text.slice(2, 3)}`);
      return keyElement(Object.entries(keys));
    }
    case "i": {
      const index = text.slice(2);
      if (!/^[+-]?\d+$/.test(index))
        throw new OwnershipError(`strconv.Atoi: parsing ${JSON.stringify(index)}: invalid syntax`);
      return `i:${Number(index)}`;
    }
    default:
      return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OwnershipError((error as SyntaxError).message, { cause: error });
  }
}

/** The step as error messages show it: `.name`, `[name="a"]`, `[="a"]`, `[0]`. */
export function elementText(element: PathElement): string {
  const content = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${content}`;
    case "k":
      return `[${Object.entries(JSON.parse(content) as JsonObject)
        .map(([name, value]) => `${name}=${valueText(value)}`)
        .join(",")}]`;
    case "v":
      return `[=${valueText(JSON.parse(content) as Json)}]`;
    default:
      return `[${content}]`;
  }
}

/** Fields first, then keyed items, values and indexes, each by name, number or text. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  if (a.charCodeAt(0) === FIELD && b.charCodeAt(0) === FIELD) return a < b ? -1 : 1;
  const byType = ORDER.indexOf(a[0]!) - ORDER.indexOf(b[0]!);
  if (byType !== 0) return byType;
  // Fast path: nearly all items (conditions, containers, volumes) have one string key.
  const [, leftName, leftText] = ONE_PLAIN_KEY.exec(a) ?? [];
  const [, rightName, rightText] = leftName === undefined ? [] : (ONE_PLAIN_KEY.exec(b) ?? []);
  if (rightName !== undefined) return compareText(leftName!, rightName) || compareText(leftText!, rightText!);
  const left = JSON.parse(a.slice(2)) as Json;
  const right = JSON.parse(b.slice(2)) as Json;
  if (a[0] !== "k") return compareValues(left, right);
  const rightKeys = Object.entries(right as JsonObject);
  for (const [index, [name, value]] of Object.entries(left as JsonObject).entries()) {
    const other = rightKeys[index];
    if (other === undefined) return 1;
    const result = compareText(name, other[0]) || compareValues(value, other[1]);
    if (result !== 0) return result;
  }
  return -1;
}

/** The keys of a list map item; undefined for other elements. */
export function keysOf(element: PathElement): JsonObject | undefined {
  return element[0] === "k" ? (JSON.parse(element.slice(2)) as JsonObject) : undefined;
}

function compareValues(a: Json, b: Json): number {
  const byType = rank(a) - rank(b);
  if (byType !== 0) return byType;
  if (typeof a === "number") return a - (b as number);
  if (typeof a === "string") return compareText(a, b as string);
  if (typeof a === "boolean") return Number(a) - Number(b);
  return compareText(JSON.stringify(a), JSON.stringify(b));
}

function rank(value: Json): number {
  if (typeof value === "number") return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (value === null) return 5;
  return Array.isArray(value) ? 3 : 4;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function valueText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(",")}]`;
  if (isObject(value)) {
    return Object.keys(value)
      .map((key) => `${key}=${valueText(field(value, key)!)}`)
      .join("");
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
