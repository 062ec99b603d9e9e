import { difference, type FieldSet, hasPath, isEmptySet, setOf } from "./field-set.js";
import { type ManagedFieldsEntry, sortedEntries } from "./managed-fields.js";
import type { PathElement } from "./path-element.js";

const SCALE_VERSION = "autoscaling/v1";
const SCALE_REPLICAS = setOf(["f:spec", "f:replicas"]);

/**
 * The managers of a Scale's replicas, derived from those of its object, as kube-apiserver presents them to an apply
 * to `/scale`. `replicas` is the path in the object.
 */
export function scaleManagers(
  entries: readonly ManagedFieldsEntry[] = [],
  replicas: readonly PathElement[],
): readonly ManagedFieldsEntry[] {
  return entries
    .filter(({ fieldsV1 }) => fieldsV1 !== undefined && hasPath(fieldsV1, replicas))
    .map((entry) => ({ ...entry, apiVersion: SCALE_VERSION, fieldsV1: SCALE_REPLICAS }));
}

/**
 * The object's managers after an apply to its Scale. A manager that lost the Scale's replicas loses the object's. A
 * new owner is recorded at `apiVersion` without a time, and so sorts before all others with its operation.
 */
export function objectManagers(
  entries: readonly ManagedFieldsEntry[] = [],
  scaleEntries: readonly ManagedFieldsEntry[],
  replicas: readonly PathElement[],
  apiVersion: string,
): readonly ManagedFieldsEntry[] | undefined {
  const owned = setOf(replicas);
  const owners = new Set(scaleEntries.map(idOf));
  const known = new Set(entries.filter(({ fieldsV1 = {} }) => hasPath(fieldsV1 as FieldSet, replicas)).map(idOf));
  const kept = entries.flatMap((entry): ManagedFieldsEntry[] => {
    if (!known.has(idOf(entry)) || owners.has(idOf(entry))) return [entry];
    const fieldsV1 = difference(entry.fieldsV1!, owned);
    return isEmptySet(fieldsV1) ? [] : [{ ...entry, fieldsV1 }];
  });
  const added = scaleEntries
    .filter((entry) => !known.has(idOf(entry)))
    .map(({ time: _time, ...entry }): ManagedFieldsEntry => ({ ...entry, apiVersion, fieldsV1: owned }));
  return sortedEntries([...kept, ...added]);
}

function idOf({ manager = "", operation = "", subresource = "" }: ManagedFieldsEntry): string {
  return `${manager}\n${operation}\n${subresource}`;
}
