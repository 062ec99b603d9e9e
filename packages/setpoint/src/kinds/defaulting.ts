import type { JSONSchemaProps } from "./builtin/apiextensions.k8s.io/v1.js";

/**
 * The value with the schema's defaults filled in, as an API server does it: a field that is null although it may not be
 * counts as absent, and defaults are filled in inside of what is there too. The input is not changed; parts without a
 * gap are shared with it.
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
  const filled: Record<string, unknown> = { ...given };
  const others = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  for (const name of new Set([...Object.keys(given), ...Object.keys(schema.properties ?? {})])) {
    const field = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : others;
    if (!field) continue;
    const present = Object.hasOwn(given, name) ? given[name] : undefined;
    const next = withDefaults(isGap(present, field) ? defaultOf(field) : present, field);
    if (next === undefined) delete filled[name];
    else filled[name] = next;
  }
  const names = Object.keys(filled);
  const isSame = names.length === Object.keys(given).length && names.every((name) => filled[name] === given[name]);
  return isSame ? value : filled;
}

const isGap = (value: unknown, schema: JSONSchemaProps): boolean =>
  value === undefined || (value === null && !schema.nullable);

const defaultOf = (schema: JSONSchemaProps): unknown =>
  schema.default === undefined ? undefined : structuredClone(schema.default);
