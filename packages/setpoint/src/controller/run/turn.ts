import type { Clock } from "../../clock/clock.js";
import { afterInput } from "../../clock/system-clock.js";

/** How long workers go from key to key before they yield to the event loop. */
const TURN_MS = 10;

/**
 * Makes workers yield to the event loop. Runs without waits follow each other immediately; meanwhile no timer fires, no
 * response is read and no process signal is handled. The workers of one controller share one.
 */
export class Turn {
  readonly #clock: Pick<Clock, "monotonic">;
  #endMs = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Whether the workers should yield. */
  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endMs;
  }

  /** Yields to the event loop once. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => afterInput(resolve));
    this.#endMs = this.#clock.monotonic() + TURN_MS;
  }
}
