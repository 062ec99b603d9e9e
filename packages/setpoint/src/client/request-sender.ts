import type { Clock } from "../clock/clock.js";
import { parseDuration } from "../clock/duration.js";
import type { Random } from "../clock/random.js";
import { isSetpointError } from "../errors/error.js";
import type { ObservedRequest, RawRequest, RequestVerb } from "./client.js";
import type { CredentialHeaders, Credentials } from "./cluster/credentials.js";
import { nameOfRequest } from "./request-summary.js";
import { RequestRetries, type RetryableRequest, type RetryOptions } from "./retry.js";
import { drain, isComplete } from "./transport/body.js";
import type { Transport, TransportResponse } from "./transport/transport.js";
import { abortedError, transportError, untilAborted } from "./transport/transport-error.js";
import type { WarnedRequest } from "./warned-request.js";
import { WarningLog } from "./warning-log.js";

export interface SenderOptions {
  readonly transport: Transport;
  /** The server's host, for the observer. */
  readonly host: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly credentials: Credentials;
  readonly userAgent: string;
  readonly headTimeoutMs: number;
  readonly retry: RetryOptions;
  readonly observer?: (request: ObservedRequest) => void;
  readonly onWarning?: (warning: string, request: WarnedRequest) => void;
}

/** A request on its way to the transport. */
export interface OutgoingRequest extends RawRequest {
  /** True for writes that may be sent twice: server-side apply. Reads always may. */
  readonly idempotent?: boolean;
}

/** Sends requests: adds credentials, limits the time to the response headers, retries, reports warnings and metrics. */
export class RequestSender {
  readonly #options: SenderOptions;
  readonly #policy: RequestRetries;
  readonly #warnings: WarningLog;
  /** Controllers of finished requests, for reuse: making a signal costs as much as sending a small request. */
  readonly #spareSignals: AbortController[] = [];

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#policy = new RequestRetries(options.retry, options.random);
    this.#warnings = new WarningLog(options.onWarning);
  }

  /** Resolves at the response headers; the caller handles errors of the body. */
  send(request: OutgoingRequest): Promise<TransportResponse> {
    return this.exchange(request, (response) => response);
  }

  /** Sends a request and reads its response. Repeats a read whose body broke. */
  async exchange<T>(request: OutgoingRequest, read: (response: TransportResponse) => Promise<T> | T): Promise<T> {
    const { clock, credentials } = this.#options;
    const policy = request.retry === false ? undefined : this.#policy;
    const retryable = retryability(request);
    let mayRenew = true;
    for (let attempt = 1; ; attempt++) {
      let waitMs: number | undefined;
      try {
        const identity = await this.#identity(request.signal);
        // Checked here too, because credentials and pauses take time.
        request.beforeSend?.();
        const response = await this.#attempt(request, identity, attempt);
        if (response.status === 401 && mayRenew && credentials.rejected?.(identity)) {
          mayRenew = false;
          await drain(response);
          continue;
        }
        waitMs = policy?.afterResponse(attempt, retryable, response, clock.now());
        if (waitMs === undefined) return await read(response);
        await drain(response);
      } catch (error) {
        waitMs = policy?.afterFailure(attempt, retryable, error);
        if (waitMs === undefined) throw error;
      }
      if (waitMs <= 0) continue;
      await this.#pause(waitMs, request.signal);
      // A process that was suspended may have lost its lease. Yield, so that the timer which detects this fires first.
      await this.#pause(0, request.signal);
    }
  }

  /** A plugin may take long, for example to ask a person: an aborted request does not wait for it. */
  #identity(signal?: AbortSignal): Promise<CredentialHeaders> | CredentialHeaders {
    const headers = this.#options.credentials.headers(signal);
    return headers instanceof Promise ? untilAborted(headers, signal) : headers;
  }

  async #attempt(request: OutgoingRequest, identity: CredentialHeaders, attempt: number): Promise<TransportResponse> {
    const { clock, host, observer } = this.#options;
    const startedMs = observer ? clock.monotonic() : 0;
    const report = (status: number, error?: string): void =>
      observer?.({
        verb: request.verb ?? (request.method.toLowerCase() as RequestVerb),
        kind: request.kind?.kind ?? "",
        subresource: request.subresource ?? "",
        method: request.method,
        host,
        status,
        ...(error ? { error } : {}),
        durationMs: clock.monotonic() - startedMs,
        attempt,
      });
    try {
      const response = await this.#dispatch(request, identity);
      this.#warnings.take(response.headers.warning, request);
      report(response.status);
      return response;
    } catch (error) {
      report(0, isSetpointError(error) ? error.code : "UNKNOWN");
      throw error;
    }
  }

  /** Sends it once, with a deadline for the response headers. */
  async #dispatch(request: OutgoingRequest, identity: CredentialHeaders): Promise<TransportResponse> {
    const { transport, clock, userAgent } = this.#options;
    const { method, path, body, signal, beforeSend } = request;
    const limitMs =
      request.headTimeout === undefined
        ? this.#options.headTimeoutMs
        : parseDuration(request.headTimeout, "headTimeout");
    const headers = { "user-agent": userAgent, ...request.headers, ...identity };
    if (limitMs <= 0) return transport.request({ method, path, headers, body, signal, beforeSend });
    if (signal?.aborted) throw abortedError(signal);
    const deadline = this.#spareSignals.pop() ?? new AbortController();
    const onAbort = (): void => deadline.abort(signal!.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    let isLate = false;
    const timer = clock.timer(limitMs, () => {
      isLate = true;
      deadline.abort();
    });
    try {
      const response = await transport.request({ method, path, headers, body, signal: deadline.signal, beforeSend });
      const release = (): void => signal?.removeEventListener("abort", onAbort);
      if (!isComplete(response.body)) {
        return signal ? { ...response, body: untilEnd(response.body, release) } : response;
      }
      release();
      if (!deadline.signal.aborted) this.#spareSignals.push(deadline);
      return response;
    } catch (error) {
      signal?.removeEventListener("abort", onAbort);
      if (!isLate) throw error;
      throw transportError(
        "TRANSPORT_TIMEOUT",
        `${nameOfRequest(request)}: no answer within ${limitMs / 1000} s`,
        error,
      );
    } finally {
      timer[Symbol.dispose]();
    }
  }

  async #pause(waitMs: number, signal?: AbortSignal): Promise<void> {
    try {
      await this.#options.clock.sleep(waitMs, signal);
    } catch (error) {
      throw signal?.aborted ? abortedError(signal) : error;
    }
  }
}

function retryability(request: OutgoingRequest): RetryableRequest {
  const reads = request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS";
  return { idempotent: reads || request.idempotent === true, retryTooMany: request.subresource !== "eviction" };
}

/** The same body; calls `onEnd` when its reader is done with it, in whatever way. */
function untilEnd(body: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const inner = body[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const result = await inner.next();
            if (result.done) onEnd();
            return result;
          } catch (error) {
            onEnd();
            throw error;
          }
        },
        async return() {
          onEnd();
          await inner.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
