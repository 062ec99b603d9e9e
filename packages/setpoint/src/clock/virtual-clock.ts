import type { Clock, Timer } from "./clock.js";
import { sleepWith } from "./sleep.js";

interface PendingTimer {
  readonly dueMs: number;
  /** Breaks ties between equal due times: timers fire in the order of their making. */
  readonly sequence: number;
  readonly callback: () => void;
}

/** How many turns of the event loop without a new or fired timer count as quiet. */
const QUIET_TURNS = 8;

/**
 * Time that moves only when told. Work that does not wait for the outside world (in-process transport, memory
 * storage) runs to its end between two steps, so that a test of hours takes milliseconds and always goes alike.
 */
export class VirtualClock implements Clock {
  #wallMs: number;
  #elapsedMs = 0;
  #sequence = 0;
  /** Pending timers in firing order. */
  readonly #pending: PendingTimer[] = [];

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
    const entry: PendingTimer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), sequence: this.#sequence++, callback };
    this.#pending.splice(this.#positionOf(entry), 0, entry);
    const timer: Timer = {
      unref: () => timer,
      [Symbol.dispose]: () => {
        const at = this.#pending.indexOf(entry, this.#positionOf(entry));
        if (at >= 0) this.#pending.splice(at, 1);
      },
    };
    return timer;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepWith(this, delayMs, signal);
  }

  /** How many timers wait. */
  get pendingTimers(): number {
    return this.#pending.length;
  }

  /** When the next timer is due, in milliseconds from now; undefined if none waits. */
  get nextDueInMs(): number | undefined {
    const next = this.#pending[0];
    return next && next.dueMs - this.#elapsedMs;
  }

  /** Moves the wall clock alone, as an administrator or NTP would. Timers and durations do not notice. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** Moves time on by `durationMs`, firing each timer at its moment and letting its consequences run to their end. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#elapsedMs + durationMs;
    await this.settle();
    for (let next = this.#pending[0]; next && next.dueMs <= endMs; next = this.#pending[0]) {
      this.#moveTo(next.dueMs);
      this.#pending.shift();
      next.callback();
      await this.settle();
    }
    this.#moveTo(endMs);
  }

  /** Lets everything run that needs no time to pass, timers due now included. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      const before = this.#sequence;
      await new Promise<void>((resolve) => setImmediate(resolve));
      const due = this.#pending[0];
      if (due && due.dueMs <= this.#elapsedMs) {
        this.#pending.shift();
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

  /** Where `entry` belongs among the pending timers, by binary search. */
  #positionOf(entry: PendingTimer): number {
    let low = 0;
    let high = this.#pending.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#pending[middle]!;
      const isBefore = other.dueMs < entry.dueMs || (other.dueMs === entry.dueMs && other.sequence < entry.sequence);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
