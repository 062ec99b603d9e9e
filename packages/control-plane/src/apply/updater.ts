import { isSameJson } from "setpoint/kinds";
import type { JsonObject } from "../api/json.js";
import { perObject } from "../api/memoized.js";
import { type Comparison, compare, excludeFields, isSame } from "./comparison.js";
import { type Conflict, ConflictsError } from "./conflict.js";
import {
  difference,
  EMPTY_SET,
  equalSets,
  type FieldSet,
  intersection,
  isEmptySet,
  paths,
  recursiveDifference,
  union,
} from "./field-set.js";
import { isWrittenUnder, type Manager, type Managers } from "./managed-fields.js";
import type { MergeType } from "./merge-type.js";
import { merge } from "./merging.js";
import { ownedFields, reconcileWithType, withNamedFields } from "./owned-fields.js";
import { removeFields } from "./removal.js";

/** What the updater needs to know about the versions of a kind. */
export interface Versions {
  /** Undefined for a version that is no longer served. Ownership at that version is dropped. */
  typeOf(apiVersion: string): MergeType | undefined;
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** Fields that a request to this endpoint cannot set, and so never owns. */
  resetFields(apiVersion: string): FieldSet | undefined;
}

/** The managers after manager `id` updated `live` to `object`. It owns all that it changed. */
export function update(
  versions: Versions,
  live: JsonObject,
  object: JsonObject,
  managers: Managers,
  id: string,
  self: Omit<Manager, "fields">,
): Managers {
  const reconciled = reconcile(versions, managers);
  const { result, comparison } = disown(versions, live, object, self.apiVersion, reconciled, id, true);
  const previous = result.get(id)?.fields ?? EMPTY_SET;
  const owned = union(union(difference(previous, comparison.removed), comparison.modified), comparison.added);
  const fields = exclude(owned, versions.resetFields(self.apiVersion));
  if (isEmptySet(fields)) result.delete(id);
  else result.set(id, { ...self, fields });
  return result;
}

/** Applies a configuration to the live object. Returns undefined if nothing changes, and the resulting managers. */
export function apply(
  versions: Versions,
  live: JsonObject,
  config: JsonObject,
  managers: Managers,
  id: string,
  self: Omit<Manager, "fields">,
  force: boolean,
): { readonly object: JsonObject | undefined; readonly managers: Managers } {
  const reconciled = reconcile(versions, managers);
  const type = versions.typeOf(self.apiVersion)!;
  const merged = merge(type, live, config) as JsonObject;
  const last = reconciled.get(id);
  const fields = exclude(ownedFields(type, config), versions.resetFields(self.apiVersion));
  reconciled.set(id, { ...self, time: last?.time, fields });
  const object = withoutAbandoned(versions, merged, reconciled, self.apiVersion, last, fields);
  const { result } = disown(versions, live, object, self.apiVersion, reconciled, id, force);
  return { object: isSameJson(live, object) ? undefined : object, managers: result };
}

/** Removes changed fields from all other managers. Without `force`, another manager's changed field is a conflict. */
function disown(
  versions: Versions,
  live: JsonObject,
  object: JsonObject,
  apiVersion: string,
  managers: Managers,
  id: string,
  force: boolean,
): { readonly result: Managers; readonly comparison: Comparison } {
  const result: Managers = new Map(managers);
  const comparisons = new Map<string, Comparison>();
  const comparisonAt = (version: string, type: MergeType): Comparison => {
    let comparison = comparisons.get(version);
    if (comparison === undefined) {
      comparison = excludeFields(
        compare(type, versions.convert(live, version), versions.convert(object, version)),
        versions.resetFields(version),
      );
      comparisons.set(version, comparison);
    }
    return comparison;
  };
  const own = comparisonAt(apiVersion, versions.typeOf(apiVersion)!);
  const conflicts: Conflict[] = [];
  for (const [otherId, manager] of managers) {
    if (otherId === id) continue;
    const type = versions.typeOf(manager.apiVersion);
    if (type === undefined) {
      result.delete(otherId);
      continue;
    }
    if (isEmptySet(manager.fields)) result.delete(otherId);
    const comparison = comparisonAt(manager.apiVersion, type);
    if (isSame(comparison)) continue;
    const taken = intersection(manager.fields, changedIn(comparison));
    if (!force) for (const path of paths(taken)) conflicts.push({ manager, path });
    const fields = difference(difference(manager.fields, taken), comparison.removed);
    if (isEmptySet(fields)) result.delete(otherId);
    else if (!equalSets(fields, manager.fields)) result.set(otherId, { ...manager, fields });
  }
  if (conflicts.length > 0) throw new ConflictsError(conflicts);
  if (result.has(id) && isEmptySet(result.get(id)!.fields)) result.delete(id);
  return { result, comparison: own };
}

const changedIn = perObject(({ modified, added }: Comparison): FieldSet => union(modified, added));

/** Removes the fields that the applier owned last time, does not apply this time, and nobody else owns. */
function withoutAbandoned(
  versions: Versions,
  merged: JsonObject,
  managers: Managers,
  apiVersion: string,
  last: Manager | undefined,
  fields: FieldSet,
): JsonObject {
  if (last === undefined || isEmptySet(difference(last.fields, fields))) return merged;
  const type = versions.typeOf(last.apiVersion);
  if (type === undefined) return merged;
  const before = versions.convert(merged, last.apiVersion);
  const lastFields = withNamedFields(type, last.fields);
  let pruned = removeFields(type, before, lastFields) as JsonObject | null;
  if (pruned === null) pruned = {};
  pruned = withOwned(versions, before, pruned, last.apiVersion, managers);
  const present = withNamedFields(type, ownedFields(type, before));
  const left = withNamedFields(type, ownedFields(type, versions.convert(pruned, last.apiVersion)));
  const abandoned = intersection(difference(present, left), lastFields);
  return versions.convert((removeFields(type, before, abandoned) ?? {}) as JsonObject, apiVersion);
}

/** Restores fields that a manager owns, version by version, starting with the pruned version. */
function withOwned(
  versions: Versions,
  merged: JsonObject,
  pruned: JsonObject,
  prunedVersion: string,
  managers: Managers,
): JsonObject {
  const ownedAt = new Map<string, FieldSet>([[prunedVersion, EMPTY_SET]]);
  for (const manager of managers.values()) {
    ownedAt.set(manager.apiVersion, union(ownedAt.get(manager.apiVersion) ?? EMPTY_SET, manager.fields));
  }
  let current = pruned;
  for (const [version, owned] of ownedAt) {
    const type = versions.typeOf(version);
    if (type === undefined) continue;
    const all = versions.convert(merged, version);
    const present = withNamedFields(type, ownedFields(type, all));
    const left = withNamedFields(type, ownedFields(type, versions.convert(current, version)));
    current = (removeFields(type, all, difference(present, union(left, withNamedFields(type, owned)))) ??
      {}) as JsonObject;
  }
  return current;
}

function reconcile(versions: Versions, managers: Managers): Managers {
  const result: Managers = new Map();
  for (const [id, manager] of managers) {
    const type = versions.typeOf(manager.apiVersion);
    if (type === undefined) continue;
    const fields = isWrittenUnder(manager.fields, type) ? manager.fields : reconcileWithType(type, manager.fields);
    result.set(id, fields === manager.fields ? manager : { ...manager, fields });
  }
  return result;
}

function exclude(fields: FieldSet, excluded: FieldSet | undefined): FieldSet {
  return excluded === undefined ? fields : recursiveDifference(fields, excluded);
}
