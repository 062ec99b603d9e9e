import type { JsonObject } from "setpoint";

/**
 * A whole status as a change: what is no longer said is taken away. Counts of zero are left out, as Go leaves them out
 * where a field is optional; `kept` names those that are shown all the same.
 */
export function wholeStatus<Status extends object>(
  current: Status | undefined,
  next: Status,
  kept: readonly (keyof Status)[] = [],
): { readonly [Field in keyof Status]?: Status[Field] | null } {
  const shown = Object.entries(next).filter(
    ([field, value]) => value !== undefined && !(isZero(value) && !kept.includes(field as keyof Status)),
  );
  const gone = Object.keys(current ?? {}).filter((field) => !shown.some(([name]) => name === field));
  return Object.fromEntries([...shown, ...gone.map((field) => [field, null])]) as {
    [Field in keyof Status]?: Status[Field] | null;
  };
}

function isZero(value: unknown): boolean {
  return value === 0 || (Array.isArray(value) && value.length === 0) || isEmptyMap(value);
}

function isEmptyMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value as JsonObject).length === 0;
}
