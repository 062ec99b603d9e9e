import { isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import { perObject } from "../api/memoized.js";
import type { Schema } from "../facts/schema.js";

/** Fills in the schema's defaults, also in place of a null that the schema does not allow. */
export function applyDefaults<Value extends Json>(schema: Schema | undefined, value: Value): Value {
  return (schema === undefined || !hasDefaults(schema) ? value : fill(schema, value)) as Value;
}

/** Drops nulls that the schema neither allows nor defaults. */
export function pruneNulls<Value extends Json>(schema: Schema | undefined, value: Value): Value {
  return dropNulls(schema, value) as Value;
}

/** Most schemas have no default in most places, so those are skipped. */
const hasDefaults = perObject((schema: Schema): boolean => {
  const { properties = {}, additionalProperties, items } = schema;
  const parts = [...Object.values(properties), items, additionalProperties];
  return (
    (schema.default !== undefined && schema.default !== null) ||
    parts.some((part) => typeof part === "object" && hasDefaults(part))
  );
});

function fill(schema: Schema, value: Json): Json {
  if (isObject(value)) return fillObject(schema, value);
  if (!isArray(value) || schema.items === undefined) return value;
  const { items } = schema;
  let result: Json[] | undefined;
  for (const [index, item] of value.entries()) {
    const filled = fill(items, withDefault(items, item));
    if (filled !== item) (result ??= [...value])[index] = filled;
  }
  return result ?? value;
}

function fillObject(schema: Schema, value: JsonObject): JsonObject {
  const { properties = {}, additionalProperties } = schema;
  let result: MutableJsonObject | undefined;
  for (const [key, property] of Object.entries(properties)) {
    if (!hasDefaults(property)) continue;
    const present = Object.hasOwn(value, key);
    if (!present && (property.default === undefined || property.default === null)) continue;
    const before = present ? value[key]! : null;
    const filled = fill(property, present ? withDefault(property, before) : (property.default as Json));
    if (present && filled === before) continue;
    result ??= { ...value };
    setField(result, key, filled);
  }
  if (typeof additionalProperties === "object" && hasDefaults(additionalProperties)) {
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(properties, key)) continue;
      const filled = fill(additionalProperties, withDefault(additionalProperties, value[key]!));
      if (filled === value[key]) continue;
      result ??= { ...value };
      setField(result, key, filled);
    }
  }
  return result ?? value;
}

function withDefault(schema: Schema, value: Json): Json {
  return value === null && !schema.nullable ? ((schema.default ?? null) as Json) : value;
}

function dropNulls(schema: Schema | undefined, value: Json): Json {
  if (isArray(value)) {
    let result: Json[] | undefined;
    for (const [index, item] of value.entries()) {
      const kept = dropNulls(schema?.items, item);
      if (kept !== item) (result ??= [...value])[index] = kept;
    }
    return result ?? value;
  }
  if (!isObject(value)) return value;
  let result: MutableJsonObject | undefined;
  for (const key of Object.keys(value)) {
    const child = schema === undefined ? undefined : childOf(schema, key);
    const item = value[key]!;
    if (item === null) {
      if (child === undefined || child.nullable || (child.default !== undefined && child.default !== null)) continue;
      result ??= { ...value };
      delete result[key];
      continue;
    }
    const kept = dropNulls(child, item);
    if (kept === item) continue;
    result ??= { ...value };
    setField(result, key, kept);
  }
  return result ?? value;
}

function childOf(schema: Schema, key: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
