import { isObject } from "../schema/json.js";
import { EMPTY_SET, type FieldSet, parseFieldSet } from "./field-set.js";

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
  return JSON.stringify([
    manager.name,
    manager.isApplier ? "Apply" : "Update",
    manager.isApplier ? "" : manager.apiVersion,
    manager.subresource,
  ]);
}

/** Sets that the server wrote or has read once: they need not be parsed again. */
const canonical = new WeakSet<FieldSet>();

/** Reads `metadata.managedFields`; throws where an entry is malformed, in the real server's words. */
export function decodeManagers(entries: readonly unknown[] | undefined | null): Managers {
  const managers: Managers = new Map();
  for (const [index, value] of (entries ?? []).entries()) {
    const entry = (isObject(value) ? value : {}) as ManagedFieldsEntry;
    if (entry.operation !== "Apply" && entry.operation !== "Update") {
      throw new Error("operation must be `Apply` or `Update`");
    }
    if (!entry.apiVersion) throw new Error("apiVersion must not be empty");
    if (!entry.fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
    if (entry.fieldsType !== "FieldsV1") {
      throw new Error(`invalid fieldsType ${JSON.stringify(entry.fieldsType)} in managed fields entry ${index}`);
    }
    const manager: Manager = {
      name: entry.manager ?? "",
      isApplier: entry.operation === "Apply",
      apiVersion: entry.apiVersion,
      subresource: entry.subresource ?? "",
      time: entry.time,
      fields: decodeFields(entry.fieldsV1),
    };
    managers.set(managerId(manager), manager);
  }
  return managers;
}

/** The entries of the managers, appliers first, each kind by time, name, version and subresource. */
export function encodeManagers(managers: Managers): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map((manager) => {
    canonical.add(manager.fields);
    return {
      ...(manager.name === "" ? {} : { manager: manager.name }),
      operation: manager.isApplier ? "Apply" : "Update",
      apiVersion: manager.apiVersion,
      ...(manager.time === undefined ? {} : { time: manager.time }),
      fieldsType: "FieldsV1",
      fieldsV1: manager.fields,
      ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
    };
  });
}

/** A client asks for all ownership to be forgotten: an empty list, or one empty entry. */
export function isReset(entries: readonly unknown[] | undefined | null): boolean {
  if (!Array.isArray(entries)) return false;
  if (entries.length === 0) return true;
  return entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0;
}

/** Oldest first; those without a time before all. */
export function compareTimes(a: Manager, b: Manager): number {
  return seconds(a.time) - seconds(b.time);
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

function seconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

function decodeFields(fields: FieldSet | undefined): FieldSet {
  if (fields === undefined) return EMPTY_SET;
  if (canonical.has(fields)) return fields;
  const set = parseFieldSet(fields);
  canonical.add(set);
  return set;
}
