import type { Socket } from "node:net";
import type { createSecureContext, SecureContext, TLSSocket } from "node:tls";
import type { Clock } from "../../clock/clock.js";
import { type OnBytes, readInto } from "./read-arena.js";
import { abortedError, describe, transportError } from "./transport-error.js";

/** The certificates of a TLS connection. A new value means that earlier connections must not be used again. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly insecure?: boolean;
}

/**
 * Called before each request, because files and plugins may have new certificates. Returns the same value while nothing
 * changed.
 */
export type TlsSource = (signal?: AbortSignal) => Promise<TlsMaterial> | TlsMaterial;

export interface DialTarget {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

export interface DialOptions {
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly alpn: string;
  /** Makes the TCP connection instead of the dialer: a proxy's tunnel. */
  readonly tunnel?: (target: DialTarget, signal: AbortSignal) => Promise<Socket>;
}

/** The kernel probes a silent peer after this long, which finds a dead peer on an idle connection. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** Opens TCP and TLS connections to one server. */
export class Dialer {
  readonly #target: DialTarget;
  readonly #options: DialOptions;
  #material: TlsMaterial | undefined;
  #context: SecureContext | undefined;

  constructor(target: DialTarget, options: DialOptions) {
    this.#target = target;
    this.#options = options;
  }

  /**
   * Rejects with `TRANSPORT_REFUSED`, `TRANSPORT_UNTRUSTED`, `TRANSPORT_TIMEOUT` or `ABORTED`; nothing was sent then.
   * With `onBytes`, received bytes go there and the socket emits no `data`.
   */
  async dial(material: TlsMaterial, signal?: AbortSignal, onBytes?: OnBytes): Promise<Socket> {
    if (signal?.aborted) throw abortedError(signal);
    const { clock, connectTimeoutMs } = this.#options;
    const deadline = new AbortController();
    const onAbort = (): void => deadline.abort(abortedError(signal!));
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = clock.timer(connectTimeoutMs, () => {
      const message = `no connection to ${this.#name()} within ${connectTimeoutMs / 1000} s`;
      deadline.abort(transportError("TRANSPORT_TIMEOUT", message));
    });
    try {
      if (!this.#target.secure) return await this.#connect(deadline.signal, onBytes);
      const plain = this.#options.tunnel && (await this.#options.tunnel(this.#target, deadline.signal));
      return await this.#secure(plain, material, deadline.signal, onBytes);
    } finally {
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async #connect(signal: AbortSignal, onBytes?: OnBytes): Promise<Socket> {
    const { tunnel } = this.#options;
    if (tunnel) return listening(await tunnel(this.#target, signal), onBytes);
    const { connect } = process.getBuiltinModule("node:net");
    const { host, port } = this.#target;
    const socket = connect({ host, port, noDelay: true, ...(onBytes ? { onread: readInto(onBytes) } : {}) });
    await this.#opened(socket, "connect", signal);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    return socket;
  }

  /** TLS over `plain`, or over a new connection. */
  async #secure(
    plain: Socket | undefined,
    material: TlsMaterial,
    signal: AbortSignal,
    onBytes?: OnBytes,
  ): Promise<Socket> {
    const tls = process.getBuiltinModule("node:tls");
    const secureContext = this.#contextOf(material, tls.createSecureContext);
    const { host, port } = this.#target;
    const socket: TLSSocket = tls.connect({
      host,
      ...(plain ? { socket: plain } : { port, ...(onBytes ? { onread: readInto(onBytes) } : {}) }),
      secureContext,
      rejectUnauthorized: !material.insecure,
      ALPNProtocols: [this.#options.alpn],
      ...(material.serverName ? { servername: material.serverName } : {}),
    });
    await this.#opened(socket, "secureConnect", signal);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    return plain ? listening(socket, onBytes) : socket;
  }

  /** Cached per material: parsing certificates costs more than a handshake. */
  #contextOf(material: TlsMaterial, create: typeof createSecureContext): SecureContext {
    if (material === this.#material && this.#context) return this.#context;
    const { ca, cert, key } = material;
    try {
      this.#context = create({ ca, cert, key });
    } catch (error) {
      const message = `the certificates for ${this.#name()} cannot be used: ${describe(error)}`;
      throw transportError("TRANSPORT_UNTRUSTED", message, error);
    }
    this.#material = material;
    return this.#context;
  }

  #opened(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        socket.off(event, onOpen).off("error", onError).off("close", onClose);
        signal.removeEventListener("abort", onAbort);
      };
      const fail = (error: unknown): void => {
        settle();
        socket.on("error", () => {});
        socket.destroy();
        reject(error);
      };
      const onOpen = (): void => {
        settle();
        resolve();
      };
      const onError = (error: Error): void => fail(this.#failure(error));
      const onClose = (): void => fail(this.#failure(new Error("the connection was closed")));
      const onAbort = (): void => fail(signal.reason);
      socket.once(event, onOpen).once("error", onError).once("close", onClose);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  #failure(error: Error): Error {
    if (isTrustError(error)) {
      return transportError("TRANSPORT_UNTRUSTED", `${this.#name()} is not trusted: ${describe(error)}`, error);
    }
    return transportError("TRANSPORT_REFUSED", `cannot connect to ${this.#name()}: ${describe(error)}`, error);
  }

  #name(): string {
    return `${this.#target.host}:${this.#target.port}`;
  }
}

/** A retry does not help here, and could hide an attack. */
function isTrustError(error: NodeJS.ErrnoException): boolean {
  const code = error.code ?? "";
  return (
    /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH|INVALID_PURPOSE)/.test(code) ||
    code.startsWith("ERR_TLS_CERT") ||
    code.startsWith("ERR_SSL_")
  );
}

function listening(socket: Socket, onBytes: OnBytes | undefined): Socket {
  return onBytes ? socket.on("data", onBytes) : socket;
}
