import type { KubeObject } from "setpoint";
import { compareQuantities } from "setpoint/quantity";

/**
 * The paths at which `live` differs from `wanted`. Fields that only `live` has are ignored, because the API server sets
 * defaults. Quantities are compared by value.
 */
export function missingFrom(live: unknown, wanted: unknown, path = ""): readonly string[] {
  if (wanted === undefined || Object.is(live, wanted)) return [];
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) {
      return wanted.length === 0 && live === undefined ? [] : [path];
    }
    return wanted.flatMap((each, at) => missingFrom(live[at], each, `${path}[${at}]`));
  }
  if (typeof wanted === "object" && wanted !== null) {
    if (live === undefined && Object.keys(wanted).length === 0) return [];
    if (typeof live !== "object" || live === null) return [path];
    return Object.entries(wanted).flatMap(([key, value]) =>
      missingFrom((live as Record<string, unknown>)[key], value, path === "" ? key : `${path}.${key}`),
    );
  }
  return isSameQuantity(live, wanted) ? [] : [path];
}

/** The paths at which two values differ, in either direction. */
export function differing(before: unknown, after: unknown): readonly string[] {
  return [...new Set([...missingFrom(before, after), ...missingFrom(after, before)])].sort();
}

/** Whether managedFields still list the path under an apply. Does not support elements of lists. */
export function isOwnValue({ metadata }: KubeObject, path: string): boolean {
  const applied = metadata.managedFields?.find(({ operation }) => operation === "Apply")?.fieldsV1;
  const steps = path.split(".").map((step) => `f:${step}`);
  return (
    steps.reduce<unknown>((fields, step) => (fields as Record<string, unknown> | undefined)?.[step], applied) !==
    undefined
  );
}

function isSameQuantity(live: unknown, wanted: unknown): boolean {
  try {
    return compareQuantities(live as string, wanted as string) === 0;
  } catch {
    return false;
  }
}
