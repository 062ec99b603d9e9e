import { SetpointError } from "../errors/error.js";

/** A duration as options take it: `"10s"`, `"1.5h"`, `"500ms"`, or a number of milliseconds. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h"}`;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * A duration in milliseconds. Throws `DURATION_INVALID` for an invalid, negative or infinite one; the message names the
 * option `name`.
 */
export function parseDuration(duration: Duration, name = "duration"): number {
  const match = typeof duration === "number" ? undefined : /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(duration);
  const durationMs =
    typeof duration === "number" ? duration : match ? Number(match[1]) * UNIT_MS[match[2]!]! : Number.NaN;
  if (Number.isFinite(durationMs) && durationMs >= 0) return durationMs;
  const given = JSON.stringify(duration) ?? String(duration);
  throw new SetpointError(
    "DURATION_INVALID",
    `${name}: ${given} is not a duration; give "10s", "500ms" or milliseconds`,
  );
}
