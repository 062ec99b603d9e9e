import type { Cause } from "./cause.js";

/** The causes of a key that runs before its time: a requeue or a recheck that was not due yet is none. */
export function withoutTimers(causes: readonly Cause[]): readonly Cause[] | undefined {
  const left = causes.filter(({ type }) => type !== "requeue" && type !== "recheck");
  return left.length > 0 ? left : undefined;
}
