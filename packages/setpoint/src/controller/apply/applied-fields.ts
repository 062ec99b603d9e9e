import type { JsonObject, KubeObject, ManagedFieldsEntry } from "../../kinds/object.js";
import { ownField } from "../../kinds/own-field.js";
import { copyWithout, isEqual, isRecord, joinPath } from "./field-paths.js";
import { asStored, isDropped, isSameQuantity, isSameTime, isServerDefault } from "./server-defaults.js";

type Fields = Readonly<Record<string, unknown>>;

/** The result of a comparison. */
interface Differences {
  readonly paths: string[];
  /** Servers normalize quantities and drop empty lists in built-in kinds; they store custom resources unchanged. */
  readonly isBuiltIn: boolean;
}

type ItemMatcher = (item: unknown) => boolean;

/** The managedFields entry with the fields that `manager` has applied. */
export function appliedEntry(object: KubeObject, manager: string): ManagedFieldsEntry | undefined {
  return object.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === "Apply" && !entry.subresource,
  );
}

/**
 * The paths at which an object differs from the desired state, given the fields that were applied before: values that
 * differ, fields that were never applied, and applied fields that are no longer desired. Empty if an apply would change
 * nothing.
 *
 * The set of applied fields also says how the server merges each list, so no schema is needed.
 */
export function differingPaths(applied: JsonObject, desired: JsonObject, current: unknown): readonly string[] {
  const found: Differences = { paths: [], isBuiltIn: isBuiltIn(desired.apiVersion) };
  const stored = found.isBuiltIn ? asStored(desired, current) : { desired, current };
  const owned = ownable(stored.desired as JsonObject);
  if (isLeaf(applied)) nameUnowned(owned, stored.current, "", found.paths);
  else compareNode(applied, owned, stored.current, "", found);
  return found.paths;
}

/** Decides by the group: those of Kubernetes itself are single words, or end in `k8s.io`. */
function isBuiltIn(apiVersion: unknown): boolean {
  return typeof apiVersion === "string" && (!apiVersion.includes(".") || apiVersion.includes(".k8s.io/"));
}

/** A short digest of the fields that `applied` names, their values, and the set itself. */
export function digestOfApplied(applied: JsonObject, current: unknown): string {
  return digest([applied, extract(applied, current)]);
}

export function digest(value: unknown): string {
  // Loaded on first use: see the budget of `import "setpoint"`.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(canonical(value)).digest("base64url").slice(0, 22);
}

/** Whether the set of applied fields contains the path. */
export function isApplied(applied: Fields, steps: readonly string[]): boolean {
  let node: unknown = applied;
  for (const step of steps) {
    if (!isRecord(node)) return false;
    node = node[`f:${step}`];
  }
  return node !== undefined;
}

/** The part of a desired object that managers can own: without its type and identity. */
function ownable(desired: JsonObject): JsonObject {
  const owned = copyWithout(desired, "apiVersion", "kind", "metadata");
  const metadata = copyWithout((desired.metadata ?? {}) as JsonObject, "name", "namespace");
  if (Object.keys(metadata).length > 0) owned.metadata = metadata;
  return owned as JsonObject;
}

function compareNode(applied: Fields, desired: unknown, current: unknown, path: string, found: Differences): void {
  if (isLeaf(applied)) {
    const isSame =
      isEquivalent(desired, current, path, found.isBuiltIn) || (found.isBuiltIn && isDropped(desired, current));
    if (!isSame) found.paths.push(path);
  } else if (isRecord(desired)) {
    compareFields(applied, desired, current, path, found);
  } else if (Array.isArray(desired)) {
    compareItems(applied, desired, current, path, found);
  } else {
    found.paths.push(path);
  }
}

function compareFields(
  applied: Fields,
  desired: Readonly<Record<string, unknown>>,
  current: unknown,
  path: string,
  found: Differences,
): void {
  let wanted = 0;
  for (const field of Object.keys(desired)) {
    const value = desired[field];
    const inner = applied[`f:${field}`];
    const existing = isRecord(current) ? ownField(current, field) : undefined;
    if (!isRecord(inner)) {
      if (isMissing(value, existing, found.isBuiltIn)) nameUnowned(value, existing, joinPath(path, field), found.paths);
      continue;
    }
    if (value !== undefined && value !== null) wanted++;
    // Most values are as desired: do not build a path for these.
    if (!isLeaf(inner) || !isEqual(value, existing)) {
      compareNode(inner, value, existing, joinPath(path, field), found);
    }
  }
  if (wanted === fieldCount(applied)) return;
  for (const name of Object.keys(applied)) {
    if (!name.startsWith("f:")) continue;
    const field = name.slice(2);
    if ((ownField(desired, field) ?? null) === null) found.paths.push(joinPath(path, field));
  }
}

/** Names fields that were never applied, or that others took over, as deep as the object has them. */
function nameUnowned(desired: unknown, current: unknown, path: string, paths: string[]): void {
  if (!isRecord(desired) || !isRecord(current)) {
    paths.push(path);
    return;
  }
  for (const [field, value] of Object.entries(desired))
    nameUnowned(value, ownField(current, field), joinPath(path, field), paths);
}

function compareItems(
  applied: Fields,
  desired: readonly unknown[],
  current: unknown,
  path: string,
  found: Differences,
): void {
  const items: readonly unknown[] = Array.isArray(current) ? current : [];
  const names = itemNames(applied);
  /** Matchers of the items that are not found yet. */
  const matchers: (ItemMatcher | undefined)[] = names.map(itemMatcher);
  desired.forEach((item, at) => {
    const itemPath = `${path}[${at}]`;
    const place = matchers.findIndex((matches) => matches?.(item));
    const existing = place < 0 ? undefined : items.find(matchers[place]!);
    if (place >= 0) matchers[place] = undefined;
    if (existing === undefined) found.paths.push(itemPath);
    else compareNode(applied[names[place]!] as Fields, item, existing, itemPath, found);
  });
  names.forEach((name, at) => {
    if (matchers[at]) found.paths.push(`${path}[${name.slice(2)}]`);
  });
}

/** How many fields the set names, without items and the object itself. */
function fieldCount(applied: Fields): number {
  let count = 0;
  for (const name in applied) if (name.startsWith("f:")) count++;
  return count;
}

function itemNames(applied: Fields): string[] {
  return Object.keys(applied).filter((name) => name !== ".");
}

/**
 * Matches the list item that `name` (`k:{"name":"web"}`, `v:"a"`) stands for. Key fields with a default (`protocol`)
 * may be missing.
 */
function itemMatcher(name: string): ItemMatcher {
  const value: unknown = JSON.parse(name.slice(2));
  if (name.startsWith("v:")) return (item) => isEqual(value, item);
  if (!name.startsWith("k:") || !isRecord(value)) return () => false;
  const fields = Object.entries(value);
  return (item) => {
    if (!isRecord(item)) return false;
    const stated = fields.filter(([field]) => ownField(item, field) !== undefined);
    return stated.length > 0 && stated.every(([field, wanted]) => isEqual(item[field], wanted));
  };
}

function extract(applied: Fields, current: unknown): unknown {
  if (isLeaf(applied)) return current ?? null;
  return Object.entries(applied).map(([name, inner]) => {
    if (name === ".") return null;
    if (name.startsWith("f:"))
      return extract(inner as Fields, isRecord(current) ? ownField(current, name.slice(2)) : undefined);
    const items: readonly unknown[] = Array.isArray(current) ? current : [];
    const item = items.find(itemMatcher(name));
    return item === undefined ? null : extract(inner as Fields, item);
  });
}

/**
 * Whether two states of an object differ only in fields of the sets, so that nobody else has changed anything. Says no
 * if in doubt, for example if list items have moved.
 */
export function isSameBeside(sets: readonly Fields[], left: unknown, right: unknown): boolean {
  if (sets.some(isLeaf)) return true;
  if (sets.length === 0) return isEqual(left, right) || (isEmpty(left) && isEmpty(right));
  if (Array.isArray(left) && Array.isArray(right)) return areSameBeside(sets, left, right);
  const [before, after] = [left ?? {}, right ?? {}];
  if (!isRecord(before) || !isRecord(after)) return isEqual(left, right);
  const isSame = (field: string): boolean =>
    isSameBeside(inner(sets, `f:${field}`), ownField(before, field), ownField(after, field));
  return (
    Object.keys(before).every(isSame) &&
    Object.keys(after).every((field) => Object.hasOwn(before, field) || isSame(field))
  );
}

function areSameBeside(sets: readonly Fields[], left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  const matchers = sets.flatMap(itemNames).map((name) => [name, itemMatcher(name)] as const);
  return left.every((item, at) => {
    const owned = matchers.filter(([, matches]) => matches(item));
    const isSameItem = owned.every(([, matches]) => matches(right[at]));
    return (
      isSameItem &&
      isSameBeside(
        owned.flatMap(([name]) => inner(sets, name)),
        item,
        right[at],
      )
    );
  });
}

function inner(sets: readonly Fields[], name: string): readonly Fields[] {
  return sets.map((set) => set[name]).filter(isRecord);
}

function isLeaf(applied: Fields): boolean {
  for (const name in applied) if (name !== ".") return false;
  return true;
}

function isEquivalent(desired: unknown, current: unknown, path: string, isBuiltIn: boolean): boolean {
  if (isEqual(desired, current) || (isEmpty(desired) && isEmpty(current))) return true;
  if (isRecord(desired) && isRecord(current)) {
    const fields = new Set([...Object.keys(desired), ...Object.keys(current)]);
    return [...fields].every((field) =>
      isEquivalent(ownField(desired, field), ownField(current, field), joinPath(path, field), isBuiltIn),
    );
  }
  if (!isBuiltIn) return false;
  if (Array.isArray(desired) && Array.isArray(current) && desired.length === current.length)
    return desired.every((item, at) => isEquivalent(item, current[at], `${path}[${at}]`, isBuiltIn));
  if (desired === undefined) return isServerDefault(path, current);
  return isSameQuantity(path, desired, current) || isSameTime(path, desired, current);
}

/**
 * Whether a field that was never applied must be. An empty value must be, if the object has nothing there (`tls: {}`
 * may switch something on), except for lists that the server drops and never records as applied.
 */
function isMissing(desired: unknown, current: unknown, isBuiltIn: boolean): boolean {
  if (!isEmpty(desired)) return true;
  if (desired === undefined || desired === null || current !== undefined) return false;
  return !(isBuiltIn && Array.isArray(desired));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

/** JSON with sorted fields. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.keys(value).filter((field) => value[field] !== undefined);
  return `{${fields
    .sort()
    .map((field) => `${JSON.stringify(field)}:${canonical(value[field])}`)
    .join(",")}}`;
}
