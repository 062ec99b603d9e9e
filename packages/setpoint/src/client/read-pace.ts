import type { Timer } from "../clock/clock.js";
import { afterInput, systemClock } from "../clock/system-clock.js";

/** A response that has brought more than this is a large one. */
const LARGE_BYTES = 64 * 1024;
const REST_MS = 5;

/** What is read from. */
export interface PacedSource {
  pause(): unknown;
  resume(): unknown;
}

/**
 * When a connection reads. A server sends a large list in pieces of a few kilobytes, and to be woken for each costs more
 * than the piece itself: half of a cold sync's time. So in a large response each reading is followed by a short rest, in
 * which pieces gather in the kernel's buffer. What comes after a silence is read at once, and small responses always are.
 *
 * The rest is of the kernel's time, whatever clock the program runs on.
 */
export class ReadPace implements Disposable {
  readonly #source: PacedSource;
  /** Of the present response. */
  #bytes = 0;
  /** The response's reader asked for no more yet. */
  #isHeld = false;
  #isTiring = false;
  #rest: Timer | undefined;
  #isOver = false;

  constructor(source: PacedSource) {
    this.#source = source;
  }

  /** A response ended, or none has begun: whatever comes is read at once. */
  reset(): void {
    this.#bytes = 0;
    this.#wake();
    this.release();
  }

  read(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= LARGE_BYTES || this.#isTiring || this.#rest) return;
    this.#isTiring = true;
    afterInput(() => this.#fallAsleep());
  }

  hold(): void {
    this.#isHeld = true;
    if (!this.#rest) this.#source.pause();
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (!this.#rest) this.#source.resume();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#rest?.[Symbol.dispose]();
  }

  #fallAsleep(): void {
    this.#isTiring = false;
    if (this.#isOver || this.#bytes <= LARGE_BYTES) return;
    if (!this.#isHeld) this.#source.pause();
    this.#rest = systemClock.timer(REST_MS, () => this.#wake());
  }

  #wake(): void {
    if (!this.#rest) return;
    this.#rest[Symbol.dispose]();
    this.#rest = undefined;
    if (!this.#isHeld) this.#source.resume();
  }
}
