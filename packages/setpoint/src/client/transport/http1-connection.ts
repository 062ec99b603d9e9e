import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { SetpointError } from "../../errors/error.js";
import { BodyQueue } from "./body-queue.js";
import { Http1Reader, type ResponseHead, type ResponseSink } from "./http1-reader.js";
import { ReadPace } from "./read-pace.js";
import type { TransportRequest, TransportResponse } from "./transport.js";
import { abortedError, describe, transportError } from "./transport-error.js";

/** Bodies up to this size are copied behind their headers. */
const SMALL_BODY_BYTES = 16 * 1024;

/** One request and its response on a connection. */
interface Exchange {
  readonly body: BodyQueue;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  resolve(response: TransportResponse): void;
  reject(error: unknown): void;
  /** Set once the response headers have arrived: from then on errors belong to the body. */
  head: ResponseHead | undefined;
}

export interface ConnectionEvents {
  /** A response was read to its end and another request may be sent. */
  onIdle(): void;
  /** The connection is no longer usable. */
  onClose(): void;
}

/** One HTTP/1.1 connection: one request at a time, no pipelining. */
export class Http1Connection implements ResponseSink {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #reader = new Http1Reader(this);
  readonly #pace: ReadPace;
  #exchange: Exchange | undefined;
  #closed = false;
  #areBytesKept = false;
  /** When it became idle, on the pool's clock. */
  idleSinceMs = 0;
  /** Set when its certificates were replaced: finish the exchange, then close. */
  isRetired = false;

  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#pace = new ReadPace(socket);
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#onEnd());
  }

  /** Whether a request may be sent on it now. */
  get isUsable(): boolean {
    return !this.#closed && !this.isRetired && !this.#exchange && this.#socket.writable;
  }

  /** `head` is the request's, from `encodeHead`. */
  send(request: TransportRequest, head: string): Promise<TransportResponse> {
    const { signal } = request;
    try {
      request.beforeSend?.();
      if (signal?.aborted) throw abortedError(signal);
    } catch (error) {
      this.#events.onIdle();
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      const body = new BodyQueue({
        pause: () => this.#pace.hold(),
        resume: () => this.#pace.release(),
        cancel: () => this.close(),
      });
      const onAbort = (): void => this.#fail(abortedError(signal!));
      const exchange: Exchange = { body, signal, onAbort, resolve, reject, head: undefined };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#exchange = exchange;
      this.#reader.expect(request.method);
      this.#socket.ref();
      this.#write(head, request.body);
    });
  }

  /** Writes small requests in one piece, which is faster than two writes. */
  #write(head: string, body: Uint8Array | undefined): void {
    if (!body?.length) {
      this.#socket.write(head, "latin1");
    } else if (body.length <= SMALL_BODY_BYTES) {
      const whole = Buffer.allocUnsafe(head.length + body.length);
      whole.write(head, "latin1");
      whole.set(body, head.length);
      this.#socket.write(whole);
    } else {
      this.#socket.cork();
      this.#socket.write(head, "latin1");
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  close(): void {
    this.#fail(transportError("TRANSPORT_BROKEN", "the connection was closed by this side"));
  }

  onHead(head: ResponseHead): void {
    const exchange = this.#exchange!;
    exchange.head = head;
    exchange.resolve({ status: head.status, headers: head.headers, body: exchange.body });
  }

  onData(bytes: Buffer): void {
    if (this.#exchange!.body.push(bytes)) this.#areBytesKept = true;
  }

  onEnd(): void {
    const exchange = this.#exchange!;
    this.#exchange = undefined;
    exchange.signal?.removeEventListener("abort", exchange.onAbort);
    exchange.body.end();
    if (exchange.head!.keepAlive && !this.isRetired && !this.#closed) {
      this.#pace.reset();
      this.#socket.unref();
      this.#events.onIdle();
    } else this.#destroy();
  }

  /** Processes what the socket has read. Returns whether it keeps a part of the bytes. */
  onBytes(bytes: Buffer): boolean {
    if (this.#closed) return false;
    this.#areBytesKept = false;
    this.#pace.read(bytes.length);
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.#fail(error);
    }
    return this.#areBytesKept || this.#reader.holdsBytes;
  }

  #onEnd(): void {
    if (this.#closed) return;
    if (this.#reader.finish()) this.#destroy();
    else this.#fail(transportError("TRANSPORT_BROKEN", "the server closed the connection"));
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (exchange) {
      exchange.signal?.removeEventListener("abort", exchange.onAbort);
      const failure = asTransportError(error);
      if (!exchange.head) exchange.reject(failure);
      else if (failure.code === "ABORTED") exchange.body.abort(failure);
      else exchange.body.fail(failure);
    }
    this.#destroy();
  }

  #destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pace[Symbol.dispose]();
    this.#socket.destroy();
    this.#events.onClose();
  }
}

function asTransportError(error: unknown): SetpointError {
  if (error instanceof SetpointError) return error;
  const { code = "", reason } = error as { code?: string; reason?: string };
  if (code.startsWith("ERR_SSL_") && code.includes("ALERT")) {
    // With TLS 1.3 a server judges the client's certificate after the handshake.
    return transportError("TRANSPORT_UNTRUSTED", `the server does not accept this client: ${reason ?? code}`, error);
  }
  return transportError("TRANSPORT_BROKEN", `the connection broke: ${describe(error)}`, error);
}
