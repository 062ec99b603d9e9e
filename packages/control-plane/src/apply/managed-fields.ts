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

/** Who owns which fields: one manager, by one operation, through one subresource; updaters also by version. */
export interface Manager {
  readonly name: string;
  readonly isApplier: boolean;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** The managers of an object by their identity. */
export type Managers = Map<string, Manager>;

/** What tells one manager from another. An applier is the same one at every version. */
export function managerId(manager: Pick<Manager, "name" | "isApplier" | "apiVersion" | "subresource">): string {
  const { isApplier, apiVersion, subresource } = manager;
  // The real server orders managers by these texts, and leaves out an empty name: such a one comes last.
  const name = manager.name === "" ? "\uffff" : manager.name;
  return isApplier ? `${name}\nApply\n\n${subresource}` : `${name}\nUpdate\n${apiVersion}\n${subresource}`;
}

/**
 * On sets that this process wrote: the type under which it did. Such a set is canonical, it fits the type, and so does
 * the object that carries it. Neither JSON nor copies show it.
 */
const WRITTEN = Symbol("written");

type WrittenSet = FieldSet & { [WRITTEN]?: MergeType };

/** Whether a set was written under a type by this process. */
export function isWrittenUnder(set: FieldSet, type: MergeType): boolean {
  return (set as WrittenSet)[WRITTEN] === type;
}

function markWritten(set: FieldSet, type: MergeType | undefined): void {
  if (type === undefined || (set as WrittenSet)[WRITTEN] === type || Object.isFrozen(set)) return;
  Object.defineProperty(set, WRITTEN, { value: type, configurable: true });
}

/**
 * Reads `metadata.managedFields`; throws where an entry is malformed, in the real server's words. Sets that are as they
 * were in `known` are taken from there.
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

/** The entries of the managers, appliers first, each kind by time, name, version and subresource. */
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

/** Entries in the order in which managers are written. */
export function sortedEntries(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] | undefined {
  return encodeManagers(decodeManagers(entries), () => undefined);
}

/** A manager as it is written. Fields are set one by one: this runs on every write, and conditional spreads are slow. */
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

/** A client asks for all ownership to be forgotten: an empty list, or one empty entry. */
export function isReset(entries: readonly unknown[] | undefined | null): boolean {
  if (!Array.isArray(entries)) return false;
  if (entries.length === 0) return true;
  return entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0;
}

/** Oldest first; those without a time before all. */
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

/** Times have one form, to the second, so their text orders them; one that a client wrote otherwise is parsed. */
function compareTimeTexts(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length === 20 && b.length === 20) return a < b ? -1 : 1;
  return Math.floor(Date.parse(a) / 1000) - Math.floor(Date.parse(b) / 1000);
}

/** Whether a client sent back what it was given. */
function isSameSet(sent: FieldSet | undefined, set: FieldSet): boolean {
  return isObject(sent) && equalSets(set, sent as FieldSet);
}

/** A client may send anything here. */
function decodeFields(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return EMPTY_SET;
  return isObject(fields) && WRITTEN in fields ? (fields as FieldSet) : parseFieldSet(fields);
}
