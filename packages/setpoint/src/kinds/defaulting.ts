import type { JSONSchemaProps } from "./builtin/apiextensions.k8s.io/v1.js";

/**
 * The value with the schema's defaults filled in, as an API server does it: where a field is absent, or null although
 * it may not be, and inside of what is there. The input is not changed; parts without a gap are shared with it.
 */
export function withDefaults(value: unknown, schema: JSONSchemaProps): unknown {
  if (Array.isArray(value)) {
    const items = schema.items as JSONSchemaProps | undefined;
    return items ? mapped(value, (item) => withDefaults(item, items)) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  const filled: Record<string, unknown> = { ...value };
  let isChanged = false;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const given = Object.hasOwn(filled, name) ? filled[name] : undefined;
    const isGap = given === undefined || (given === null && !field.nullable);
    const next = withDefaults(isGap && field.default !== undefined ? structuredClone(field.default) : given, field);
    if (next === given) continue;
    filled[name] = next;
    isChanged = true;
  }
  const others = schema.additionalProperties;
  if (typeof others === "object") {
    for (const [name, given] of Object.entries(filled)) {
      const next = withDefaults(given, others);
      isChanged ||= next !== given;
      filled[name] = next;
    }
  }
  return isChanged ? filled : value;
}

function mapped(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const next = list.map(change);
  return next.some((item, at) => item !== list[at]) ? next : list;
}
