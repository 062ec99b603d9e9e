import type { Clock, Timer } from "../../clock/clock.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import { parseServer, type ServerAddress } from "../cluster/server-address.js";
import { Dialer, type DialTarget, type TlsMaterial, type TlsSource } from "./dialer.js";
import { Http1Connection } from "./http1-connection.js";
import { encodeHead } from "./request-head.js";
import type { Transport, TransportRequest, TransportResponse } from "./transport.js";
import { abortedError, transportError } from "./transport-error.js";

export interface HttpTransportOptions {
  /** `https://host:port`, with a path prefix if the server is behind a gateway. */
  readonly server: string;
  readonly clock: Clock;
  readonly tls?: TlsMaterial | TlsSource;
  /** Makes the TCP connections instead of the transport: a proxy's tunnel. */
  readonly tunnel?: (target: DialTarget, signal: AbortSignal) => Promise<import("node:net").Socket>;
  /** Defaults to 30 seconds. */
  readonly connectTimeout?: Duration;
  /** How many connections may be open; further requests wait. A watch occupies one. Defaults to 512. */
  readonly maxConnections?: number;
  /** How long to keep an unused connection. Defaults to 60 seconds, below the 90 of a Go server. */
  readonly idleConnection?: Duration;
}

interface Waiter {
  readonly start: () => void;
}

/**
 * HTTP/1.1 over TLS or plain TCP, one request at a time per connection. Connections are reused. Idle ones do not keep
 * the process alive.
 */
export function http1Transport(options: HttpTransportOptions): Transport {
  return new Http1Transport(options);
}

class Http1Transport implements Transport {
  readonly #address: ServerAddress;
  readonly #dialer: Dialer;
  readonly #clock: Clock;
  readonly #tls: TlsSource;
  readonly #maxConnections: number;
  readonly #idleConnectionMs: number;
  readonly #connections = new Set<Http1Connection>();
  /** The most recently used connection is last, and is taken first. */
  readonly #idle: Http1Connection[] = [];
  readonly #waiting: Waiter[] = [];
  /** Connections that are open or being opened; never above the limit. */
  #open = 0;
  #material: TlsMaterial | undefined;
  #sweeper: Timer | undefined;
  #closed = false;

  constructor(options: HttpTransportOptions) {
    const { tls = {}, clock } = options;
    this.#address = parseServer(options.server);
    this.#clock = clock;
    this.#tls = typeof tls === "function" ? tls : () => tls;
    this.#maxConnections = options.maxConnections ?? 512;
    this.#idleConnectionMs = parseDuration(options.idleConnection ?? "1m", "idleConnection");
    this.#dialer = new Dialer(this.#address, {
      clock,
      connectTimeoutMs: parseDuration(options.connectTimeout ?? "30s", "connectTimeout"),
      alpn: "http/1.1",
      tunnel: options.tunnel,
    });
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const head = encodeHead(request, this.#address.prefix + request.path, this.#address.hostHeader);
    const connection = await this.#acquire(request.signal);
    return connection.send(request, head);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#sweeper?.[Symbol.dispose]();
    for (const connection of [...this.#connections]) connection.close();
    for (const waiter of this.#waiting.splice(0)) waiter.start();
  }

  async #acquire(signal?: AbortSignal): Promise<Http1Connection> {
    while (true) {
      if (signal?.aborted) throw abortedError(signal);
      if (this.#closed) throw transportError("TRANSPORT_REFUSED", "the transport is closed");
      const material = await this.#tls(signal);
      if (material !== this.#material) this.#replaceMaterial(material);
      for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (idle.isUsable) return idle;
      if (this.#open < this.#maxConnections) return this.#dial(material, signal);
      await this.#turn(signal);
    }
  }

  async #dial(material: TlsMaterial, signal?: AbortSignal): Promise<Http1Connection> {
    this.#open++;
    let connection: Http1Connection | undefined;
    let socket: Awaited<ReturnType<Dialer["dial"]>>;
    try {
      // A server sends nothing before a request, so the connection exists when bytes arrive.
      socket = await this.#dialer.dial(material, signal, (bytes) => connection?.onBytes(bytes) ?? false);
    } catch (error) {
      this.#open--;
      this.#waiting.shift()?.start();
      throw error;
    }
    const opened: Http1Connection = new Http1Connection(socket, {
      onIdle: () => this.#onIdle(opened),
      onClose: () => this.#onClose(opened),
    });
    connection = opened;
    this.#connections.add(opened);
    if (this.#closed) opened.close();
    return opened;
  }

  /** Resolves when a connection may be free. */
  #turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abortedError(signal));
        return;
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(abortedError(signal!));
      };
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #onIdle(connection: Http1Connection): void {
    connection.idleSinceMs = this.#clock.monotonic();
    this.#idle.push(connection);
    this.#sweeper ??= this.#clock.timer(this.#idleConnectionMs, () => this.#sweep()).unref();
    this.#waiting.shift()?.start();
  }

  #onClose(connection: Http1Connection): void {
    this.#connections.delete(connection);
    this.#open--;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#waiting.shift()?.start();
  }

  #sweep(): void {
    this.#sweeper = undefined;
    const nowMs = this.#clock.monotonic();
    // Oldest first: the list is in the order of becoming idle.
    while (this.#idle[0] && nowMs - this.#idle[0].idleSinceMs >= this.#idleConnectionMs) this.#idle[0].close();
    const oldest = this.#idle[0];
    if (oldest) {
      const delayMs = oldest.idleSinceMs + this.#idleConnectionMs - nowMs;
      this.#sweeper = this.#clock.timer(delayMs, () => this.#sweep()).unref();
    }
  }

  /** New certificates: connections with the old ones finish their exchange and are not reused. */
  #replaceMaterial(material: TlsMaterial): void {
    this.#material = material;
    for (const connection of [...this.#connections]) {
      if (connection.isUsable) connection.close();
      else connection.isRetired = true;
    }
  }
}
