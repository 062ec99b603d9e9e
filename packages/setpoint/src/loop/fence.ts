/** Says whether this process may still write: it holds the lease, or needs none. */
export interface Fence {
  /**
   * Throws a `SetpointError` once the lease is lost. Called right before every write and effect. `lost` is aborted by
   * then: a process that was stopped for longer than its lease learns of it by whoever asks first.
   */
  check(): void;
  /** Aborted once the lease is lost: runs end then, and their requests in flight are aborted. */
  readonly lost?: AbortSignal;
}

/** For processes without leader election. */
export const openFence: Fence = { check: () => {} };

/** The signal for work that begins now. Aborted also if the lease has just ended, unnoticed so far. */
export function currentSignal(signal: AbortSignal, fence: Fence): AbortSignal {
  try {
    fence.check();
  } catch {
    // It is aborted by now.
  }
  return signal;
}
