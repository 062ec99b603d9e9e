import { Buffer } from "node:buffer";
import type { Kind, ObjectOf } from "setpoint";
import { ConfigMap, Secret } from "setpoint/kinds/v1";
import { referenceMissing } from "../errors.js";
import type { Header, ValueReference } from "../kinds/parts.js";

/** The source of the objects that an Agent refers to: tracked reads of a run, or a file. */
export interface Objects {
  find<K extends Kind>(kind: K, name: string, namespace: string): Promise<ObjectOf<K> | undefined>;
}

/** Throws `AGENTS_REFERENCE_MISSING` if the object does not exist. */
export async function required<K extends Kind>(
  objects: Objects,
  kind: K,
  name: string,
  namespace: string,
): Promise<ObjectOf<K>> {
  const found = await objects.find(kind, name, namespace);
  if (found) return found;
  throw referenceMissing(`${kind.kind} ${namespace === "" ? name : `${namespace}/${name}`} not found`);
}

/** The decoded value of a Secret's key. Errors name the object and the key, but never a value. */
export async function secretValue(objects: Objects, name: string, key: string, namespace: string): Promise<string> {
  const value = (await required(objects, Secret, name, namespace)).data?.[key];
  if (value === undefined) throw referenceMissing(`Secret ${namespace}/${name} has no key ${JSON.stringify(key)}`);
  return Buffer.from(value, "base64").toString("utf8");
}

export async function referredValue(objects: Objects, from: ValueReference, namespace: string): Promise<string> {
  if (from.type === "Secret") return secretValue(objects, from.name, from.key, namespace);
  const value = (await required(objects, ConfigMap, from.name, namespace)).data?.[from.key];
  if (value === undefined) {
    throw referenceMissing(`ConfigMap ${namespace}/${from.name} has no key ${JSON.stringify(from.key)}`);
  }
  return value;
}

/** Headers by name. A later header overrides an earlier one of the same name. */
export async function resolveHeaders(
  objects: Objects,
  headers: readonly Header[] | undefined,
  namespace: string,
): Promise<Record<string, string>> {
  const resolved: Record<string, string> = {};
  for (const { name, value, valueFrom } of headers ?? []) {
    resolved[name] = valueFrom ? await referredValue(objects, valueFrom, namespace) : (value ?? "");
  }
  return resolved;
}
