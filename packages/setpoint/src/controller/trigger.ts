import type { Clock } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import type { Trigger } from "./controller.js";

/** Runs every object of a controller at an interval; for what no watch can show. */
export function every(interval: Duration, clock: Clock): Trigger {
  const intervalMs = parseDuration(interval, "every");
  return {
    name: `every ${typeof interval === "number" ? `${interval}ms` : interval}`,
    start(enqueue, keys, signal) {
      const tick = (): void => {
        for (const key of keys()) enqueue(key);
        schedule();
      };
      const schedule = (): void => {
        const timer = clock.timer(intervalMs, () => {
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
