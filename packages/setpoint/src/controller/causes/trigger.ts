import type { Clock } from "../../clock/clock.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import { SetpointError } from "../../errors/error.js";
import type { Trigger } from "../controller.js";

/**
 * Runs every object of a controller at an interval, for changes that no watch shows. Throws `DURATION_INVALID` for an
 * invalid interval, or one of 0.
 *
 * ```ts
 * controller(Website, { triggers: [every("10m")], reconcile });
 * ```
 */
export function every(interval: Duration, clock?: Clock): Trigger {
  const intervalMs = parseDuration(interval, "every");
  if (intervalMs === 0) throw new SetpointError("DURATION_INVALID", "every: the interval must be above 0");
  return {
    name: `every ${typeof interval === "number" ? `${interval}ms` : interval}`,
    start({ enqueue, keys, signal, clock: own }) {
      const tick = (): void => {
        for (const key of keys()) enqueue(key);
        schedule();
      };
      const schedule = (): void => {
        const timer = (clock ?? own).timer(intervalMs, () => {
          signal.removeEventListener("abort", stop);
          tick();
        });
        const stop = (): void => timer[Symbol.dispose]();
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      };
      schedule();
    },
  };
}
