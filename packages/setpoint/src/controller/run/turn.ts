import type { Clock } from "../../clock/clock.js";
import { afterInput } from "../../clock/system-clock.js";

/** How long workers go from key to key before the event loop has its turn. */
const TURN_MS = 10;

/**
 * Sees to it that the event loop turns. Runs that wait for nothing follow each other without a break, and meanwhile no
 * timer fires, no answer is read and no signal of the process is heard. The workers of one controller share one.
 */
export class Turn {
  readonly #clock: Pick<Clock, "monotonic">;
  #endMs = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Whether the loop may have stood still for so long that others should have it. */
  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endMs;
  }

  /** Lets the event loop turn once. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => afterInput(resolve));
    this.#endMs = this.#clock.monotonic() + TURN_MS;
  }
}
