import type { KubeObject, ObjectMeta } from "setpoint";
import { type JsonObject, type MutableJsonObject, setField } from "../api/json.js";

/** An object under construction. */
export type Draft = { -readonly [Field in keyof KubeObject]: KubeObject[Field] } & { [field: string]: unknown };

/** Metadata fields that only the server sets. */
export type SystemFields = Pick<
  { readonly [Field in keyof ObjectMeta]-?: ObjectMeta[Field] | undefined },
  "name" | "namespace" | "uid" | "creationTimestamp" | "deletionTimestamp" | "deletionGracePeriodSeconds"
>;

/**
 * The object with its fields in wire order, kind and apiVersion first: lists and conversions rely on this fixed
 * prefix. Metadata keeps only ObjectMeta's fields. Empty parts are omitted, as in Go.
 */
export function laidOut(
  object: KubeObject,
  apiVersion: string,
  kind: string,
  metadata = laidOutMetadata(object.metadata ?? {}),
): Draft {
  const result: MutableJsonObject = { kind, apiVersion, metadata: metadata as unknown as JsonObject };
  const given = object as unknown as JsonObject;
  for (const field in given) {
    if (field !== "kind" && field !== "apiVersion" && field !== "metadata") setField(result, field, given[field]!);
  }
  return result as unknown as Draft;
}

/**
 * Lays out only the metadata. `system` overrides the server's fields. Sets field by field: every write runs this
 * several times, and a loop over names is several times slower.
 */
export function laidOutMetadata(meta: Partial<ObjectMeta>, system: Partial<SystemFields> = meta): ObjectMeta {
  const ordered: { -readonly [Field in keyof ObjectMeta]?: ObjectMeta[Field] | undefined } = {};
  if (!isEmpty(system.name)) ordered.name = system.name!;
  if (!isEmpty(meta.generateName)) ordered.generateName = meta.generateName;
  if (!isEmpty(system.namespace)) ordered.namespace = system.namespace;
  if (!isEmpty(system.uid)) ordered.uid = system.uid!;
  if (!isEmpty(meta.resourceVersion)) ordered.resourceVersion = meta.resourceVersion!;
  if (!isEmpty(meta.generation)) ordered.generation = meta.generation;
  if (!isEmpty(system.creationTimestamp)) ordered.creationTimestamp = system.creationTimestamp;
  if (!isEmpty(system.deletionTimestamp)) ordered.deletionTimestamp = system.deletionTimestamp;
  if (!isEmpty(system.deletionGracePeriodSeconds)) {
    ordered.deletionGracePeriodSeconds = system.deletionGracePeriodSeconds;
  }
  if (!isEmpty(meta.labels)) ordered.labels = meta.labels;
  if (!isEmpty(meta.annotations)) ordered.annotations = meta.annotations;
  if (!isEmpty(meta.ownerReferences)) ordered.ownerReferences = meta.ownerReferences;
  if (!isEmpty(meta.finalizers)) ordered.finalizers = meta.finalizers;
  if (!isEmpty(meta.managedFields)) ordered.managedFields = meta.managedFields;
  return ordered as ObjectMeta;
}

/** Whether `omitempty` omits a value. A grace period of zero is a pointer and stays; a generation of zero does not. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _key in value) return false;
  return true;
}
