import { jitter, type Random } from "../../clock/random.js";
import { Backoff } from "../../loop/backoff.js";

const JITTER = 1;
/** After this long without a failure the next one counts as the first. */
const RESET_AFTER_MS = 120_000;

/** The waits between a reflector's failures: from 0.8 s, doubling to 30 s, each with random jitter up to twice as long. */
export class WatchBackoff {
  readonly #random: Random;
  readonly #growth: Backoff;
  #failures = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(random: Random) {
    this.#random = random;
    // The longest wait is made longer at random, too: else all the reflectors of a fleet would end up in step.
    this.#growth = new Backoff(random, { initial: "0.8s", max: "30s", jitter: 0 });
  }

  next(nowMs: number): number {
    if (nowMs - this.#lastAtMs > RESET_AFTER_MS) this.reset();
    const delayMs = jitter(this.#random, this.#growth.delayAfter(this.#failures++), JITTER);
    this.#lastAtMs = nowMs + delayMs;
    return delayMs;
  }

  reset(): void {
    this.#failures = 0;
  }
}
