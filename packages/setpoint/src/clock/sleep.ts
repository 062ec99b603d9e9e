import type { Clock } from "./clock.js";

/** Implements `Clock.sleep` with `Clock.timer`, for all clocks. */
export function sleepWith(clock: Pick<Clock, "timer">, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer[Symbol.dispose]();
      reject(signal?.reason);
    };
    const timer = clock.timer(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
