/** Says whether this process may still write: it holds the lease, or needs none. */
export interface Fence {
  /** Throws a `SetpointError` once the lease is lost. Called right before every write and effect. */
  check(): void;
  /** Aborted once the lease is lost: runs end then, and their requests in flight are aborted. */
  readonly lost?: AbortSignal;
}

/** For processes that share their work with nobody. */
export const openFence: Fence = { check: () => {} };
