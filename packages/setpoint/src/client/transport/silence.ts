import type { Clock, Timer } from "../../clock/clock.js";
import { transportError } from "./transport-error.js";

/**
 * The same body, but it rejects with `TRANSPORT_TIMEOUT` if its reader waits for `limitMs` without a byte: the stream
 * is half open, or a proxy lost its other side. Time without a pending read does not count.
 */
export function withSilenceLimit(
  body: AsyncIterable<Uint8Array>,
  clock: Clock,
  limitMs: number,
): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => new WatchedBody(body[Symbol.asyncIterator](), clock, limitMs) };
}

class WatchedBody implements AsyncIterator<Uint8Array, undefined> {
  readonly #inner: AsyncIterator<Uint8Array>;
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** When the pending read began; undefined without one. */
  #waitingSinceMs: number | undefined;
  #fail: ((error: Error) => void) | undefined;
  /** One timer for many reads: a read only records its time. */
  #timer: Timer | undefined;

  constructor(inner: AsyncIterator<Uint8Array>, clock: Clock, limitMs: number) {
    this.#inner = inner;
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#waitingSinceMs = this.#clock.monotonic();
    this.#timer ??= this.#clock.timer(this.#limitMs, () => this.#check());
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#inner.next().then(
        (result) => {
          this.#waitingSinceMs = undefined;
          if (result.done) this.#stop();
          resolve(result as IteratorResult<Uint8Array, undefined>);
        },
        (error: unknown) => {
          this.#stop();
          reject(error);
        },
      );
    });
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#stop();
    await this.#inner.return?.();
    return { done: true, value: undefined };
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#waitingSinceMs === undefined) return;
    const leftMs = this.#waitingSinceMs + this.#limitMs - this.#clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#clock.timer(leftMs, () => this.#check());
      return;
    }
    this.#fail?.(transportError("TRANSPORT_TIMEOUT", `the server sent nothing for ${this.#limitMs / 1000} s`));
    void this.#inner.return?.();
  }

  #stop(): void {
    this.#waitingSinceMs = undefined;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}
