import { isObject } from "../api/json.js";
import { EMPTY_SET, equalSets, type FieldSet, parseFieldSet } from "./field-set.js";
import type { MergeType } from "./merge-type.js";
import { OwnershipError } from "./ownership-error.js";

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldSet;
  readonly subresource?: string;
}

/**
 * The owner of a set of fields: one manager with one operation on one subresource. Updaters are also separate by
 * version.
 */
export interface Manager {
  readonly name: string;
  readonly isApplier: boolean;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** The managers of an object, by id. */
export type Managers = Map<string, Manager>;

/** The identity of a manager. An applier is the same at every version. */
export function managerId(manager: Pick<Manager, "name" | "isApplier" | "apiVersion" | "subresource">): string {
  const { isApplier, apiVersion, subresource } = manager;
  // kube-apiserver sorts managers by these texts and omits an empty name, so that such a manager comes last.
  const name = manager.name === "" ? "\uffff" : manager.name;
  return isApplier ? `${name}\nApply\n\n${subresource}` : `${name}\nUpdate\n${apiVersion}\n${subresource}`;
}

/**
 * On sets that this process wrote: the type under which it wrote them. Such a set is canonical and fits the type, and
 * so does its object. JSON and copies omit the mark.
 */
const WRITTEN = Symbol("written");

type WrittenSet = FieldSet & { [WRITTEN]?: MergeType };

/** Whether this process wrote a set under a type. */
export function isWrittenUnder(set: FieldSet, type: MergeType): boolean {
  return (set as WrittenSet)[WRITTEN] === type;
}

function markWritten(set: FieldSet, type: MergeType | undefined): void {
  if (type === undefined || (set as WrittenSet)[WRITTEN] === type || Object.isFrozen(set)) return;
  Object.defineProperty(set, WRITTEN, { value: type, configurable: true });
}

/**
 * Decodes `metadata.managedFields`. Throws kube-apiserver's error for a malformed entry. Reuses unchanged sets of
 * `known`.
 */
export function decodeManagers(entries: readonly unknown[] | undefined | null, known?: Managers): Managers {
  const managers: Managers = new Map();
  if (!entries) return managers;
  for (let index = 0; index < entries.length; index++) {
    const value = entries[index];
    const entry = (isObject(value) ? value : {}) as ManagedFieldsEntry;
    if (entry.operation !== "Apply" && entry.operation !== "Update") {
      throw new OwnershipError("operation must be `Apply` or `Update`");
    }
    if (!entry.apiVersion) throw new OwnershipError("apiVersion must not be empty");
    if (!entry.fieldsType) throw new OwnershipError(`missing fieldsType in managed fields entry ${index}`);
    if (entry.fieldsType !== "FieldsV1") {
      throw new OwnershipError(
        `invalid fieldsType ${JSON.stringify(entry.fieldsType)} in managed fields entry ${index}`,
      );
    }
    const name = entry.manager ?? "";
    const isApplier = entry.operation === "Apply";
    const { apiVersion, time, subresource = "", fieldsV1 } = entry;
    const id = managerId({ name, isApplier, apiVersion, subresource });
    const before = known?.get(id)?.fields;
    const fields = before !== undefined && isSameSet(fieldsV1, before) ? before : decodeFields(fieldsV1);
    managers.set(id, { name, isApplier, apiVersion, subresource, time, fields });
  }
  return managers;
}

/** The entries of the managers: appliers first, then by time, name, version and subresource. */
export function encodeManagers(
  managers: Managers,
  typeOf: (apiVersion: string) => MergeType | undefined,
): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map((manager) => {
    markWritten(manager.fields, typeOf(manager.apiVersion));
    return entryOf(manager);
  });
}

/** Sorts entries in the order in which managers are written. */
export function sortedEntries(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] | undefined {
  return encodeManagers(decodeManagers(entries), () => undefined);
}

/** A manager's entry. Sets fields one by one: this runs on every write, and conditional spreads are slow. */
export function entryOf(manager: Manager): ManagedFieldsEntry {
  const entry: { -readonly [Field in keyof ManagedFieldsEntry]: ManagedFieldsEntry[Field] } = {};
  if (manager.name !== "") entry.manager = manager.name;
  entry.operation = manager.isApplier ? "Apply" : "Update";
  entry.apiVersion = manager.apiVersion;
  if (manager.time !== undefined) entry.time = manager.time;
  entry.fieldsType = "FieldsV1";
  entry.fieldsV1 = manager.fields;
  if (manager.subresource !== "") entry.subresource = manager.subresource;
  return entry;
}

/** Whether a client resets all ownership: with an empty list, or one empty entry. */
export function isReset(entries: readonly unknown[] | undefined | null): boolean {
  if (!Array.isArray(entries)) return false;
  if (entries.length === 0) return true;
  return entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0;
}

/** Oldest first. Managers without a time come before all others. */
export function compareTimes(a: Manager, b: Manager): number {
  if (a.time === undefined || b.time === undefined) return Number(a.time !== undefined) - Number(b.time !== undefined);
  return compareTimeTexts(a.time, b.time);
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    Number(b.isApplier) - Number(a.isApplier) ||
    compareTimes(a, b) ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Canonical times sort by their text. Other times, from clients, are parsed. */
function compareTimeTexts(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length === 20 && b.length === 20) return a < b ? -1 : 1;
  return Math.floor(Date.parse(a) / 1000) - Math.floor(Date.parse(b) / 1000);
}

/** Whether a client sent back the same set. */
function isSameSet(sent: FieldSet | undefined, set: FieldSet): boolean {
  return isObject(sent) && equalSets(set, sent as FieldSet);
}

/** Clients may send anything here. */
function decodeFields(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return EMPTY_SET;
  return isObject(fields) && WRITTEN in fields ? (fields as FieldSet) : parseFieldSet(fields);
}
