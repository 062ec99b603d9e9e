import type { Clock } from "setpoint/clock";

/**
 * How many pods the controllers create in a namespace without a pause: more than the 3,000 that a cluster is built
 * for.
 */
const BURST = 5_000;
/** The rate after the burst: that of kube-controller-manager at its default `--kube-api-qps`. */
const PER_SECOND = 20;

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * Limits how fast the controllers create pods, per namespace. A namespace that asks for two billion pods waits
 * without slowing others down.
 */
export class PodPace {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Grants as many of `wanted` as may be created now. `waitMs` says when to retry the rest. */
  take(namespace: string, wanted: number): { readonly granted: number; readonly waitMs: number | undefined } {
    const nowMs = this.#clock.monotonic();
    const bucket = this.#buckets.get(namespace) ?? { left: BURST, atMs: nowMs };
    this.#buckets.set(namespace, bucket);
    bucket.left = Math.min(BURST, bucket.left + ((nowMs - bucket.atMs) / 1_000) * PER_SECOND);
    bucket.atMs = nowMs;
    const granted = Math.min(wanted, Math.floor(bucket.left));
    bucket.left -= granted;
    this.#forgetFull(nowMs);
    return { granted, waitMs: granted < wanted ? 1_000 : undefined };
  }

  /** Drops the buckets of idle namespaces: a full bucket equals a new one. */
  #forgetFull(nowMs: number): void {
    if (this.#buckets.size < 1_000) return;
    for (const [namespace, { left, atMs }] of this.#buckets) {
      if (left + ((nowMs - atMs) / 1_000) * PER_SECOND >= BURST) this.#buckets.delete(namespace);
    }
  }
}
