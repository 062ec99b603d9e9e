import { parseDuration } from "../clock/duration.js";
import type { BackoffOptions } from "./backoff.js";

/**
 * How failed runs are retried: from 100 ms to 5 minutes by default. Once the attempts are used up, the key is parked at
 * the longest delay.
 */
export interface RetryPolicy extends BackoffOptions {
  /** How many retries before the key is parked. Defaults to 12: some 7 minutes. */
  readonly attempts?: number;
}

/** A policy with its defaults, durations in milliseconds. */
export interface RetryTimes {
  readonly backoff: Required<BackoffOptions> & { readonly initial: number; readonly max: number };
  readonly maxAttempts: number;
}

/** `where` names the declaration in the error for an invalid duration. */
export function retryTimes(policy: RetryPolicy, where: string): RetryTimes {
  return {
    backoff: {
      initial: parseDuration(policy.initial ?? "100ms", `${where}: retry.initial`),
      max: parseDuration(policy.max ?? "5m", `${where}: retry.max`),
      factor: policy.factor ?? 2,
      jitter: policy.jitter ?? 0.2,
    },
    maxAttempts: policy.attempts ?? 12,
  };
}
