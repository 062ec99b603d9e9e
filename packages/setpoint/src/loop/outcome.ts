import { type Duration, parseDuration } from "../clock/duration.js";

/**
 * The outcome of a run. Errors are not outcomes: a thrown one becomes a `retry`.
 *
 * - `done`: the world is as desired, until something changes.
 * - `requeueAfter`: run again after a delay. If a run comes earlier, its outcome applies instead.
 * - `waitFor`: something outside is missing. Runs again when the object or anything that was read changes, and on a
 *   safety recheck; shows as a condition.
 * - `retry`: it failed; run again after the key's back-off, or after `afterMs`.
 * - `terminal`: a retry will not help until the object or something that was read changes.
 */
export type Outcome =
  | { readonly type: "done" }
  | { readonly type: "requeueAfter"; readonly afterMs: number }
  | { readonly type: "waitFor"; readonly reason: string; readonly message: string; readonly recheckMs: number }
  | { readonly type: "retry"; readonly error: unknown; readonly afterMs?: number }
  | { readonly type: "terminal"; readonly error: unknown };

/** The default safety recheck of a wait. */
const DEFAULT_RECHECK: Duration = "5m";

const TYPES: readonly unknown[] = ["done", "requeueAfter", "waitFor", "retry", "terminal"] satisfies Outcome["type"][];

/** The world is as desired: nothing to do until something changes. */
export function done(): Outcome {
  return { type: "done" };
}

/** Runs again after this delay. If a run comes earlier, its outcome applies instead. Throws `DURATION_INVALID`. */
export function requeueAfter(after: Duration): Outcome {
  return { type: "requeueAfter", afterMs: parseDuration(after, "requeueAfter") };
}

/** `reason` is one word in CamelCase for what the run waits for: `DatabaseReady`. */
export function waitFor(reason: string, options: { message?: string; recheck?: Duration } = {}): Outcome {
  const recheckMs = parseDuration(options.recheck ?? DEFAULT_RECHECK, "recheck");
  return { type: "waitFor", reason, message: options.message ?? "", recheckMs };
}

/** It failed: runs again after the key's back-off, or after the given delay. */
export function retry(error: unknown, options: { after?: Duration } = {}): Outcome {
  const { after } = options;
  return { type: "retry", error, ...(after === undefined ? {} : { afterMs: parseDuration(after, "after") }) };
}

/** It failed, and a retry will not help until the object, or something that was read, changes. */
export function terminal(error: unknown): Outcome {
  return { type: "terminal", error };
}

/** Tells outcomes from errors: code deep inside a reconciler may throw an outcome instead of returning it. */
export function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "type" in value && TYPES.includes(value.type);
}

/** Why a hand-written outcome is invalid; undefined for results of the functions above. */
export function outcomeProblem(outcome: Outcome): string | undefined {
  const delay = outcome.type === "waitFor" ? "recheckMs" : "afterMs";
  const { [delay]: givenMs } = outcome as Outcome & { readonly [field in typeof delay]?: unknown };
  if (givenMs === undefined && (outcome.type === "retry" || outcome.type === "done" || outcome.type === "terminal"))
    return undefined;
  if (typeof givenMs === "number" && Number.isFinite(givenMs) && givenMs >= 0) return undefined;
  return `${outcome.type} with ${delay} ${shown(givenMs)}, which is not a time in milliseconds`;
}

/** A value for messages: short, whatever it is. */
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

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : shown(error);
}
