import { setMaxListeners } from "node:events";
import { SetpointError } from "setpoint";
import { type Transport, type TransportRequest, type TransportResponse, wholeBody } from "setpoint/client";
import type { ApiHandler, ApiResponse } from "../api/api-request.js";
import { parseTarget } from "../api/request-target.js";
import { errorResponse } from "../registry/negotiation/error-response.js";
import { decodedBody } from "./request-body.js";

const NO_BODY = new Uint8Array();

/**
 * Calls the handler directly, without socket and TLS but with the same bytes. Its caller is the administrator unless it
 * presents other credentials. Disposing it aborts its requests.
 */
export function inProcessTransport(handler: ApiHandler): Transport {
  return new InProcessTransport(handler);
}

class InProcessTransport implements Transport {
  readonly #handler: ApiHandler;
  readonly #exchanges = new Set<Exchange>();
  /** Exchanges of successful requests, for reuse. */
  readonly #idle: Exchange[] = [];
  #isClosed = false;

  constructor(handler: ApiHandler) {
    this.#handler = handler;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { method, signal } = request;
    request.beforeSend?.();
    if (signal?.aborted) throw aborted(request);
    if (this.#isClosed)
      throw new SetpointError("TRANSPORT_REFUSED", `${nameOf(request)}: the control plane is stopped`);
    const exchange = this.#idle.pop() ?? new Exchange();
    this.#exchanges.add(exchange);
    const onAbort = (): void => exchange.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const done = (): void => {
      this.#exchanges.delete(exchange);
      signal?.removeEventListener("abort", onAbort);
    };
    try {
      const response = await exchange.unlessAborted(this.#handle(request, exchange.signal));
      const { status, headers, body } = response;
      if (method === "HEAD") {
        // A HEAD response has the headers of a GET, but no body.
        done();
        exchange.abort(new Error("the reader does not want the body"));
        return { status, headers, body: wholeBody(NO_BODY) };
      }
      if (!(body instanceof Uint8Array)) return { status, headers, body: streamed(request, body, exchange, done) };
      done();
      if (!exchange.signal.aborted) this.#idle.push(exchange);
      return { status, headers, body: wholeBody(body) };
    } catch (error) {
      done();
      throw signal?.aborted ? aborted(request) : broken(request, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const exchange of [...this.#exchanges]) exchange.abort(new Error("the control plane was stopped"));
  }

  async #handle({ method, headers, ...request }: TransportRequest, signal: AbortSignal): Promise<ApiResponse> {
    try {
      const body = await decodedBody(request.body ?? NO_BODY, headers["content-encoding"]?.toString());
      return await this.#handler({ ...parseTarget(method, request.path), headers, body, isInProcess: true, signal });
    } catch (error) {
      return errorResponse(error);
    }
  }
}

/**
 * The caller's side of requests, one at a time. Requests reuse it like an HTTP/1.1 connection, because creating a
 * signal costs as much as answering a small request.
 */
class Exchange {
  readonly #controller = new AbortController();
  /** Rejects the pending wait. */
  #leave: ((reason: unknown) => void) | undefined;

  constructor() {
    // One caller may have many listeners, as over a socket.
    setMaxListeners(0, this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.#leave?.(reason);
  }

  unlessAborted<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#leave = reject;
      if (this.signal.aborted) reject(this.signal.reason);
      work.then(resolve, reject);
    });
  }
}

/** Ends the stream early when the caller's signal aborts, and tells the handler when the caller leaves. */
async function* streamed(
  request: TransportRequest,
  body: AsyncIterable<Uint8Array>,
  exchange: Exchange,
  done: () => void,
): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await exchange.unlessAborted(source.next());
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    throw request.signal?.aborted ? aborted(request) : broken(request, error);
  } finally {
    done();
    exchange.abort(new Error("the reader left"));
    void source.return?.();
  }
}

function nameOf({ method, path }: TransportRequest): string {
  return `${method} ${path}`;
}

function aborted(request: TransportRequest): SetpointError {
  return new SetpointError("ABORTED", `${nameOf(request)} was aborted`, { cause: request.signal?.reason });
}

function broken(request: TransportRequest, cause: unknown): SetpointError {
  return new SetpointError("TRANSPORT_BROKEN", `${nameOf(request)}: the response was cut short`, { cause });
}
