import { type Duration, parseDuration } from "../clock/duration.js";
import { jitter, type Random } from "../clock/random.js";

/** How delays grow with each failure; the same shape for all retries. */
export interface BackoffOptions {
  /** The delay after the first failure. */
  readonly initial?: Duration;
  /** The longest delay. */
  readonly max?: Duration;
  /** The factor of each further failure. Defaults to 2. */
  readonly factor?: number;
  /** Lengthens each delay by a random fraction up to this factor; never beyond `max`. Defaults to 0.2. */
  readonly jitter?: number;
}

/**
 * Counts the failures of each key and computes the next delay: from 5 ms to 1000 s by default, as in client-go. Only
 * failing keys use memory.
 */
export class Backoff {
  readonly #random: Random;
  readonly #initialMs: number;
  readonly #factor: number;
  readonly #maxMs: number;
  readonly #jitter: number;
  readonly #failures = new Map<string, number>();

  constructor(random: Random, options: BackoffOptions = {}) {
    this.#random = random;
    this.#initialMs = parseDuration(options.initial ?? 5, "backoff.initial");
    this.#factor = options.factor ?? 2;
    this.#maxMs = parseDuration(options.max ?? "1000s", "backoff.max");
    this.#jitter = options.jitter ?? 0.2;
  }

  /** How often the key has failed since it was forgotten. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Counts a failure and returns the delay after it. */
  fail(key: string): number {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    return this.delayAfter(failures);
  }

  /** The delay after a failure that follows `failures` others. */
  delayAfter(failures: number): number {
    const delayMs = Math.min(this.#initialMs * this.#factor ** failures, this.#maxMs);
    return this.#jitter === 0 ? delayMs : Math.min(jitter(this.#random, delayMs, this.#jitter), this.#maxMs);
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
