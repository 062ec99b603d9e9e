import { parseDuration } from "../clock/duration.js";
import { jitter, type Random } from "../clock/random.js";
import { isSetpointError } from "../errors/error.js";
import type { RetryPolicy } from "../loop/retry-policy.js";
import type { TransportResponse } from "./transport/transport.js";

/**
 * How the client retries requests: at most 10 attempts by default. `max` is the longest single wait, one minute by
 * default. If the server asks for a longer wait, the caller gets the response.
 */
export type RetryOptions = Pick<RetryPolicy, "attempts" | "max">;

/** What decides whether a request may be sent again. */
export interface RetryableRequest {
  /** True if the request is idempotent: reads and server-side apply. */
  readonly idempotent: boolean;
  /** False if 429 is the result of the request: an eviction that a disruption budget forbids. */
  readonly retryTooMany: boolean;
}

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/** An unreachable server gets fewer attempts than one that answers: two or three seconds. */
const FAILURE_ATTEMPTS = 5;

/** Decides whether and when to retry a request. A pure decision: the caller waits. */
export class RequestRetries {
  readonly #attempts: number;
  readonly #maxWaitMs: number;
  readonly #random: Random;

  constructor(options: RetryOptions, random: Random) {
    this.#attempts = options.attempts ?? 10;
    this.#maxWaitMs = parseDuration(options.max ?? "1m", "retry.max");
    this.#random = random;
  }

  /**
   * How long to wait before the next attempt after this response; undefined to return the response. 429 and 503 mean
   * that the server did not act; 500 with Retry-After asks for the same request again; after 504 the server may have
   * acted.
   */
  afterResponse(
    attempt: number,
    request: RetryableRequest,
    response: TransportResponse,
    nowMs: number,
  ): number | undefined {
    if (attempt >= this.#attempts) return undefined;
    const askedMs = retryAfterMs(response, nowMs);
    if (!mayRepeat(response.status, request, askedMs !== undefined)) return undefined;
    const waitMs = askedMs === undefined ? this.#backoff(attempt) : jitter(this.#random, askedMs, 0.1);
    return askedMs !== undefined && askedMs > this.#maxWaitMs ? undefined : waitMs;
  }

  /** The same after a failure of the transport. A request that was never sent may always be sent again. */
  afterFailure(attempt: number, request: RetryableRequest, error: unknown): number | undefined {
    if (attempt >= Math.min(this.#attempts, FAILURE_ATTEMPTS)) return undefined;
    if (isSetpointError(error, "TRANSPORT_REFUSED")) return this.#backoff(attempt);
    if (isSetpointError(error, "TRANSPORT_BROKEN") && request.idempotent) {
      // Most often the server had just closed a kept connection: retry on a new one at once.
      return attempt === 1 ? 0 : this.#backoff(attempt);
    }
    return undefined;
  }

  #backoff(attempt: number): number {
    return jitter(this.#random, Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)), 1);
  }
}

function mayRepeat(status: number, request: RetryableRequest, asked: boolean): boolean {
  switch (status) {
    case 429:
      return request.retryTooMany;
    case 503:
      return asked || request.idempotent;
    case 500:
      return asked;
    case 502:
    case 504:
      return asked && request.idempotent;
    default:
      return false;
  }
}

/** The Retry-After header in milliseconds: seconds, or a date. Undefined if absent or malformed. */
export function retryAfterMs(response: Pick<TransportResponse, "headers">, nowMs: number): number | undefined {
  const header = response.headers["retry-after"];
  const text = typeof header === "string" ? header.trim() : header?.[0]?.trim();
  if (!text) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
