import { jitter, type Random } from "../clock/random.js";

export interface BackoffOptions {
  /** The delay after the first failure. Defaults to 5 ms, as in client-go. */
  readonly initialMs?: number;
  /** What each further failure multiplies it by. Defaults to 2. */
  readonly factor?: number;
  /** The longest delay. Defaults to 1000 s, as in client-go. */
  readonly maxMs?: number;
  /** Each delay is lengthened by a random part of it, up to this factor; never beyond `maxMs`. Defaults to 0.2. */
  readonly jitter?: number;
}

/** Counts the failures of each key and says how long it waits after the next. Only keys that fail take memory. */
export class Backoff {
  readonly #random: Random;
  readonly #initialMs: number;
  readonly #factor: number;
  readonly #maxMs: number;
  readonly #jitter: number;
  readonly #failures = new Map<string, number>();

  constructor(random: Random, options: BackoffOptions = {}) {
    this.#random = random;
    this.#initialMs = options.initialMs ?? 5;
    this.#factor = options.factor ?? 2;
    this.#maxMs = options.maxMs ?? 1_000_000;
    this.#jitter = options.jitter ?? 0.2;
  }

  /** How often the key failed since it was forgotten. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Counts a failure and gives the delay after it. */
  fail(key: string): number {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    return this.delayAfter(failures);
  }

  /** The delay after a failure that `failures` others went before. */
  delayAfter(failures: number): number {
    const delayMs = Math.min(this.#initialMs * this.#factor ** failures, this.#maxMs);
    return Math.min(jitter(this.#random, delayMs, this.#jitter), this.#maxMs);
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
