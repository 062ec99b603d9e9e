import { isArray, isObject, type Json, type JsonObject, type MutableJsonObject } from "../api/json.js";
import type { Schema } from "../facts/schema.js";

/** One write to one object, as a client would send it. */
export interface RandomWrite {
  readonly type: "apply" | "merge" | "json" | "strategic" | "update";
  readonly manager: string;
  readonly subresource: "" | "status";
  readonly force: boolean;
  /** The patch, the applied configuration without its identity, or the change of an update to the live object. */
  readonly body: Json;
}

/** Numbers that depend on a seed only. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, `sides`. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.roll(items.length)]!;
  }

  oneIn(sides: number): boolean {
    return this.roll(sides) === 0;
  }
}

/** A random value that matches a schema; small, so that writes collide. */
export function randomValue(dice: Dice, schema: Schema, depth = 0): Json {
  if (schema["x-kubernetes-int-or-string"]) return dice.oneIn(2) ? dice.roll(3) : dice.pick(["10%", "http"]);
  if (schema.enum !== undefined) return dice.pick(schema.enum) as Json;
  switch (schema.type) {
    case "boolean":
      return dice.oneIn(2);
    case "integer":
      return dice.roll(3) + (schema.minimum ?? 0);
    case "number":
      return dice.pick([0.5, 1, 2.25]);
    case "string":
      return schema.format === "date-time" ? "2024-01-01T00:00:00Z" : dice.pick(["a", "b", "c<d"]);
    case "array":
      return randomArray(dice, schema, depth);
    case "object":
      return randomObject(dice, schema, depth);
    default:
      return randomJson(dice, depth);
  }
}

function randomArray(dice: Dice, schema: Schema, depth: number): Json {
  const items: Json[] = [];
  const seen = new Set<string>();
  for (let count = dice.roll(4); count > 0; count--) {
    const item = randomValue(dice, schema.items ?? {}, depth + 1);
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    const defaults = schema.items?.properties ?? {};
    const id =
      isObject(item) && schema["x-kubernetes-list-type"] === "map"
        ? JSON.stringify(keys.map((key) => item[key] ?? defaults[key]?.default))
        : JSON.stringify(item);
    const isUnique = schema["x-kubernetes-list-type"] === "map" || schema["x-kubernetes-list-type"] === "set";
    if (isUnique && seen.has(id)) continue;
    seen.add(id);
    items.push(item);
  }
  return items;
}

function randomObject(dice: Dice, schema: Schema, depth: number): Json {
  const result: MutableJsonObject = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(name) ?? false;
    if (isRequired || dice.oneIn(depth > 1 ? 2 : 3)) result[name] = randomValue(dice, property, depth + 1);
  }
  if (typeof schema.additionalProperties === "object") {
    for (const key of ["x", "y", "z"]) {
      if (dice.oneIn(2)) result[key] = randomValue(dice, schema.additionalProperties, depth + 1);
    }
  } else if (schema["x-kubernetes-preserve-unknown-fields"]) {
    for (const key of ["u", "v"]) if (dice.oneIn(2)) result[key] = randomJson(dice, depth + 1);
  }
  return result;
}

function randomJson(dice: Dice, depth: number): Json {
  switch (dice.roll(depth > 4 ? 3 : 5)) {
    case 0:
      return dice.roll(3);
    case 1:
      return dice.pick(["a", "b"]);
    case 2:
      return dice.oneIn(2);
    case 3:
      return [randomJson(dice, depth + 1)];
    default:
      return { k: randomJson(dice, depth + 1), l: dice.roll(2) };
  }
}

/** Replaces some parts of a value by null, which a merge patch removes. */
export function withNulls(dice: Dice, value: Json, depth = 0): Json {
  if (!isObject(value)) return value;
  const result: MutableJsonObject = {};
  for (const key of Object.keys(value)) {
    result[key] = depth > 0 && dice.oneIn(5) ? null : withNulls(dice, value[key]!, depth + 1);
  }
  return result;
}

/** A JSON patch of a few operations on existing and possible paths. */
export function randomJsonPatch(dice: Dice, live: JsonObject, schema: Schema, root: string): Json {
  const operations: Json[] = [];
  const here = live[root];
  const names = [
    ...Object.keys(schema.properties ?? {}),
    ...(schema.properties === undefined ? [] : ["managedFields"]),
  ];
  const there = pathsOf(here ?? {}, `/${root}`).filter(
    (path) => schema.properties === undefined || names.includes(path.split("/")[2]!),
  );
  for (let count = 1 + dice.roll(3); count > 0; count--) {
    const path = there.length === 0 || dice.oneIn(3) ? randomPath(dice, schema, `/${root}`) : dice.pick(there);
    const value = valueAt(dice, schema, path.split("/").slice(2));
    const op = dice.pick(["add", "replace", "remove", "test", "copy", "move"]);
    if (op === "remove") operations.push({ op, path });
    else if (op === "copy" || op === "move") {
      operations.push({ op, from: path, path });
    } else operations.push({ op, path, value });
  }
  if (here === undefined && dice.oneIn(2)) operations.unshift({ op: "add", path: `/${root}`, value: {} });
  return operations;
}

function pathsOf(value: Json, prefix: string): string[] {
  if (isArray(value))
    return value.flatMap((item, index) => [`${prefix}/${index}`, ...pathsOf(item, `${prefix}/${index}`)]);
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((key) => {
    const path = `${prefix}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return [path, ...pathsOf(value[key]!, path)];
  });
}

function randomPath(dice: Dice, schema: Schema, prefix: string): string {
  const names = Object.keys(schema.properties ?? {});
  if (names.length > 0) {
    const name = dice.pick(names);
    const path = `${prefix}/${name}`;
    return dice.oneIn(2) ? path : randomPath(dice, schema.properties![name]!, path);
  }
  return schema.type === "array" ? `${prefix}/-` : prefix;
}

function valueAt(dice: Dice, schema: Schema, keys: readonly string[]): Json {
  let part: Schema = schema;
  for (const key of keys) {
    const { properties, additionalProperties, items } = part;
    part =
      (properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined) ??
      (typeof additionalProperties === "object" ? additionalProperties : undefined) ??
      items ??
      {};
  }
  return randomValue(dice, part, 2);
}
