import type { Clock, Timer } from "../clock/clock.js";

/** However it progresses, a streamed list that takes longer than so many times its stall limit is given up. */
const LONGEST_STALLS = 20;

/** Aborts a streamed list that stalls: servers and proxies exist that never send the bookmark that ends it. */
export class BookmarkDeadline implements Disposable {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #attempt: AbortController;
  readonly #startedMs: number;
  #progressMs: number;
  #timer: Timer;
  #isExpired = false;

  constructor(clock: Clock, stallMs: number, attempt: AbortController) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.#attempt = attempt;
    this.#startedMs = this.#progressMs = clock.monotonic();
    this.#timer = clock.timer(stallMs, () => this.#check());
  }

  get isExpired(): boolean {
    return this.#isExpired;
  }

  /** Another object of the list came. */
  progress(): void {
    this.#progressMs = this.#clock.monotonic();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #check(): void {
    const dueMs = Math.min(this.#progressMs + this.#stallMs, this.#startedMs + LONGEST_STALLS * this.#stallMs);
    const leftMs = dueMs - this.#clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#clock.timer(leftMs, () => this.#check());
      return;
    }
    this.#isExpired = true;
    this.#attempt.abort();
  }
}
