/** Pauses, resumes or cancels the source of a body. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** The reader left before the end of the body. */
  cancel(): void;
}

/** How many bytes to queue before the source is paused; large enough that a fast source rarely stops. */
const HIGH_WATER_BYTES = 1024 * 1024;

interface Consumer {
  onChunk(chunk: Uint8Array): void;
  resolve(): void;
  reject(error: unknown): void;
}

interface Waiter {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: unknown): void;
}

/**
 * Connects the socket that pushes a body with the one reader that pulls it; bounded. The reader gets what was pushed
 * before an error; an abort takes effect at once.
 */
export class BodyQueue implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: BodySource;
  #chunks: Uint8Array[] = [];
  #next = 0;
  #bytes = 0;
  #paused = false;
  #waiter: Waiter | undefined;
  #consumer: Consumer | undefined;
  #outcome: { readonly error?: unknown } | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** True once nothing more will be pushed. */
  get isEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** The unread chunks, if the body has ended without an error; otherwise undefined. */
  takeWhole(): readonly Uint8Array[] | undefined {
    if (!this.#outcome || this.#outcome.error !== undefined) return undefined;
    const chunks = this.#next === 0 ? this.#chunks : this.#chunks.slice(this.#next);
    this.#drop();
    return chunks;
  }

  /** Returns whether the chunk is still needed: if not, its memory may be reused. */
  push(chunk: Uint8Array): boolean {
    if (this.#outcome) return false;
    if (this.#consumer) {
      this.#feed(this.#consumer, chunk);
      return false;
    }
    if (this.#waiter) {
      const waiter = this.#waiter;
      this.#waiter = undefined;
      waiter.resolve({ done: false, value: chunk });
      return true;
    }
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > HIGH_WATER_BYTES && !this.#paused) {
      this.#paused = true;
      this.#source.pause();
    }
    return true;
  }

  /**
   * Reads the body to its end instead of iterating: calls `onChunk` with each chunk, which is valid only during the
   * call. If `onChunk` throws, closes the body and rejects with that error.
   */
  consume(onChunk: (chunk: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const consumer = { onChunk, resolve, reject };
      for (let chunk = this.#chunks[this.#next]; chunk; chunk = this.#chunks[this.#next]) {
        this.#feed(consumer, this.#take(chunk));
      }
      this.#consumer = consumer;
      const outcome = this.#outcome;
      this.#outcome = undefined;
      if (outcome) this.#settle(outcome);
    });
  }

  end(): void {
    this.#settle({});
  }

  fail(error: unknown): void {
    this.#settle({ error });
  }

  /** As {@link fail}, but drops unread chunks. */
  abort(error: unknown): void {
    this.#drop();
    this.#outcome = undefined;
    this.#settle({ error });
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const chunk = this.#chunks[this.#next];
    if (chunk) return Promise.resolve({ done: false, value: this.#take(chunk) });
    if (!this.#outcome) return new Promise((resolve, reject) => (this.#waiter = { resolve, reject }));
    const { error } = this.#outcome;
    this.#outcome = {};
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const wasEnded = this.isEnded;
    this.#drop();
    this.#settle({});
    this.#outcome = {};
    if (!wasEnded) this.#source.cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #feed(consumer: Consumer, chunk: Uint8Array): void {
    try {
      consumer.onChunk(chunk);
    } catch (error) {
      consumer.reject(error);
      this.#consumer = undefined;
      void this.return();
    }
  }

  #take(chunk: Uint8Array): Uint8Array {
    this.#bytes -= chunk.length;
    if (++this.#next === this.#chunks.length) {
      this.#chunks = [];
      this.#next = 0;
      if (this.#paused) {
        this.#paused = false;
        this.#source.resume();
      }
    }
    return chunk;
  }

  #drop(): void {
    this.#chunks = [];
    this.#next = 0;
    this.#bytes = 0;
  }

  #settle(outcome: { readonly error?: unknown }): void {
    if (this.#outcome) return;
    if (this.#consumer) {
      const { resolve, reject } = this.#consumer;
      this.#consumer = undefined;
      this.#outcome = {};
      if (outcome.error === undefined) resolve();
      else reject(outcome.error);
      return;
    }
    const waiter = this.#waiter;
    if (!waiter) {
      this.#outcome = outcome;
      return;
    }
    this.#waiter = undefined;
    this.#outcome = {};
    if (outcome.error === undefined) waiter.resolve({ done: true, value: undefined });
    else waiter.reject(outcome.error);
  }
}
