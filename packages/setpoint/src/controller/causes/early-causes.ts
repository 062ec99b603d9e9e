import type { Cause } from "./cause.js";

/** The causes of a key that runs early, without requeues and rechecks that are not due yet. */
export function withoutTimers(causes: readonly Cause[]): readonly Cause[] | undefined {
  const left = causes.filter(({ type }) => type !== "requeue" && type !== "recheck");
  return left.length > 0 ? left : undefined;
}
