import { fieldErrors } from "../api/error-budget.js";
import { duplicate, invalidValue } from "../api/field-error.js";
import { field, isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import type { FieldError } from "../api/status-error.js";
import type { Schema } from "../facts/schema.js";
import { canonicalText } from "./canonical-text.js";

/** Checks at every depth that sets have no duplicate values and list maps no duplicate keys. */
export function validateListTypes(schema: Schema, value: Json, path = ""): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  visit(schema, value, path, errors);
  return errors;
}

function visit(schema: Schema, value: Json, path: string, errors: FieldError[]): void {
  if (isArray(value)) {
    if (schema["x-kubernetes-list-type"] === "set") checkSet(value, path, errors);
    else if (schema["x-kubernetes-list-type"] === "map") checkMap(schema, value, path, errors);
    if (schema.items !== undefined) {
      for (const [index, item] of value.entries()) visit(schema.items, item, `${path}[${index}]`, errors);
    }
  } else if (isObject(value)) {
    const { properties, additionalProperties } = schema;
    for (const key of Object.keys(value)) {
      if (typeof additionalProperties === "object") visit(additionalProperties, value[key]!, `${path}[${key}]`, errors);
      if (properties !== undefined && Object.hasOwn(properties, key)) {
        visit(properties[key]!, value[key]!, path === "" ? key : `${path}.${key}`, errors);
      }
    }
  }
}

function checkSet(items: readonly Json[], path: string, errors: FieldError[]): void {
  for (const index of repeated(items)) errors.push(duplicate(`${path}[${index}]`, items[index]));
}

function checkMap(schema: Schema, items: readonly Json[], path: string, errors: FieldError[]): void {
  for (const [index, item] of items.entries()) {
    if (item === null || isObject(item)) continue;
    errors.push(invalidValue(`${path}[${index}]`, item, "must be an object for an array of list-type map"));
    return;
  }
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const keys = items.map((item) => keyOf(isObject(item) ? item : {}, names));
  for (const index of repeated(keys)) errors.push(duplicate(`${path}[${index}]`, keys[index]));
}

function keyOf(item: JsonObject, names: readonly string[]): JsonObject {
  const key: MutableJsonObject = {};
  for (const name of names) {
    const value = field(item, name);
    if (value !== undefined) setField(key, name, value);
  }
  return key;
}

/** The positions of values that occur for the second time. */
function repeated(values: readonly Json[]): number[] {
  const counts = new Map<string, number>();
  const places: number[] = [];
  for (const [index, value] of values.entries()) {
    const text = canonicalText(value);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    if (count === 2) places.push(index);
  }
  return places;
}
