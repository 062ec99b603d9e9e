import { afterInput } from "setpoint/clock";

/** Bodies of this many bytes and more are worked on one after the other. */
export const HEAVY_BYTES = 128 * 1024;

/**
 * Large bodies, one for each turn of the event loop: decoding one takes tens of milliseconds, and small requests are not
 * to wait for more than one of them.
 */
export class HeavyLane {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is this body's turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) afterInput(this.#next);
    });
  }

  readonly #next = (): void => {
    this.#waiting.shift()!();
    if (this.#waiting.length > 0) afterInput(this.#next);
  };
}
