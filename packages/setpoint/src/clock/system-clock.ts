import type { Clock, Timer } from "./clock.js";
import { sleepWith } from "./sleep.js";

/** The longest delay of setTimeout; longer ones would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout;
  #referenced = true;

  constructor(delayMs: number, callback: () => void) {
    this.#handle = this.#start(delayMs, callback);
  }

  #start(delayMs: number, callback: () => void): NodeJS.Timeout {
    if (delayMs <= LONGEST_DELAY_MS) return setTimeout(callback, Math.max(0, delayMs));
    return setTimeout(() => {
      this.#handle = this.#start(delayMs - LONGEST_DELAY_MS, callback);
      if (!this.#referenced) this.#handle.unref();
    }, LONGEST_DELAY_MS);
  }

  unref(): this {
    this.#referenced = false;
    this.#handle.unref();
    return this;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#handle);
  }
}

/** The machine's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (delayMs, callback) => new SystemTimer(delayMs, callback),
  sleep: (delayMs, signal) => sleepWith(systemClock, delayMs, signal),
};

/**
 * Calls back once the input that has arrived is read: at the end of this turn of the event loop. For sockets, which
 * ignore virtual time.
 *
 * ```ts
 * socket.on("data", (chunk) => {
 *   if (chunks.push(chunk) === 1) afterInput(() => handle(chunks.splice(0)));
 * });
 * ```
 */
export function afterInput(callback: () => void): void {
  setImmediate(callback);
}

/** Nanoseconds of a monotonic clock that all threads of a process share. */
export function threadsTimeNs(): bigint {
  return process.hrtime.bigint();
}

/** The wall time at which this process started, in milliseconds since 1970. */
export function processStartMs(): number {
  return performance.timeOrigin;
}
