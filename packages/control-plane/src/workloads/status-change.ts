import type { JsonObject } from "setpoint";

/**
 * Turns a whole status into a change that also removes absent fields. Omits zero counts, as Go does for optional
 * fields, except those in `kept`.
 */
export function wholeStatus<Status extends object>(
  current: Status | undefined,
  next: Status,
  kept: readonly (keyof Status)[] = [],
): { readonly [Field in keyof Status]?: Status[Field] | null } {
  const change: { [Field in keyof Status]?: Status[Field] | null } = {};
  for (const field of Object.keys(next) as (keyof Status)[]) {
    const value = next[field];
    if (value !== undefined && (kept.includes(field) || !isZero(value))) change[field] = value;
  }
  for (const field of Object.keys(current ?? {}) as (keyof Status)[]) {
    if (!Object.hasOwn(change, field)) change[field] = null;
  }
  return change;
}

function isZero(value: unknown): boolean {
  return value === 0 || (Array.isArray(value) && value.length === 0) || isEmptyMap(value);
}

function isEmptyMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value as JsonObject).length === 0;
}
