import type { Clock, Timer } from "../../clock/clock.js";

/** Calls `onStall` once: after `limitMs` without progress, or after `longestMs` in total. */
export class StallWatch implements Disposable {
  readonly #clock: Clock;
  readonly #longestMs: number;
  readonly #onStall: () => void;
  readonly #startedMs: number;
  #limitMs: number;
  #progressMs: number;
  #timer: Timer;
  #isStalled = false;

  constructor(clock: Clock, limits: { readonly limitMs: number; readonly longestMs?: number }, onStall: () => void) {
    this.#clock = clock;
    this.#limitMs = limits.limitMs;
    this.#longestMs = limits.longestMs ?? Number.POSITIVE_INFINITY;
    this.#onStall = onStall;
    this.#startedMs = this.#progressMs = clock.monotonic();
    this.#timer = clock.timer(this.#limitMs, () => this.#check());
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Reports progress; optionally changes the limit. */
  progress(limitMs: number = this.#limitMs): void {
    this.#progressMs = this.#clock.monotonic();
    this.#limitMs = limitMs;
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #check(): void {
    const dueMs = Math.min(this.#progressMs + this.#limitMs, this.#startedMs + this.#longestMs);
    const leftMs = dueMs - this.#clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#clock.timer(leftMs, () => this.#check());
      return;
    }
    this.#isStalled = true;
    this.#onStall();
  }
}
