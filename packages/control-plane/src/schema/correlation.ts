import { field, isArray, isObject, type Json, type JsonObject } from "../api/json.js";
import type { Schema } from "../facts/schema.js";
import { canonicalText } from "./canonical-text.js";

/** The old value of the part being visited, with the schema that says how to pair list items. */
export interface Correlated {
  readonly schema: Schema;
  readonly old: Json;
  readonly sameness: Sameness;
}

export function correlated(schema: Schema, old: Json): Correlated {
  return { schema, old, sameness: new Sameness() };
}

/**
 * Compares parts of an old and a new object, and caches the result. A part is compared on its own and again with
 * every part that contains it.
 */
export class Sameness {
  readonly #known = new Map<object, { readonly old: object; readonly isSame: boolean }>();
  /** The number of comparisons made. */
  comparisons = 0;

  isSame(value: Json | undefined, old: Json | undefined): boolean {
    if (value === old) return true;
    if (typeof value !== "object" || typeof old !== "object" || value === null || old === null) return false;
    const known = this.#known.get(value);
    if (known?.old === old) return known.isSame;
    this.comparisons++;
    const isSame = this.#compare(value, old);
    this.#known.set(value, { old, isSame });
    return isSame;
  }

  #compare(value: JsonObject | readonly Json[], old: JsonObject | readonly Json[]): boolean {
    if (isArray(value)) {
      if (!isArray(old) || value.length !== old.length) return false;
      return value.every((item, index) => this.isSame(item, old[index]));
    }
    if (isArray(old)) return false;
    const keys = Object.keys(value);
    if (keys.length !== Object.keys(old as JsonObject).length) return false;
    return keys.every((key) => Object.hasOwn(old, key) && this.isSame(value[key], (old as JsonObject)[key]));
  }
}

/** The old value of the same field. */
export function childOf(parent: Correlated | undefined, key: string): Correlated | undefined {
  if (parent === undefined || !isObject(parent.old)) return undefined;
  const old = field(parent.old, key);
  const { properties, additionalProperties } = parent.schema;
  const schema =
    properties !== undefined && Object.hasOwn(properties, key)
      ? properties[key]
      : typeof additionalProperties === "object"
        ? additionalProperties
        : undefined;
  return old === undefined || schema === undefined ? undefined : { ...parent, schema, old };
}

/** Finds the old item for each item of a list. Only items of list maps are paired, by their keys. */
export function pairing(parent: Correlated | undefined): (item: Json) => Correlated | undefined {
  const none = (): undefined => undefined;
  if (parent === undefined || !isArray(parent.old)) return none;
  const { items, "x-kubernetes-list-type": listType, "x-kubernetes-list-map-keys": keys = [] } = parent.schema;
  if (listType !== "map" || items === undefined) return none;
  const keyOf = (item: JsonObject): string =>
    canonicalText(
      keys.map((key) => {
        const value = field(item, key) ?? (items.properties?.[key]?.default as Json | undefined);
        return value === undefined ? [] : [value];
      }),
    );
  const byKey = new Map<string, JsonObject>();
  for (const item of parent.old) {
    if (!isObject(item)) continue;
    const key = keyOf(item);
    if (!byKey.has(key)) byKey.set(key, item);
  }
  return (item) => {
    const old = isObject(item) ? byKey.get(keyOf(item)) : undefined;
    return old === undefined ? undefined : { ...parent, schema: items, old };
  };
}
