import type { Timer } from "../../clock/clock.js";
import { afterInput, systemClock } from "../../clock/system-clock.js";

/** A response with more bytes than this is large. */
const LARGE_BYTES = 64 * 1024;
const REST_MS = 5;
/** This many bytes within one pause are a flood; a list at full speed brings many times that. */
const FLOOD_BYTES = 8 * 1024;

/** The source of the bytes. */
export interface PacedSource {
  pause(): unknown;
  resume(): unknown;
}

/**
 * Decides when a connection reads. A server sends a large list in pieces of a few kilobytes, and waking up for each
 * costs more than the piece itself: half of the time of a cold sync. So while a large response floods in, each read is
 * followed by a short pause, in which pieces gather in the kernel's buffer. Small responses are always read at once. So
 * are the events of a watch, however much it has brought before, because they come a few at a time and somebody waits
 * for them.
 *
 * The pause is real time, whatever clock the program uses.
 */
export class ReadPace implements Disposable {
  readonly #source: PacedSource;
  /** Bytes of the current response. */
  #bytes = 0;
  /** Bytes since `#latelySinceMs`, which is at most one pause ago. */
  #lately = 0;
  #latelySinceMs = 0;
  /** The reader of the response wants no more yet. */
  #isHeld = false;
  #isTiring = false;
  #rest: Timer | undefined;
  #isOver = false;

  constructor(source: PacedSource) {
    this.#source = source;
  }

  /** Between responses: read everything at once. */
  reset(): void {
    this.#bytes = 0;
    this.#wake();
    this.release();
  }

  read(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= LARGE_BYTES || this.#isTiring || this.#rest || !this.#isFlood(bytes)) return;
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

  #isFlood(bytes: number): boolean {
    const nowMs = systemClock.monotonic();
    if (nowMs - this.#latelySinceMs > REST_MS) {
      this.#latelySinceMs = nowMs;
      this.#lately = 0;
    }
    this.#lately += bytes;
    return this.#lately >= FLOOD_BYTES;
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
    this.#latelySinceMs = 0;
    if (!this.#isHeld) this.#source.resume();
  }
}
