import type { Buffer } from "node:buffer";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import type { Clock, Timer } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";
import { ownField } from "../../kinds/own-field.js";
import { BodyQueue } from "./body-queue.js";
import type { TransportRequest, TransportResponse } from "./transport.js";
import { abortedError, describe, transportError } from "./transport-error.js";

export interface Http2SessionOptions {
  readonly clock: Clock;
  readonly authority: string;
  readonly scheme: string;
  readonly pingAfterMs: number;
  readonly pingTimeoutMs: number;
  readonly idleMs: number;
  readonly maxStreams: number;
  /** The session takes no more requests, but may still carry responses. */
  readonly onRetired: () => void;
  readonly onClose: () => void;
}

/** The HTTP/2 error codes which say that the server did not act on the request. */
const REFUSED_STREAM = 7;
const NO_ERROR = 0;
const CANCEL = 8;

/** One HTTP/2 connection and the requests on it. */
export class Http2Session {
  readonly #session: ClientHttp2Session;
  readonly #options: Http2SessionOptions;
  /** Resolves once the server's settings arrive; rejects if the connection ends before. */
  readonly ready: Promise<void>;
  #streams = 0;
  #retired = false;
  /** When the server last sent something. */
  #heardAtMs: number;
  #watchdog: Timer | undefined;
  #pingDeadline: Timer | undefined;
  #idleTimer: Timer | undefined;
  /** Why this side ended the session; its streams then fail with this error. */
  #failure: SetpointError | undefined;

  constructor(session: ClientHttp2Session, options: Http2SessionOptions) {
    this.#session = session;
    this.#options = options;
    this.#heardAtMs = options.clock.monotonic();
    this.ready = new Promise((resolve, reject) => {
      const refuse = (error?: Error): void =>
        reject(transportError("TRANSPORT_REFUSED", `no HTTP/2 session: ${error ? describe(error) : "closed"}`, error));
      session.once("remoteSettings", () => resolve());
      session.once("error", refuse).once("close", refuse);
    });
    session.on("error", () => {});
    session.on("goaway", () => this.retire());
    session.once("close", () => this.#onClose());
    this.#watchdog = options.clock.timer(options.pingAfterMs, () => this.#check()).unref();
    session.unref();
  }

  /** Whether another request may be sent on it now. */
  get hasRoom(): boolean {
    if (this.#retired || this.#session.closed || this.#session.destroyed) return false;
    const allowed = this.#session.remoteSettings?.maxConcurrentStreams ?? Infinity;
    return this.#streams < Math.min(this.#options.maxStreams, allowed);
  }

  /** `headers` are the request's, from `http2Headers`. */
  send(
    request: TransportRequest,
    path: string,
    headers: Record<string, string | string[]>,
  ): Promise<TransportResponse> {
    const { signal } = request;
    request.beforeSend?.();
    if (signal?.aborted) return Promise.reject(abortedError(signal));
    const stream = this.#start(request, path, headers);
    return new Promise((resolve, reject) => {
      let hasHead = false;
      let isComplete = false;
      const body = new BodyQueue({
        pause: () => stream.pause(),
        resume: () => stream.resume(),
        cancel: () => stream.close(CANCEL),
      });
      const fail = (error: SetpointError): void => {
        if (!hasHead) reject(error);
        else if (error.code === "ABORTED") body.abort(error);
        else body.fail(error);
      };
      const onAbort = (): void => {
        fail(abortedError(signal!));
        stream.close(CANCEL);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      // The third argument has the headers as received, repeated ones separate; the types omit it.
      const onResponse = (headers: IncomingHttpHeaders, _flags: number, raw: readonly string[]): void => {
        hasHead = true;
        this.#heard();
        resolve({ status: Number(headers[":status"]), headers: headersOf(raw), body });
      };
      stream.once("response", onResponse as (headers: IncomingHttpHeaders) => void);
      stream.on("data", (bytes: Buffer) => {
        this.#heard();
        body.push(bytes);
      });
      stream.once("end", () => {
        // A stream that was reset, or whose session was ended, also emits "end": only a clean one is complete.
        isComplete = stream.rstCode === NO_ERROR && this.#failure === undefined;
      });
      let cause: Error | undefined;
      stream.once("error", (error) => (cause = error));
      stream.once("close", () => {
        signal?.removeEventListener("abort", onAbort);
        this.#finish();
        if (hasHead && isComplete) body.end();
        else fail(this.#failureOf(stream, cause));
      });
    });
  }

  /** Takes no more requests; the connection is closed when the last response has ended. */
  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    this.#options.onRetired();
    this.#session.close();
  }

  destroy(): void {
    this.#failure ??= transportError("TRANSPORT_BROKEN", "the connection was closed by this side");
    this.#session.destroy();
  }

  #start(request: TransportRequest, path: string, headers: Record<string, string | string[]>): ClientHttp2Stream {
    const all = {
      ...headers,
      ":method": request.method,
      ":path": path,
      ":authority": this.#options.authority,
      ":scheme": this.#options.scheme,
      ...(request.body ? { "content-length": String(request.body.length) } : {}),
    };
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(all, { endStream: !request.body });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "";
      if (/^ERR_HTTP2_(GOAWAY_SESSION|INVALID_SESSION|OUT_OF_STREAMS)$/.test(code)) {
        throw transportError("TRANSPORT_REFUSED", `the HTTP/2 session is closing: ${describe(error)}`, error);
      }
      throw new SetpointError("REQUEST_INVALID", `the request cannot be sent: ${describe(error)}`, { cause: error });
    }
    if (this.#streams++ === 0) {
      this.#idleTimer?.[Symbol.dispose]();
      this.#idleTimer = undefined;
      this.#session.ref();
    }
    if (request.body) stream.end(request.body);
    return stream;
  }

  #finish(): void {
    if (--this.#streams > 0 || this.#session.destroyed) return;
    this.#session.unref();
    this.#idleTimer = this.#options.clock.timer(this.#options.idleMs, () => this.retire()).unref();
  }

  #failureOf(stream: ClientHttp2Stream, cause: Error | undefined): SetpointError {
    if (this.#failure) return this.#failure;
    const code = stream.rstCode;
    if (code === REFUSED_STREAM) return transportError("TRANSPORT_REFUSED", "the server refused the stream", cause);
    const words = cause ? describe(cause) : `it was reset with code ${code}`;
    return transportError("TRANSPORT_BROKEN", `the HTTP/2 stream broke: ${words}`, cause);
  }

  #heard(): void {
    this.#heardAtMs = this.#options.clock.monotonic();
  }

  /** One timer per session. Sends a PING if the server was silent for too long. */
  #check(): void {
    const { clock, pingAfterMs, pingTimeoutMs } = this.#options;
    const leftMs = this.#heardAtMs + pingAfterMs - clock.monotonic();
    if (leftMs > 0) {
      this.#watchdog = clock.timer(leftMs, () => this.#check()).unref();
      return;
    }
    this.#pingDeadline = clock
      .timer(pingTimeoutMs, () => {
        const message = `the server did not answer a PING within ${pingTimeoutMs / 1000} s`;
        this.#failure = transportError("TRANSPORT_BROKEN", message);
        this.#session.destroy();
      })
      .unref();
    this.#session.ping((error) => {
      this.#pingDeadline?.[Symbol.dispose]();
      if (error || this.#session.destroyed) return;
      this.#heard();
      this.#watchdog = clock.timer(pingAfterMs, () => this.#check()).unref();
    });
  }

  #onClose(): void {
    this.#retired = true;
    this.#watchdog?.[Symbol.dispose]();
    this.#pingDeadline?.[Symbol.dispose]();
    this.#idleTimer?.[Symbol.dispose]();
    this.#options.onClose();
  }
}

function headersOf(raw: readonly string[]): Record<string, string | readonly string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]!;
    const value = raw[index + 1]!;
    const before = ownField(headers, name);
    if (name.startsWith(":")) continue;
    if (before === undefined) headers[name] = value;
    else if (typeof before === "string") headers[name] = [before, value];
    else before.push(value);
  }
  return headers;
}
