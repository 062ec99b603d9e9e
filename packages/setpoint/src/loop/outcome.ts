import { type Duration, parseDuration } from "../clock/duration.js";

/**
 * What a run says of its object. Errors are no outcome of their own: a thrown one becomes a `retry`.
 *
 * - `done`: the world is as it should be, until something changes.
 * - `requeueAfter`: look again after a while, unless a run comes earlier: then the outcome of that one holds.
 * - `waitFor`: something outside is not there yet. Wakes when the object or anything that was read changes, and on a
 *   safety recheck; shows as a condition.
 * - `retry`: it failed; look again after the key's back-off, or after `afterMs`.
 * - `terminal`: trying again will not help until the object or something that was read changes.
 */
export type Outcome =
  | { readonly type: "done" }
  | { readonly type: "requeueAfter"; readonly afterMs: number }
  | { readonly type: "waitFor"; readonly reason: string; readonly message: string; readonly recheckMs: number }
  | { readonly type: "retry"; readonly error: unknown; readonly afterMs?: number }
  | { readonly type: "terminal"; readonly error: unknown };

/** How long a wait lasts before its safety recheck, unless it says otherwise. */
const DEFAULT_RECHECK: Duration = "5m";

const TYPES: readonly unknown[] = ["done", "requeueAfter", "waitFor", "retry", "terminal"] satisfies Outcome["type"][];

/** The world is as it should be: nothing is left to do until something changes. */
export function done(): Outcome {
  return { type: "done" };
}

/** Runs again after this time, unless a run comes earlier: its outcome then holds. Throws `DURATION_INVALID`. */
export function requeueAfter(after: Duration): Outcome {
  return { type: "requeueAfter", afterMs: parseDuration(after, "requeueAfter") };
}

/** `reason` is one word in CamelCase that says what is waited for: `DatabaseReady`. */
export function waitFor(reason: string, options: { message?: string; recheck?: Duration } = {}): Outcome {
  const recheckMs = parseDuration(options.recheck ?? DEFAULT_RECHECK, "recheck");
  return { type: "waitFor", reason, message: options.message ?? "", recheckMs };
}

/** It failed: looks again after the key's back-off, or after the time given. */
export function retry(error: unknown, options: { after?: Duration } = {}): Outcome {
  const { after } = options;
  return { type: "retry", error, ...(after === undefined ? {} : { afterMs: parseDuration(after, "after") }) };
}

/** It failed, and trying again will not help until the object, or something that was read, changes. */
export function terminal(error: unknown): Outcome {
  return { type: "terminal", error };
}

/** Outcomes may be thrown from deep inside a reconciler as well as returned: this tells them from errors. */
export function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "type" in value && TYPES.includes(value.type);
}

/** Why an outcome that was written by hand cannot be kept to; undefined for what the functions above give. */
export function outcomeProblem(outcome: Outcome): string | undefined {
  const delay = outcome.type === "waitFor" ? "recheckMs" : "afterMs";
  const { [delay]: givenMs } = outcome as Outcome & { readonly [field in typeof delay]?: unknown };
  if (givenMs === undefined && (outcome.type === "retry" || outcome.type === "done" || outcome.type === "terminal"))
    return undefined;
  if (typeof givenMs === "number" && Number.isFinite(givenMs) && givenMs >= 0) return undefined;
  return `${outcome.type} with ${delay} ${shown(givenMs)}, which is not a time in milliseconds`;
}

/** A value as messages show it: short, whatever it is. */
export function shown(value: unknown): string {
  const text = typeof value === "object" && value !== null ? safeJson(value) : String(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function safeJson(value: object): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value); // it contains itself, or a bigint
  }
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : shown(error);
}
