import { SetpointError, type Transport, type TransportRequest, type TransportResponse } from "setpoint";
import { answerError } from "../registry/negotiation/answer.js";
import { StatusError } from "../registry/status-error.js";
import type { ApiHandler, ApiResponse } from "./api-request.js";
import { decodedBody } from "./request-body.js";
import { parseTarget } from "./request-target.js";

const NO_BODY = new Uint8Array();

/**
 * A transport that calls the handler directly: no socket, no TLS, the same bytes. Its caller is the administrator
 * unless it presents other credentials. Disposing of it ends the requests that it carries.
 */
export function inProcessTransport(handler: ApiHandler): Transport {
  return new InProcessTransport(handler);
}

class InProcessTransport implements Transport {
  readonly #handler: ApiHandler;
  readonly #exchanges = new Set<AbortController>();
  #isClosed = false;

  constructor(handler: ApiHandler) {
    this.#handler = handler;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.signal?.aborted) throw aborted(request);
    if (this.#isClosed)
      throw new SetpointError("TRANSPORT_REFUSED", `${nameOf(request)}: the control plane is stopped`);
    const exchange = new AbortController();
    this.#exchanges.add(exchange);
    const onAbort = (): void => exchange.abort(request.signal?.reason);
    request.signal?.addEventListener("abort", onAbort, { once: true });
    const done = (): void => {
      this.#exchanges.delete(exchange);
      request.signal?.removeEventListener("abort", onAbort);
    };
    try {
      const response = await unlessAborted(this.#handle(request, exchange.signal), exchange.signal);
      const { body } = response;
      if (request.method === "HEAD") {
        // The length of what would be sent is said; what would be sent is not.
        done();
        exchange.abort(new Error("nothing of the body is wanted"));
        return { ...response, body: whole(NO_BODY) };
      }
      if (!(body instanceof Uint8Array)) return { ...response, body: streamed(request, body, exchange, done) };
      done();
      return { ...response, body: whole(body) };
    } catch (error) {
      done();
      throw request.signal?.aborted ? aborted(request) : broken(request, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const exchange of [...this.#exchanges]) exchange.abort(new Error("the control plane was stopped"));
  }

  async #handle({ method, headers, ...request }: TransportRequest, signal: AbortSignal): Promise<ApiResponse> {
    try {
      const body = await decodedBody(request.body ?? NO_BODY, headers["content-encoding"]?.toString());
      return await this.#handler({ ...parseTarget(request.path), method, headers, body, isInProcess: true, signal });
    } catch (error) {
      if (error instanceof StatusError) return answerError(error);
      throw error;
    }
  }
}

async function* whole(body: Uint8Array): AsyncIterable<Uint8Array> {
  if (body.byteLength > 0) yield body;
}

/** A stream that ends early with the caller's signal, and tells the handler when the caller leaves. */
async function* streamed(
  request: TransportRequest,
  body: AsyncIterable<Uint8Array>,
  exchange: AbortController,
  done: () => void,
): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(source.next(), exchange.signal);
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

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function nameOf({ method, path }: TransportRequest): string {
  return `${method} ${path}`;
}

function aborted(request: TransportRequest): SetpointError {
  return new SetpointError("ABORTED", `${nameOf(request)} was aborted`, { cause: request.signal?.reason });
}

function broken(request: TransportRequest, cause: unknown): SetpointError {
  return new SetpointError("TRANSPORT_BROKEN", `${nameOf(request)}: the answer broke off`, { cause });
}
