import { jitter, type Random } from "../../clock/random.js";

const FIRST_MS = 800;
const LONGEST_MS = 30_000;
const JITTER = 1;
/** After this long without a failure the next one counts as the first. */
const RESET_AFTER_MS = 120_000;

/** The waits between a reflector's failures: from 0.8 s doubling to 30 s, each made up to twice as long at random. */
export class WatchBackoff {
  readonly #random: Random;
  #nextMs = FIRST_MS;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(random: Random) {
    this.#random = random;
  }

  next(nowMs: number): number {
    if (nowMs - this.#lastAtMs > RESET_AFTER_MS) this.#nextMs = FIRST_MS;
    const delayMs = jitter(this.#random, this.#nextMs, JITTER);
    this.#lastAtMs = nowMs + delayMs;
    this.#nextMs = Math.min(LONGEST_MS, this.#nextMs * 2);
    return delayMs;
  }

  reset(): void {
    this.#nextMs = FIRST_MS;
  }
}
