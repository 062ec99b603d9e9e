import type { KubeObject, ObjectMeta } from "setpoint";
import { type JsonObject, type MutableJsonObject, setField } from "../api/json.js";

/** An object under construction. */
export type Draft = { -readonly [Field in keyof KubeObject]: KubeObject[Field] } & { [field: string]: unknown };

/** Those fields of the metadata that the server sets, and no client. */
export type SystemFields = Pick<
  { readonly [Field in keyof ObjectMeta]-?: ObjectMeta[Field] | undefined },
  "name" | "namespace" | "uid" | "creationTimestamp" | "deletionTimestamp" | "deletionGracePeriodSeconds"
>;

/**
 * The object with its fields in the order of the wire, kind and apiVersion first: lists and conversions rely on these
 * being a fixed prefix. Metadata is reduced to what ObjectMeta has; empty parts are left out, as Go does.
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
 * The metadata alone; `system` has the last word on the fields of the server. Field by field, since every write comes
 * here several times, and a loop over names is several times as slow.
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

/** What `omitempty` leaves out. A grace period of zero is a pointer's and stays; a generation of zero is none. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _key in value) return false;
  return true;
}
