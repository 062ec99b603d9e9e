import { goTypeName, goValue } from "../api/go-format.js";
import { field, isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import type { Schema } from "../facts/schema.js";
import { checkDepth } from "../schema/depth.js";

const PATCH = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM_LIST = "$deleteFromPrimitiveList";
const ELEMENT_ORDER = "$setElementOrder";

/**
 * Applies a strategic merge patch. Lists merge by the schema's merge key, and directives express what a merge cannot.
 * Throws `StatusError` for a patch that cannot be applied.
 */
export function strategicPatch(schema: Schema, object: JsonObject, patch: Json): JsonObject {
  if (!isObject(patch)) {
    const found = isArray(patch) ? "array" : typeof patch === "boolean" ? "bool" : typeof patch;
    const message = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
    if (patch !== null) throw new StatusError(400, "BadRequest", message);
  }
  checkDepth(patch);
  return mergeMap(schema, object, (patch ?? {}) as JsonObject);
}

function mergeMap(schema: Schema | undefined, original: JsonObject, patch: JsonObject): JsonObject {
  const directive = field(patch, PATCH);
  if (directive !== undefined) return directed(directive, patch);
  const result: MutableJsonObject = retainKeys(original, patch);
  const handled = new Set<string>([RETAIN_KEYS]);
  for (const key of Object.keys(patch)) {
    if (key.startsWith(ELEMENT_ORDER)) orderList(schema, result, patch, key, handled);
  }
  for (const patchKey of Object.keys(patch)) {
    if (handled.has(patchKey)) continue;
    const value = patch[patchKey]!;
    const isDeleteList = patchKey.startsWith(DELETE_FROM_LIST);
    const key = isDeleteList ? directiveTarget(patchKey, DELETE_FROM_LIST) : patchKey;
    const current = field(result, key);
    if (value === null) {
      delete result[key];
    } else if (current === undefined || typeName(current) !== typeName(value)) {
      if (!isDeleteList) put(result, key, withoutDirectives(withoutNulls(value)));
    } else if (isObject(value)) {
      const property = propertyOf(schema, key);
      const isReplaced = strategyOf(property) === "replace";
      setField(result, key, isReplaced ? value : mergeMap(property, current as JsonObject, value));
    } else if (isArray(value)) {
      setField(result, key, mergeList(propertyOf(schema, key), current as readonly Json[], value, isDeleteList));
    } else {
      setField(result, key, value);
    }
  }
  return result;
}

/** Handles `$patch: replace` and `$patch: delete` on a whole object. */
function directed(directive: Json, patch: JsonObject): JsonObject {
  if (directive === "replace") {
    const { [PATCH]: _, ...rest } = patch;
    return rest;
  }
  if (directive === "delete") return {};
  throw unknownDirective(directive, patch);
}

function retainKeys(original: JsonObject, patch: JsonObject): MutableJsonObject {
  const retained = field(patch, RETAIN_KEYS);
  if (retained === undefined) return { ...original };
  if (!isArray(retained)) throw badFormat("retainKeys");
  const names = new Set(retained);
  for (const key of Object.keys(patch)) {
    const isDirective = key === RETAIN_KEYS || key.startsWith(DELETE_FROM_LIST) || key.startsWith(ELEMENT_ORDER);
    if (!isDirective && patch[key] !== null && !names.has(key)) throw badFormat("retainKeys");
  }
  const result: MutableJsonObject = {};
  for (const key of Object.keys(original)) if (names.has(key)) setField(result, key, original[key]!);
  return result;
}

/** Handles `$setElementOrder/list`: merges the list and sorts it in the given order. */
function orderList(
  schema: Schema | undefined,
  result: MutableJsonObject,
  patch: JsonObject,
  directive: string,
  handled: Set<string>,
): void {
  handled.add(directive);
  const order = patch[directive]!;
  if (!isArray(order)) throw badType("[]interface {}", order);
  const key = directiveTarget(directive, ELEMENT_ORDER);
  const current = field(result, key);
  const change = field(patch, key);
  if (current !== undefined && !isArray(current)) throw badType("[]interface {}", current);
  if (change !== undefined && !isArray(change)) throw badType("[]interface {}", change);
  const property = propertyOf(schema, key);
  const mergeKey = property?.["x-kubernetes-patch-merge-key"] ?? "";
  checkOrder(change ?? [], order, mergeKey);
  let merged: readonly Json[];
  if (change === undefined) {
    if (current === undefined) return;
    merged = current;
  } else if (current === undefined) {
    merged = withoutDirectives(change) as readonly Json[];
  } else {
    merged = mergeList(property, current, change, false);
  }
  elementKind([...(current ?? []), ...(change ?? [])]);
  setField(result, key, inOrder(merged, order, current ?? [], mergeKey));
  handled.add(key);
}

function checkOrder(change: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (order.length === 0 || change.length === 0) return;
  const kept = change.filter((item) => !(isObject(item) && Object.hasOwn(item, PATCH)));
  let at = 0;
  for (const expected of order) {
    if (at >= kept.length) return;
    if (identity(kept[at]!, mergeKey) === identity(expected, mergeKey)) at++;
  }
  if (at < kept.length) {
    const message = `The order in patch list:\n${goValue(change)}\n doesn't match ${ELEMENT_ORDER} list:\n${goValue(order)}\n`;
    throw new StatusError(500, undefined, message);
  }
}

function mergeList(
  schema: Schema | undefined,
  original: readonly Json[],
  patch: readonly Json[],
  isDeleteList: boolean,
): readonly Json[] {
  if (strategyOf(schema) !== "merge" && !isDeleteList) return patch;
  if (original.length === 0 && patch.length === 0) return original;
  if (elementKind([...original, ...patch]) !== "map[string]interface {}") {
    if (isDeleteList) {
      const doomed = new Set(patch);
      return original.filter((item) => !doomed.has(item));
    }
    return inOrder(unique([...original, ...patch]), patch, original, "");
  }
  const mergeKey = schema?.["x-kubernetes-patch-merge-key"] ?? "";
  if (mergeKey === "") throw new StatusError(500, undefined, "cannot merge lists without merge key for struct");
  const { kept, changes } = withSpecialItems(original, patch as readonly JsonObject[], mergeKey);
  const merged = [...kept];
  const placeOf = places(kept, mergeKey);
  for (const change of changes) {
    const id = identity(change, mergeKey);
    const at = placeOf.get(id);
    if (at !== undefined) {
      merged[at] = mergeMap(schema?.items, merged[at] as JsonObject, change as JsonObject);
    } else {
      placeOf.set(id, merged.length);
      merged.push(change);
    }
  }
  return inOrder(merged, changes, kept, mergeKey);
}

/** Handles `$patch` items: `delete` removes items, `replace` drops all existing ones. */
function withSpecialItems(
  original: readonly Json[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { readonly kept: readonly Json[]; readonly changes: readonly Json[] } {
  const doomed = new Set<Json>();
  const changes: Json[] = [];
  let isReplaced = false;
  for (const item of patch) {
    const directive = field(item, PATCH);
    if (directive === undefined) {
      changes.push(item);
    } else if (directive === "delete") {
      doomed.add(identity(item, mergeKey));
    } else if (directive === "replace") {
      isReplaced = true;
    } else if (directive === "merge") {
      throw new StatusError(500, undefined, "merging lists cannot yet be specified in the patch");
    } else {
      throw unknownDirective(directive, item);
    }
  }
  if (isReplaced) return { kept: changes, changes: [] };
  const isDoomed = (item: Json): boolean => isObject(item) && doomed.has(field(item, mergeKey) ?? null);
  return { kept: doomed.size === 0 ? original : original.filter((item) => !isDoomed(item)), changes };
}

/**
 * Sorts items that the patch names in patch order and all others in live order, and interleaves the two by live
 * order.
 */
function inOrder(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  liveOrder: readonly Json[],
  mergeKey: string,
): readonly Json[] {
  const named = new Set(patchOrder.map((item) => identity(item, mergeKey)));
  const inPatch = merged.filter((item) => named.has(identity(item, mergeKey)));
  const serverOnly = merged.filter((item) => !named.has(identity(item, mergeKey)));
  const right = sortedBy(inPatch, patchOrder, mergeKey);
  const left = sortedBy(serverOnly, liveOrder, mergeKey);
  const place = places(liveOrder, mergeKey);
  const result: Json[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    if (l >= left.length) result.push(right[r++]!);
    else if (r >= right.length) result.push(left[l++]!);
    else {
      const leftPlace = place.get(identity(left[l]!, mergeKey));
      const rightPlace = place.get(identity(right[r]!, mergeKey));
      const isLess = leftPlace !== undefined && rightPlace !== undefined && leftPlace < rightPlace;
      result.push(isLess ? left[l++]! : right[r++]!);
    }
  }
  return result;
}

/** Sorts by position in `order`. Items without a position go last, in their current order. */
function sortedBy(items: readonly Json[], order: readonly Json[], mergeKey: string): readonly Json[] {
  const place = places(order, mergeKey);
  const rank = (item: Json): number => place.get(identity(item, mergeKey)) ?? order.length;
  return items.toSorted((a, b) => rank(a) - rank(b));
}

function places(order: readonly Json[], mergeKey: string): Map<Json, number> {
  const result = new Map<Json, number>();
  for (const [index, item] of order.entries()) {
    const id = mergeKey === "" || !isObject(item) ? item : (field(item, mergeKey) ?? null);
    if (!result.has(id)) result.set(id, index);
  }
  return result;
}

/** The identity of a list item: its merge key, or the item itself. */
function identity(item: Json, mergeKey: string): Json {
  if (mergeKey === "") return item;
  if (!isObject(item)) throw badType("map[string]interface {}", item);
  const value = field(item, mergeKey);
  if (value !== undefined) return value;
  const message = `map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`;
  throw new StatusError(500, undefined, message);
}

/** The Go type that all items share. */
function elementKind(items: readonly Json[]): string {
  const [first] = items;
  if (first === undefined) throw new StatusError(500, undefined, "no elements in any of the given slices");
  if (isArray(first)) throw unprocessable();
  for (const item of items) {
    if (typeName(item) !== typeName(first)) {
      throw new StatusError(500, undefined, `list element types are not identical: ${goValue([items])}`);
    }
  }
  return typeName(first);
}

function typeName(value: Json): string {
  return goTypeName(value);
}

function unique(items: readonly Json[]): readonly Json[] {
  return [...new Set(items)];
}

function strategyOf(schema: Schema | undefined): string {
  const strategies = schema?.["x-kubernetes-patch-strategy"]?.split(",") ?? [];
  return strategies.find((strategy) => strategy !== "retainKeys") ?? "";
}

function propertyOf(schema: Schema | undefined, key: string): Schema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function directiveTarget(key: string, directive: string): string {
  const slash = key.indexOf("/");
  if (slash < 0 || key.slice(0, slash) !== directive) {
    throw badFormat(directive === ELEMENT_ORDER ? "setElementOrder list" : "primitive list");
  }
  return key.slice(slash + 1);
}

/** Undefined if the whole value is a directive. */
function withoutDirectives(value: Json): Json | undefined {
  if (isArray(value)) {
    return value.map(withoutDirectives).filter((item): item is Json => item !== undefined);
  }
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, PATCH)) return undefined;
  const result: MutableJsonObject = {};
  for (const key of Object.keys(value)) put(result, key, withoutDirectives(value[key]!));
  return result;
}

/** Removes nulls from objects at every depth. Nulls in lists stay. */
function withoutNulls(value: Json): Json {
  if (isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: MutableJsonObject = {};
  for (const key of Object.keys(value)) if (value[key] !== null) setField(result, key, withoutNulls(value[key]!));
  return result;
}

function put(object: MutableJsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete object[key];
  else setField(object, key, value);
}

function badFormat(of: string): StatusError {
  return new StatusError(400, "BadRequest", `invalid patch format of ${of}`);
}

function badType(expected: string, actual: Json): StatusError {
  return new StatusError(500, undefined, `expected a ${expected}, but received a ${goTypeName(actual)}`);
}

function unknownDirective(directive: Json, patch: JsonObject): StatusError {
  return new StatusError(500, undefined, `unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
}

function unprocessable(): StatusError {
  return new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}
