import type { Clock, Timer } from "../clock/clock.js";
import { sleepWith } from "../clock/sleep.js";

/** The clock of a process that may crash: what it waits for then never comes. */
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

  /** No timer of its fires from now on. */
  die(): void {
    this.#isDead = true;
  }
}
