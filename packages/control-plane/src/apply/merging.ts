import { field, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import { nonEmptyArray, nonEmptyObject } from "./comparison.js";
import { itemElement } from "./list-item.js";
import type { ListType, MapType, MergeType } from "./merge-type.js";
import { elementText, type PathElement } from "./path-element.js";
import { partFor, TypedValueError } from "./typed-validation.js";

/**
 * Merges an applied configuration into the live value: fields of the configuration win, all others stay. Items of
 * sets and list maps keep the relative order of the configuration.
 */
export function merge(type: MergeType, live: Json, config: Json): Json {
  return mergeValue(type, live, config) ?? null;
}

function mergeValue(type: MergeType, live: Json | undefined, config: Json | undefined): Json | undefined {
  switch (partFor(type, config === undefined ? live : config)) {
    case "map":
      return mergeMap(type.map!, live, config);
    case "list":
      return mergeList(type.list!, live, config);
    default:
      return config === undefined ? live : config;
  }
}

function mergeMap(type: MapType, live: Json | undefined, config: Json | undefined): Json | undefined {
  const left = nonEmptyObject(live);
  const right = nonEmptyObject(config);
  if (type.relationship === "atomic" || (left === undefined && right === undefined)) {
    return config === undefined ? live : config;
  }
  const result: MutableJsonObject = {};
  let isEmpty = true;
  const put = (key: string, before: Json | undefined, after: Json | undefined): void => {
    const fieldType = type.fields.get(key)?.type ?? type.others;
    const value = fieldType === undefined ? (after ?? before) : mergeValue(fieldType, before, after);
    if (value === undefined) return;
    setField(result, key, value);
    isEmpty = false;
  };
  if (left !== undefined) {
    for (const key in left) put(key, left[key], right === undefined ? undefined : field(right, key));
  }
  if (right !== undefined) {
    for (const key in right) {
      if (left === undefined || !Object.hasOwn(left, key)) put(key, undefined, right[key]);
    }
  }
  return isEmpty ? undefined : (result as JsonObject);
}

function mergeList(type: ListType, live: Json | undefined, config: Json | undefined): Json | undefined {
  const left = nonEmptyArray(live);
  const right = nonEmptyArray(config);
  if (type.relationship === "atomic" || (left === undefined && right === undefined)) {
    return config === undefined ? live : config;
  }
  const merged = mergeItems(type, left ?? [], right ?? []);
  return merged.length === 0 ? undefined : merged;
}

interface Items {
  readonly elements: readonly PathElement[];
  /** Null for a duplicate item, which has no single value to merge with. */
  readonly values: ReadonlyMap<PathElement, Json>;
}

function mergeItems(type: ListType, live: readonly Json[], config: readonly Json[]): readonly Json[] {
  const right = indexed(type, config, false);
  const left = indexed(type, live, true);
  const shared = right.elements.filter((element) => left.values.has(element));
  let nextShared = 0;
  const result: Json[] = [];
  const done = new Set<PathElement>();
  const add = (before: Json | undefined, after: Json | undefined): void => {
    const value = mergeValue(type.items, before, after);
    if (value !== undefined) result.push(value);
  };
  const take = (element: PathElement): void => {
    done.add(element);
    add(left.values.get(element), right.values.get(element));
  };
  for (let l = 0, r = 0; l < left.elements.length || r < right.elements.length; ) {
    const mine = left.elements[l];
    const theirs = right.elements[r];
    if (mine !== undefined && theirs !== undefined) {
      if (mine === theirs) {
        take(mine);
        l++;
        r++;
        nextShared++;
        continue;
      }
      if (right.values.has(mine) && nextShared < shared.length && shared[nextShared] !== mine) {
        // The item is in the configuration, but after another shared item.
        l++;
        continue;
      }
    }
    if (mine !== undefined) {
      if (!right.values.has(mine)) {
        add(live[l], undefined);
        l++;
        continue;
      }
      if (done.has(mine)) l++;
    }
    if (theirs !== undefined) {
      take(theirs);
      r++;
      if (shared[nextShared] === theirs) nextShared++;
    }
  }
  return result;
}

function indexed(type: ListType, items: readonly Json[], allowDuplicates: boolean): Items {
  const elements: PathElement[] = [];
  const values = new Map<PathElement, Json>();
  for (const item of items) {
    const element = itemElement(type, item);
    if (values.has(element) && !allowDuplicates) {
      throw new TypedValueError([{ path: "", message: `duplicate entries for key ${elementText(element)}` }]);
    }
    values.set(element, values.has(element) ? null : item);
    elements.push(element);
  }
  return { elements, values };
}
