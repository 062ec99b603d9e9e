import type { Clock, Timer } from "../../clock/clock.js";

interface Deadline {
  readonly dueMs: number;
  /** Makes the reason of a run that took too long. */
  readonly reason: () => Error;
}

/**
 * Aborts runs that take too long, and all of them when `signal` is aborted. One timer and one listener for all: to set
 * them for each run takes longer than all else that a run needs before it begins.
 */
export class Deadlines implements Disposable {
  readonly #clock: Pick<Clock, "monotonic" | "timer">;
  readonly #limitMs: number;
  readonly #signal: AbortSignal;
  /** In the order of their beginning. All have the same limit, so that the first is the next to be due. */
  readonly #runs = new Map<AbortController, Deadline>();
  /** Set for the run that was the first when it was last due: it is not moved when that one ends. */
  #timer: Timer | undefined;

  constructor(clock: Pick<Clock, "monotonic" | "timer">, limitMs: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#signal = signal;
    signal.addEventListener("abort", this.#abortAll, { once: true });
  }

  begin(run: AbortController, reason: () => Error): void {
    if (this.#signal.aborted) {
      run.abort(this.#signal.reason);
      return;
    }
    this.#runs.set(run, { dueMs: this.#clock.monotonic() + this.#limitMs, reason });
    if (!this.#timer) this.#arm(this.#limitMs);
  }

  end(run: AbortController): void {
    this.#runs.delete(run);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#runs.clear();
    this.#signal.removeEventListener("abort", this.#abortAll);
  }

  readonly #abortAll = (): void => {
    for (const run of [...this.#runs.keys()]) run.abort(this.#signal.reason);
    this.#runs.clear();
  };

  #arm(delayMs: number): void {
    this.#timer = this.#clock.timer(delayMs, () => this.#onTime()).unref();
  }

  #onTime(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonic();
    for (const [run, { dueMs, reason }] of this.#runs) {
      if (dueMs > nowMs) {
        this.#arm(dueMs - nowMs);
        return;
      }
      this.#runs.delete(run);
      run.abort(reason());
    }
  }
}
