import type { Clock, Timer } from "../clock/clock.js";
import { sleepWith } from "../clock/sleep.js";

/** The clock of a process that may crash: its pending waits then never end. */
export class MortalClock implements Clock {
  readonly #clock: Clock;
  #isDead = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  timer(delayMs: number, callback: () => void): Timer {
    return this.#clock.timer(delayMs, () => {
      if (!this.#isDead) callback();
    });
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepWith(this, delayMs, signal);
  }

  /** From now on none of its timers fires. */
  die(): void {
    this.#isDead = true;
  }
}
