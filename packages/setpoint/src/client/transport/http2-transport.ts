import type { ClientHttp2Session } from "node:http2";
import type { Clock } from "../../clock/clock.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import { parseServer, type ServerAddress } from "../cluster/server-address.js";
import { Dialer, type TlsMaterial, type TlsSource } from "./dialer.js";
import type { HttpTransportOptions } from "./http1-transport.js";
import type { Http2Session } from "./http2-session.js";
import { http2Headers } from "./request-head.js";
import type { Transport, TransportRequest, TransportResponse } from "./transport.js";
import { abortedError, transportError, untilAborted } from "./transport-error.js";

export interface Http2TransportOptions extends HttpTransportOptions {
  /** How long a session may be silent before it gets a PING. Defaults to 30 seconds, as in client-go. */
  readonly pingAfter?: Duration;
  /** How long the answer to the PING may take before the session is closed. Defaults to 15 seconds. */
  readonly pingTimeout?: Duration;
  /** How many requests one session carries before another is opened; the server may allow fewer. Defaults to 100. */
  readonly maxStreamsPerSession?: number;
}

/** How far the server may send one response ahead of its reader, so that a large list does not wait for the network. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
/** The same for all responses of a session, so that a hundred watches do not block each other. */
const SESSION_WINDOW_BYTES = 32 * 1024 * 1024;

/**
 * HTTP/2 over TLS: many requests on few connections, with PINGs to find dead ones. Sessions without a request do not
 * keep the process alive. Loads `node:http2` at the first request.
 */
export function http2Transport(options: Http2TransportOptions): Transport {
  return new Http2Transport(options);
}

class Http2Transport implements Transport {
  readonly #options: Http2TransportOptions;
  readonly #address: ServerAddress;
  readonly #dialer: Dialer;
  readonly #clock: Clock;
  readonly #tls: TlsSource;
  /** Sessions that accept requests. A retired session leaves the set and lives until its last response ends. */
  readonly #sessions = new Set<Http2Session>();
  readonly #retired = new Set<Http2Session>();
  /** The session that is being opened, shared by all waiting requests, with the number of streams they claim. */
  #opening: { readonly session: Promise<Http2Session>; claims: number } | undefined;
  #material: TlsMaterial | undefined;
  #closed = false;

  constructor(options: Http2TransportOptions) {
    const { tls = {}, clock } = options;
    this.#options = options;
    this.#address = parseServer(options.server);
    this.#clock = clock;
    this.#tls = typeof tls === "function" ? tls : () => tls;
    this.#dialer = new Dialer(this.#address, {
      clock,
      connectTimeoutMs: parseDuration(options.connectTimeout ?? "30s", "connectTimeout"),
      alpn: "h2",
      tunnel: options.tunnel,
    });
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const path = this.#address.prefix + request.path;
    const headers = http2Headers(request, path);
    const session = await this.#acquire(request.signal);
    return session.send(request, path, headers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const session of [...this.#sessions, ...this.#retired]) session.destroy();
  }

  async #acquire(signal?: AbortSignal): Promise<Http2Session> {
    while (true) {
      if (signal?.aborted) throw abortedError(signal);
      if (this.#closed) throw transportError("TRANSPORT_REFUSED", "the transport is closed");
      const material = await this.#tls(signal);
      if (material !== this.#material) this.#replaceMaterial(material);
      for (const session of this.#sessions) if (session.hasRoom) return session;
      await this.#join(material, signal);
    }
  }

  /** Waits for the session that is being opened, or opens one. An abort ends the wait, not the opening. */
  async #join(material: TlsMaterial, signal?: AbortSignal): Promise<void> {
    const limit = this.#options.maxStreamsPerSession ?? 100;
    if (!this.#opening || this.#opening.claims >= limit) {
      const opening = { session: this.#open(material), claims: 0 };
      const forget = (): void => {
        if (this.#opening === opening) this.#opening = undefined;
      };
      opening.session.then(forget, forget);
      this.#opening = opening;
    }
    this.#opening.claims++;
    await untilAborted(this.#opening.session, signal);
  }

  async #open(material: TlsMaterial): Promise<Http2Session> {
    const { Http2Session: Session } = await import("./http2-session.js");
    const [{ connect }, socket] = [process.getBuiltinModule("node:http2"), await this.#dialer.dial(material)];
    const inner: ClientHttp2Session = connect(this.#address.secure ? "https://server" : "http://server", {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    inner.once("connect", () => inner.setLocalWindowSize(SESSION_WINDOW_BYTES));
    const session: Http2Session = new Session(inner, {
      clock: this.#clock,
      authority: this.#address.hostHeader,
      scheme: this.#address.secure ? "https" : "http",
      pingAfterMs: parseDuration(this.#options.pingAfter ?? "30s", "pingAfter"),
      pingTimeoutMs: parseDuration(this.#options.pingTimeout ?? "15s", "pingTimeout"),
      idleMs: parseDuration(this.#options.idleConnection ?? "1m", "idleConnection"),
      maxStreams: this.#options.maxStreamsPerSession ?? 100,
      onRetired: () => {
        if (this.#sessions.delete(session)) this.#retired.add(session);
      },
      onClose: () => {
        this.#sessions.delete(session);
        this.#retired.delete(session);
      },
    });
    await session.ready;
    if (this.#closed) session.destroy();
    else if (material === this.#material) this.#sessions.add(session);
    else session.retire();
    return session;
  }

  #replaceMaterial(material: TlsMaterial): void {
    this.#material = material;
    this.#opening = undefined;
    for (const session of [...this.#sessions]) session.retire();
  }
}
