/** Writers wait while the queue is larger than this. */
const ROOMY_BYTES = 2 ** 18;

/** An ordered byte queue for one reader. */
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

  /** Ends the queue. Queued bytes can still be read. */
  end(): void {
    this.#isEnded = true;
    this.#onChange?.();
    this.#onRoom?.();
  }

  /** Resolves when there is room for more. */
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
