import type { Clock, Timer } from "../../clock/clock.js";

interface Deadline {
  readonly dueMs: number;
  /** Makes the abort reason of a run that took too long. */
  readonly reason: () => Error;
}

/**
 * Aborts runs that take too long, and all of them when `signal` is aborted. One timer and one listener for all runs:
 * setting them for each run costs more than the rest of its set-up.
 */
export class Deadlines implements Disposable {
  readonly #clock: Pick<Clock, "monotonic" | "timer">;
  readonly #limitMs: number;
  readonly #signal: AbortSignal;
  /** In order of their start. All have the same limit, so the first is due next. */
  readonly #runs = new Map<AbortController, Deadline>();
  /** Set for the run that was first when the timer was set; not moved when that run ends. */
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
