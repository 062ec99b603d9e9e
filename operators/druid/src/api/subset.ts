import type { JsonValue } from "setpoint";

/**
 * Whether `current` contains `wanted`. Objects are compared field by field. A list must contain each wanted element, in
 * any order. Fields that Druid defaults therefore do not count as differences.
 */
export function includes(current: JsonValue | undefined, wanted: JsonValue | undefined): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(current) && wanted.every((each) => current.some((other) => isSame(other, each)));
  }
  if (typeof wanted === "object" && wanted !== null) {
    if (typeof current !== "object" || current === null || Array.isArray(current)) return false;
    return Object.entries(wanted).every(
      ([key, value]) => key in current && includes((current as Record<string, JsonValue>)[key], value as JsonValue),
    );
  }
  return current === wanted;
}

export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return canonical(a) === canonical(b);
}

/** JSON with sorted keys: equal for equal values. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
