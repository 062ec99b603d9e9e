export interface TokenBucketOptions {
  readonly perSecond: number;
  /** How many may come at once. */
  readonly burst: number;
}

/** Limits an overall rate. Pure: the caller passes the time. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #refilledMs: number | undefined;

  constructor(options: TokenBucketOptions) {
    this.#perMs = options.perSecond / 1_000;
    this.#burst = options.burst;
    this.#tokens = options.burst;
  }

  /** Takes a token, if necessary a future one, and returns how long to wait for it. */
  reserve(nowMs: number): number {
    const elapsedMs = nowMs - (this.#refilledMs ?? nowMs);
    this.#refilledMs = nowMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsedMs * this.#perMs) - 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }
}
