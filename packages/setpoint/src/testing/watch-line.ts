import type { Clock } from "../clock/clock.js";

/** The body of a watch of an operator under test: it can be cut, and delayed. */
export class WatchLine implements AsyncIterable<Uint8Array> {
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #clock: Clock;
  readonly #lagMs: () => number;
  readonly #onEnd: () => void;
  /** What has arrived, and when the reader may see it. */
  readonly #arrived: { readonly chunk: Uint8Array; readonly dueMs: number }[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #isSilent = false;

  constructor(body: AsyncIterable<Uint8Array>, clock: Clock, lagMs: () => number, onEnd: () => void) {
    this.#body = body;
    this.#clock = clock;
    this.#lagMs = lagMs;
    this.#onEnd = onEnd;
    void this.#read();
  }

  /** Breaks the line: what the reader has not seen yet is lost. */
  cut(error: Error): void {
    this.#arrived.length = 0;
    this.#finish({ error });
  }

  /** Sends nothing more, not even an end: the reader is gone. */
  fallSilent(): void {
    this.#isSilent = true;
    this.#arrived.length = 0;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const next = this.#arrived[0];
        if (!next && !this.#end) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        } else if (!next) {
          if (this.#end?.error !== undefined) throw this.#end.error;
          return;
        } else if (next.dueMs > this.#clock.monotonic()) {
          await this.#clock.sleep(next.dueMs - this.#clock.monotonic());
        } else {
          this.#arrived.shift();
          yield next.chunk;
        }
      }
    } finally {
      this.#finish({});
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const chunk of this.#body) {
        if (this.#end || this.#isSilent) return;
        this.#arrived.push({ chunk: Uint8Array.from(chunk), dueMs: this.#clock.monotonic() + this.#lagMs() });
        this.#wake?.();
      }
      this.#finish({});
    } catch (error) {
      this.#finish({ error });
    }
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#isSilent) return;
    this.#end ??= end;
    this.#wake?.();
    this.#onEnd();
  }
}
