import { isArray, isObject, type Json } from "../../api/json.js";

/** A large value as JSON slices. Parsing it in one go would block the event loop for half a second. */
export interface SlicedJson {
  /** The value, with its large maps and lists empty. */
  readonly json: string;
  /** The content of these maps and lists, outer ones first. */
  readonly parts: readonly SlicedPart[];
}

interface SlicedPart {
  readonly path: readonly (string | number)[];
  /** Maps or lists as JSON, each with the next entries. */
  readonly slices: readonly string[];
}

/** Values per slice: parsing them takes a few milliseconds. */
const MOST_VALUES = 5_000;

type Container = Record<string, Json> | Json[];

/** Slices a value. Linear in the number of values. */
export function slicedJson(value: Json): SlicedJson {
  const counts = new Map<Json, number>();
  countValues(value, counts);
  const parts: SlicedPart[] = [];
  const json = JSON.stringify(emptied(value, [], counts, parts)) ?? "null";
  return { json, parts };
}

/** Rebuilds the value. Awaits `pause` between slices. */
export async function readSliced({ json, parts }: SlicedJson, pause?: () => Promise<void>): Promise<Json> {
  const value = JSON.parse(json) as Json;
  for (const { path, slices } of parts) {
    let target = value as Container;
    for (const step of path) target = (target as Record<string | number, Json>)[step] as Container;
    for (const slice of slices) {
      if (pause !== undefined) await pause();
      add(target, JSON.parse(slice) as Container);
    }
  }
  return value;
}

function add(target: Container, entries: Container): void {
  if (isArray(target)) {
    for (const item of entries as Json[]) target.push(item);
    return;
  }
  for (const key of Object.keys(entries)) {
    const value = (entries as Record<string, Json>)[key]!;
    // Define `__proto__` as an ordinary key; assignment would set the prototype.
    if (key === "__proto__") {
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
    } else target[key] = value;
  }
}

/** Counts the values in each map and list, itself included. */
function countValues(value: Json, counts: Map<Json, number>): number {
  if (!isArray(value) && !isObject(value)) return 1;
  let count = 1;
  for (const child of isArray(value) ? value : Object.values(value)) count += countValues(child as Json, counts);
  counts.set(value, count);
  return count;
}

/** Copies the value with its large maps and lists empty; their content goes to `parts`. */
function emptied(
  value: Json,
  path: readonly (string | number)[],
  counts: ReadonlyMap<Json, number>,
  parts: SlicedPart[],
): Json {
  if ((counts.get(value) ?? 1) <= MOST_VALUES) return value;
  const slices: string[] = [];
  parts.push({ path, slices });
  const isList = isArray(value);
  let [slice, size] = [[] as [string, Json][], 0];
  const end = (): void => {
    if (slice.length > 0) slices.push(isList ? JSON.stringify(slice.map(([, item]) => item)) : textOf(slice));
    [slice, size] = [[], 0];
  };
  for (const [key, child] of Object.entries(value as Record<string, Json>)) {
    const count = counts.get(child) ?? 1;
    if (size > 0 && size + count > MOST_VALUES) end();
    slice.push([key, emptied(child, [...path, isList ? Number(key) : key], counts, parts)]);
    size += Math.min(count, MOST_VALUES);
  }
  end();
  return isList ? [] : {};
}

function textOf(entries: readonly (readonly [string, Json])[]): string {
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`;
}

/**
 * Writes an object as `JSON.stringify` would, but one field of the object or its metadata at a time. Awaits `pause`
 * between fields.
 */
export async function writeInSteps(
  object: Readonly<Record<string, Json>>,
  pause: () => Promise<void>,
): Promise<string> {
  const fieldsOf = async (value: Readonly<Record<string, Json>>, hasMetadata: boolean): Promise<string> => {
    const fields: string[] = [];
    for (const [key, child] of Object.entries(value)) {
      const isContainer = typeof child === "object" && child !== null;
      if (isContainer) await pause();
      const isMetadata = hasMetadata && key === "metadata" && isObject(child);
      const text = isMetadata ? await fieldsOf(child as Record<string, Json>, false) : JSON.stringify(child);
      if (text !== undefined) fields.push(`${JSON.stringify(key)}:${text}`);
    }
    return `{${fields.join()}}`;
  };
  return fieldsOf(object, true);
}
