import { latest } from "../../api/memoized.js";

/**
 * The body of a watch: a queue of bytes that the connection writes. It drops nothing; the storage ends a watch that
 * reads too slowly, by {@link backlogBytes}.
 */
export class WatchStream implements AsyncIterable<Uint8Array> {
  #queued: Uint8Array[] = [];
  #queuedBytes = 0;
  #isEnded = false;
  #waiting: (() => void) | undefined;
  readonly #release: () => void;

  /** The stream calls `release` once, when it ends or its reader leaves. */
  constructor(release: () => void) {
    this.#release = release;
  }

  get backlogBytes(): number {
    return this.#queuedBytes;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(...pieces: readonly Uint8Array[]): void {
    if (this.#isEnded) return;
    for (const piece of pieces) {
      this.#queued.push(piece);
      this.#queuedBytes += piece.byteLength;
    }
    this.#wake();
  }

  /** Ends the body after everything queued is read. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#release();
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        while (this.#queued.length === 0) {
          if (this.#isEnded) return { done: true, value: undefined };
          await new Promise<void>((resolve) => {
            this.#waiting = resolve;
          });
        }
        return { done: false, value: this.#take() };
      },
      return: async () => {
        this.#queued = [];
        this.#queuedBytes = 0;
        this.end();
        return { done: true, value: undefined };
      },
    };
  }

  /** Takes everything queued, so that many events of one tick cost one write. */
  #take(): Uint8Array {
    const taken = this.#queued.length === 1 ? this.#queued[0]! : joined(this.#queued, this.#queuedBytes);
    this.#queued = [];
    this.#queuedBytes = 0;
    return taken;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}

/** More pieces than this cannot be a single event. */
const MAX_SHARED_PIECES = 8;

/** Many watchers may take the same event one after the other; they share its bytes. */
const sharedBytes = latest(
  (pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces),
  (a, b) => a.length === b.length && a.every((piece, at) => piece === b[at]),
);

function joined(pieces: readonly Uint8Array[], byteLength: number): Uint8Array {
  return pieces.length > MAX_SHARED_PIECES ? Buffer.concat(pieces, byteLength) : sharedBytes(pieces);
}
