import { isArray, isObject, type Json, type MutableJsonObject, setField } from "../api/json.js";
import { type FieldSet, isEmptySet } from "./field-set.js";
import { itemElement } from "./list-item.js";
import type { ListType, MapType, MergeType } from "./merge-type.js";
import { fieldElement } from "./path-element.js";
import { partFor } from "./typed-validation.js";

/** Removes a set of fields from a value, and lists and objects that become empty. */
export function removeFields(type: MergeType, value: Json, fields: FieldSet): Json {
  if (isEmptySet(fields)) return value;
  return remove(type, value, fields) ?? null;
}

function remove(type: MergeType, value: Json, fields: FieldSet): Json | undefined {
  switch (partFor(type, value)) {
    case "map":
      return removeFromMap(type.map!, value, fields);
    case "list":
      return removeFromList(type.list!, value, fields);
    default:
      return value;
  }
}

function removeFromMap(type: MapType, value: Json, fields: FieldSet): Json | undefined {
  if (!isObject(value) || type.relationship === "atomic") return undefined;
  const result: MutableJsonObject = {};
  let isEmpty = true;
  for (const key of Object.keys(value)) {
    const declared = type.fields.get(key);
    const node = fields[declared?.element ?? fieldElement(key)];
    if (node !== undefined && isMember(node)) continue;
    const fieldType = declared?.type ?? type.others;
    const kept = node === undefined || fieldType === undefined ? value[key]! : remove(fieldType, value[key]!, node);
    setField(result, key, kept ?? null);
    isEmpty = false;
  }
  return isEmpty ? undefined : result;
}

function removeFromList(type: ListType, value: Json, fields: FieldSet): Json | undefined {
  if (!isArray(value) || type.relationship === "atomic") return undefined;
  const result: Json[] = [];
  for (const item of value) {
    const node = fields[itemElement(type, item)];
    if (node === undefined) result.push(item);
    else if (!isMember(node)) result.push(remove(type.items, item, node) ?? null);
  }
  return result.length === 0 ? undefined : result;
}

function isMember(node: FieldSet): boolean {
  return "." in node || isEmptySet(node);
}
