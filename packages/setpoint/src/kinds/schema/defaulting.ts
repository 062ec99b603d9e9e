import type { JSONSchemaProps } from "../builtin/apiextensions.k8s.io/v1.js";
import { ownField } from "../own-field.js";

/**
 * The value with the schema's defaults, as an API server fills them in: a null in a non-nullable field counts as
 * absent, and nested values get defaults too. Does not change the input; complete parts are shared with it.
 */
export function withDefaults(value: unknown, schema: JSONSchemaProps): unknown {
  if (Array.isArray(value)) {
    const items = schema.items as JSONSchemaProps | undefined;
    if (!items) return value;
    const filled = value.map((item) => withDefaults(isGap(item, items) ? (defaultOf(items) ?? item) : item, items));
    return filled.some((item, at) => item !== value[at]) ? filled : value;
  }
  if (typeof value !== "object" || value === null) return value;
  const given = value as Readonly<Record<string, unknown>>;
  const filled = new Map(Object.entries(given));
  const others = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  for (const name of new Set([...Object.keys(given), ...Object.keys(schema.properties ?? {})])) {
    const field = ownField(schema.properties, name) ?? others;
    if (!field) continue;
    const present = ownField(given, name);
    const next = withDefaults(isGap(present, field) ? defaultOf(field) : present, field);
    if (next === undefined) filled.delete(name);
    else filled.set(name, next);
  }
  const isSame =
    filled.size === Object.keys(given).length && [...filled].every(([name, next]) => next === ownField(given, name));
  return isSame ? value : Object.fromEntries(filled);
}

const isGap = (value: unknown, schema: JSONSchemaProps): boolean =>
  value === undefined || (value === null && !schema.nullable);

const defaultOf = (schema: JSONSchemaProps): unknown =>
  schema.default === undefined ? undefined : structuredClone(schema.default);
