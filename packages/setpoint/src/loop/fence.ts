/** Whether this process may still write: it holds the lease, or needs none. */
export interface Fence {
  /**
   * Throws a `SetpointError` once the lease is lost. Called right before every write and effect. `lost` is aborted by
   * then: in a process that was suspended for longer than its lease, the first check notices it.
   */
  check(): void;
  /** Aborted once the lease is lost: runs end, and their requests in flight are aborted. */
  readonly lost?: AbortSignal;
}

/** For processes without leader election. */
export const openFence: Fence = { check: () => {} };

/** The signal for work that starts now. Also aborted if the lease has just ended unnoticed. */
export function currentSignal(signal: AbortSignal, fence: Fence): AbortSignal {
  try {
    fence.check();
  } catch {
    // The check has aborted it.
  }
  return signal;
}
