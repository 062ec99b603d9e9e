/** Writers wait above this size. */
const ROOMY_BYTES = 2 ** 18;

/** Bytes from one who has them to one who wants them, in order. For one reader. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isEnded = false;
  #onChange: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  push(bytes: Uint8Array): void {
    if (this.#isEnded || bytes.byteLength === 0) return;
    this.#chunks.push(bytes);
    this.#bytes += bytes.byteLength;
    this.#onChange?.();
  }

  /** No more come. What is there can still be read. */
  end(): void {
    this.#isEnded = true;
    this.#onChange?.();
    this.#onRoom?.();
  }

  /** Resolves when more may be pushed. */
  async room(): Promise<void> {
    if (this.#bytes <= ROOMY_BYTES || this.#isEnded) return;
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const chunks = this.#chunks;
      this.#chunks = [];
      this.#bytes = 0;
      this.#onRoom?.();
      yield* chunks;
      if (this.#chunks.length > 0) continue;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }
}
