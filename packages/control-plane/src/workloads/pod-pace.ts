import type { Clock } from "setpoint/clock";

/** Pods that the controllers make in a namespace without a pause: more than a cluster is built for (3,000 are). */
const BURST = 5_000;
/** Those that follow: what kube-controller-manager sends at its default `--kube-api-qps`. */
const PER_SECOND = 20;

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * How fast the controllers make pods, for each namespace: whoever asks for two billion of them waits, others do not
 * notice.
 */
export class PodPace {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes as many of `wanted` as may be made now; `waitMs` says when the rest is worth another try. */
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

  /** Namespaces come and go; one that made no pods for so long that its bucket is full needs none. */
  #forgetFull(nowMs: number): void {
    if (this.#buckets.size < 1_000) return;
    for (const [namespace, { left, atMs }] of this.#buckets) {
      if (left + ((nowMs - atMs) / 1_000) * PER_SECOND >= BURST) this.#buckets.delete(namespace);
    }
  }
}
