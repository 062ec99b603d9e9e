/**
 * The only source of time in Setpoint. Every part that waits, expires or stamps takes one, so that all of it, the
 * embedded control plane included, also runs under a virtual clock.
 *
 * Guarantees: timers fire in order of their due time (to the millisecond under the system's clock), and in order of
 * their making where due times are equal; a disposed timer never fires; a callback is never called from within `timer`
 * itself.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. May step in either direction: for stamps, never for durations. */
  now(): number;
  /** Milliseconds since some fixed moment; never steps back. For durations, deadlines and back-off. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs` (at once, but asynchronously, for zero or less). Dispose to cancel. */
  timer(delayMs: number, callback: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface Timer extends Disposable {
  /** Lets the process end although the timer is pending. No effect under a virtual clock. */
  unref(): this;
}
