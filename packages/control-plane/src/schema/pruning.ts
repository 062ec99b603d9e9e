import { BoundedTexts } from "../api/error-budget.js";
import { isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import type { Schema } from "../facts/schema.js";

export interface Pruned {
  readonly object: JsonObject;
  /** Unknown fields, as many as a response names, sorted: `spec.zzz`, `spec.list[0].zzz`. */
  readonly unknown: readonly string[];
}

const IDENTITY = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Drops the fields of a custom resource that its schema does not know. Keeps everything below
 * `x-kubernetes-preserve-unknown-fields`, and apiVersion, kind and metadata of the root and of embedded resources.
 */
export function prune(schema: Schema | undefined, object: JsonObject): Pruned {
  const unknown = new BoundedTexts();
  const root = { ...schema, "x-kubernetes-embedded-resource": true };
  const result = pruneValue(root, object, "", unknown) as JsonObject;
  return { object: result, unknown: [...unknown.texts].sort() };
}

function pruneValue(schema: Schema | undefined, value: Json, path: string, unknown: BoundedTexts): Json {
  if (isObject(value)) return pruneObject(schema, value, path, unknown);
  if (!isArray(value)) return value;
  const isPreserving = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  let result: Json[] | undefined;
  for (const [index, item] of value.entries()) {
    const at = `${path}[${index}]`;
    const kept =
      isPreserving && isObject(item) && schema.items !== undefined
        ? pruneObject(schema.items, item, at, unknown, true)
        : isPreserving && schema.items === undefined
          ? item
          : pruneValue(schema?.items, item, at, unknown);
    if (kept !== item) (result ??= [...value])[index] = kept;
  }
  return result ?? value;
}

function pruneObject(
  schema: Schema | undefined,
  value: JsonObject,
  path: string,
  unknown: BoundedTexts,
  isKept = schema?.["x-kubernetes-preserve-unknown-fields"] === true,
): JsonObject {
  let result: MutableJsonObject | undefined;
  for (const key of Object.keys(value)) {
    if (schema?.["x-kubernetes-embedded-resource"] && IDENTITY.has(key)) continue;
    const child = schema === undefined ? undefined : childSchema(schema, key);
    const at = path === "" ? key : `${path}.${key}`;
    if (child === undefined) {
      if (isKept) continue;
      unknown.add(at);
      result ??= { ...value };
      delete result[key];
      continue;
    }
    const kept = pruneValue(child === true ? undefined : child, value[key]!, at, unknown);
    if (kept === value[key]) continue;
    result ??= { ...value };
    setField(result, key, kept);
  }
  return result ?? value;
}

/** `true` for a field that is allowed without a schema. */
function childSchema(schema: Schema, key: string): Schema | true | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "boolean" ? (additionalProperties ? true : undefined) : additionalProperties;
}
