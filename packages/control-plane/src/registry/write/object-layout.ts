import type { KubeObject, ObjectMeta } from "setpoint";
import { type JsonObject, type MutableJsonObject, setField } from "../../schema/json.js";

/** An object under construction. */
export type Draft = { -readonly [Field in keyof KubeObject]: KubeObject[Field] } & { [field: string]: unknown };

const META_FIELDS = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
] as const;

/**
 * The object with its fields in the order of the wire, kind and apiVersion first: lists and conversions rely on these
 * being a fixed prefix. Metadata is reduced to what ObjectMeta has; empty parts are left out, as Go does.
 */
export function laidOut(object: KubeObject, apiVersion: string, kind: string): Draft {
  const metadata = laidOutMetadata(object.metadata ?? {}) as unknown as JsonObject;
  const result: MutableJsonObject = { kind, apiVersion, metadata };
  const given = object as unknown as JsonObject;
  for (const field in given) {
    if (field !== "kind" && field !== "apiVersion" && field !== "metadata") setField(result, field, given[field]!);
  }
  return result as unknown as Draft;
}

function laidOutMetadata(metadata: Partial<ObjectMeta>): ObjectMeta {
  const ordered: Record<string, unknown> = {};
  for (const field of META_FIELDS) {
    const value = metadata[field];
    if (value !== undefined && !isEmpty(value)) ordered[field] = value;
  }
  return ordered as unknown as ObjectMeta;
}

/** What `omitempty` leaves out. A grace period of zero is a pointer's and stays; a generation of zero is none. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === "") return true;
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _key in value) return false;
  return true;
}

/** The last second that was asked for, and its text: thousands of writes share it. */
let latest = { second: Number.NaN, text: "" };

/** `2026-01-02T03:04:05Z`: Kubernetes keeps whole seconds. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== latest.second) latest = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  return latest.text;
}
