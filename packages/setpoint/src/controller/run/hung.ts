import type { Clock } from "../../clock/clock.js";

/** How long user code may take to end once its signal is aborted, before it counts as hung. */
const HUNG_AFTER_MS = 10_000;

/** Resolves to false when the work settles, or to true if it is still running long after its signal was aborted. */
export function isHung(work: Promise<unknown>, signal: AbortSignal, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    let timer: Disposable | undefined;
    const onAbort = (): void => {
      timer = clock.timer(HUNG_AFTER_MS, () => resolve(true));
    };
    const onEnd = (): void => {
      timer?.[Symbol.dispose]();
      signal.removeEventListener("abort", onAbort);
      resolve(false);
    };
    void work.then(onEnd, onEnd);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
