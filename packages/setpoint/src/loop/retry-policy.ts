import { type Duration, parseDuration } from "../clock/duration.js";
import type { BackoffOptions } from "./backoff.js";

export interface RetryPolicy {
  /** The delay after the first failure. Defaults to 100 ms. */
  readonly initial?: Duration;
  /** The longest delay, at which a key is parked once the attempts are used up. Defaults to 5 minutes. */
  readonly max?: Duration;
  readonly factor?: number;
  readonly jitter?: number;
  /** How many retries before the key is parked. Defaults to 12: some 7 minutes. */
  readonly attempts?: number;
}

/** A policy with its defaults, in milliseconds. */
export interface RetryTimes {
  readonly backoff: Required<BackoffOptions>;
  readonly maxAttempts: number;
}

/** `where` names the declaration in the error for a duration that is none. */
export function retryTimes(policy: RetryPolicy, where: string): RetryTimes {
  return {
    backoff: {
      initialMs: parseDuration(policy.initial ?? "100ms", `${where}: retry.initial`),
      maxMs: parseDuration(policy.max ?? "5m", `${where}: retry.max`),
      factor: policy.factor ?? 2,
      jitter: policy.jitter ?? 0.2,
    },
    maxAttempts: policy.attempts ?? 12,
  };
}
