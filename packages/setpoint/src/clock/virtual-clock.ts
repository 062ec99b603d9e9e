import { SetpointError } from "../errors/error.js";
import type { Clock, Timer } from "./clock.js";
import { Heap, type HeapEntry } from "./heap.js";
import { sleepWith } from "./sleep.js";

interface PendingTimer extends HeapEntry {
  readonly dueMs: number;
  /** Breaks ties between equal due times: timers fire in the order of creation. */
  readonly sequence: number;
  readonly callback: () => void;
}

/** How many turns of the event loop without a new or fired timer count as quiet. */
const QUIET_TURNS = 8;
/** After this many turns without quiet, something keeps setting timers that are due at once. */
const MAX_TURNS = 1_000_000;

/**
 * A clock that moves only on request. Work that does not wait for the outside world (in-process transport, memory
 * storage) completes between two steps, so that a test of hours takes milliseconds and is deterministic.
 */
export class VirtualClock implements Clock {
  #wallMs: number;
  #elapsedMs = 0;
  #sequence = 0;
  readonly #pending = new Heap<PendingTimer>(
    (left, right) => left.dueMs < right.dueMs || (left.dueMs === right.dueMs && left.sequence < right.sequence),
  );

  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#wallMs = startMs;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  timer(delayMs: number, callback: () => void): Timer {
    const dueMs = this.#elapsedMs + Math.max(0, delayMs);
    const entry: PendingTimer = { dueMs, sequence: this.#sequence++, callback, position: -1 };
    this.#pending.push(entry);
    const timer: Timer = {
      unref: () => timer,
      [Symbol.dispose]: () => void this.#pending.remove(entry),
    };
    return timer;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepWith(this, delayMs, signal);
  }

  /** How many timers are pending. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** When the next timer is due, in milliseconds from now; undefined if none is pending. */
  get nextDueInMs(): number | undefined {
    const next = this.#pending.peek();
    return next && next.dueMs - this.#elapsedMs;
  }

  /** Moves only the wall clock, as an administrator or NTP would. Timers and durations are not affected. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** Advances time by `durationMs`, fires each timer at its due time and lets its consequences complete. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#elapsedMs + durationMs;
    await this.settle();
    for (let next = this.#pending.peek(); next && next.dueMs <= endMs; next = this.#pending.peek()) {
      this.#moveTo(next.dueMs);
      this.#pending.pop();
      next.callback();
      await this.settle();
    }
    this.#moveTo(endMs);
  }

  /**
   * Runs everything that needs no time to pass, including timers that are due now. Throws `CLOCK_RUNAWAY` if timers
   * that are due at once never stop.
   */
  async settle(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; quiet++, turns++) {
      if (turns > MAX_TURNS)
        throw new SetpointError(
          "CLOCK_RUNAWAY",
          `timers due at ${this.#elapsedMs} ms keep setting new ones that are due at once`,
        );
      const before = this.#sequence;
      await new Promise<void>((resolve) => setImmediate(resolve));
      const due = this.#pending.peek();
      if (due && due.dueMs <= this.#elapsedMs) {
        this.#pending.pop();
        due.callback();
        quiet = -1;
      } else if (this.#sequence !== before) {
        quiet = -1;
      }
    }
  }

  #moveTo(elapsedMs: number): void {
    this.#wallMs += elapsedMs - this.#elapsedMs;
    this.#elapsedMs = elapsedMs;
  }
}
