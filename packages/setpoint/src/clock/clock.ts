/**
 * The only source of time in Setpoint. Every part that waits, expires or records times takes one, so that everything,
 * including the embedded control plane, also runs under a virtual clock.
 *
 * Guarantees: timers fire in order of their due time (to the millisecond under the system clock), and in order of
 * creation if due times are equal; a disposed timer never fires; `timer` never calls a callback itself.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. May step in either direction: for timestamps, never for durations. */
  now(): number;
  /** Milliseconds since some fixed moment; never steps back. For durations, deadlines and back-off. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs`; for zero or less as soon as possible, but asynchronously. Dispose to cancel. */
  timer(delayMs: number, callback: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface Timer extends Disposable {
  /** Allows the process to exit while the timer is pending. No effect under a virtual clock. */
  unref(): this;
}
