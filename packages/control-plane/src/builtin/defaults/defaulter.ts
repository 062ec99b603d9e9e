import { isObject, type Json, type JsonObject, type MutableJsonObject } from "../../api/json.js";

/** Applies the defaults of one struct. Returns the same object if nothing was missing. */
export type Defaulter = (object: JsonObject) => JsonObject;

/** Sets fields that are absent or null: pointers in Go. */
export function whereAbsent(defaults: JsonObject): Defaulter {
  return filler(defaults, (value) => value === undefined || value === null);
}

/** Sets fields that are absent, null or zero: plain strings and numbers in Go. */
export function whereEmpty(defaults: JsonObject): Defaulter {
  return filler(defaults, (value) => value === undefined || value === null || value === "" || value === 0);
}

function filler(defaults: JsonObject, isMissing: (value: Json | undefined) => boolean): Defaulter {
  const entries = Object.entries(defaults);
  return (object) => {
    let filled: MutableJsonObject | undefined;
    for (const [key, value] of entries) if (isMissing(object[key])) (filled ??= { ...object })[key] = value;
    return filled ?? object;
  };
}

/** Applies several defaulters in order. */
export function all(...defaulters: readonly Defaulter[]): Defaulter {
  return (object) => defaulters.reduce((filled, each) => each(filled), object);
}

/** Applies a defaulter to an object field. With `create`, a missing field counts as empty. */
export function within(key: string, defaulter: Defaulter, create = false): Defaulter {
  return (object) => {
    const value = object[key] ?? (create ? {} : undefined);
    if (!isObject(value)) return object;
    const filled = defaulter(value);
    return filled === object[key] ? object : { ...object, [key]: filled };
  };
}

/** Applies a defaulter to each object of a list field. */
export function each(key: string, defaulter: Defaulter): Defaulter {
  return (object) => {
    const list = object[key];
    if (!Array.isArray(list)) return object;
    const filled = list.map((item: Json) => (isObject(item) ? defaulter(item) : item));
    return filled.every((item, at) => item === list[at]) ? object : { ...object, [key]: filled };
  };
}

/** Applies a defaulter if the condition holds. */
export function when(condition: (object: JsonObject) => boolean, defaulter: Defaulter): Defaulter {
  return (object) => (condition(object) ? defaulter(object) : object);
}

/** Drops fields of disabled features, which kube-apiserver accepts and drops. */
export function without(...names: readonly string[]): Defaulter {
  return (object) => {
    if (!names.some((name) => name in object)) return object;
    return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
  };
}

/** Turns empty lists into null, as kube-apiserver returns them. */
export function nullWhereEmpty(...names: readonly string[]): Defaulter {
  return (object) => {
    const empty = names.filter((name) => Array.isArray(object[name]) && (object[name] as readonly Json[]).length === 0);
    return empty.length === 0 ? object : { ...object, ...Object.fromEntries(empty.map((name) => [name, null])) };
  };
}

/**
 * Synchronizes an older field for one value with a newer list field. If they differ, the older field wins. If it is
 * missing, the first item of the list fills it in.
 */
export function firstOf(
  one: string,
  several: string,
  wrap: (value: Json) => Json,
  unwrap: (value: Json) => Json,
): Defaulter {
  return (object) => {
    const first = object[one];
    const list = Array.isArray(object[several]) ? (object[several] as readonly Json[]) : [];
    const isGiven = first !== undefined && first !== null && first !== "";
    const isOlder = isGiven && (list.length === 0 || unwrap(list[0]!) !== first);
    const kept = isOlder ? [wrap(first)] : list;
    if (kept.length === 0) return object;
    return { ...object, [one]: unwrap(kept[0]!), [several]: kept };
  };
}
