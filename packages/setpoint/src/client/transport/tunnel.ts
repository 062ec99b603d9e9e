import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Clock } from "../../clock/clock.js";
import { Dialer, type DialTarget } from "./dialer.js";
import { abortedError, transportError } from "./transport-error.js";

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "socks5:": 1080,
  "socks5h:": 1080,
};
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Connects through a proxy: `http` and `https` with CONNECT, `socks5` with its own handshake. The proxy resolves the
 * server's name. The proxy's URL may contain user and password; messages never show them.
 */
export function tunnelThrough(
  proxyUrl: string,
  clock: Clock,
): (target: DialTarget, signal: AbortSignal) => Promise<Socket> {
  const url = new URL(proxyUrl);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port || DEFAULT_PORTS[url.protocol]);
  const dialer = new Dialer(
    { host, port, secure: url.protocol === "https:" },
    { clock, connectTimeoutMs: 30_000, alpn: "http/1.1" },
  );
  const handshake = url.protocol.startsWith("socks") ? socksHandshake : connectHandshake;
  return async (target, signal) => {
    const socket = await dialer.dial({}, signal);
    const refuse = (problem: string): Error =>
      transportError("TRANSPORT_REFUSED", `the proxy ${host}:${port} ${problem} (for ${target.host}:${target.port})`);
    const exchange = new Exchange(socket, refuse, signal);
    try {
      await handshake(exchange, url, target);
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      exchange.end();
    }
    return socket;
  };
}

async function connectHandshake(exchange: Exchange, url: URL, target: DialTarget): Promise<void> {
  const address = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;
  const user = userOf(url);
  const authorization = user ? `proxy-authorization: Basic ${Buffer.from(user.join(":")).toString("base64")}\r\n` : "";
  exchange.write(`CONNECT ${address} HTTP/1.1\r\nhost: ${address}\r\n${authorization}\r\n`);
  const head = (await exchange.until("\r\n\r\n")).toString("latin1");
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (!status?.startsWith("2")) throw exchange.refuse(`answered "${head.split("\r\n")[0]!.slice(0, 80)}"`);
}

async function socksHandshake(exchange: Exchange, url: URL, target: DialTarget): Promise<void> {
  const user = userOf(url);
  exchange.write(Buffer.from(user ? [5, 2, 0, 2] : [5, 1, 0]));
  const [version, method] = await exchange.take(2);
  if (version !== 5) throw exchange.refuse("does not speak SOCKS 5");
  if (method === 2 && user) {
    const [name, password] = user.map((text) => Buffer.from(text, "utf8")) as [Buffer, Buffer];
    exchange.write(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([password.length]), password]));
    const [, outcome] = await exchange.take(2);
    if (outcome !== 0) throw exchange.refuse("does not accept the user and password");
  } else if (method !== 0)
    throw exchange.refuse("wants a user and password, or an authentication method that this client lacks");
  const name = Buffer.from(target.host, "latin1");
  const port = Buffer.from([target.port >> 8, target.port & 0xff]);
  exchange.write(Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, port]));
  const [, reply, , type] = await exchange.take(4);
  if (reply !== 0) throw exchange.refuse(`could not connect (reply ${reply})`);
  const length = type === 1 ? 4 : type === 4 ? 16 : (await exchange.take(1))[0]!;
  await exchange.take(length + 2);
}

function userOf(url: URL): [string, string] | undefined {
  if (!url.username && !url.password) return undefined;
  return [decodeURIComponent(url.username), decodeURIComponent(url.password)];
}

/** The handshake with a proxy before the caller gets the connection. */
class Exchange {
  readonly #socket: Socket;
  readonly #signal: AbortSignal;
  readonly refuse: (problem: string) => Error;
  #received = Buffer.alloc(0);
  #wake: (() => void) | undefined;
  #failure: unknown;

  constructor(socket: Socket, refuse: (problem: string) => Error, signal: AbortSignal) {
    this.#socket = socket;
    this.refuse = refuse;
    this.#signal = signal;
    socket.on("data", this.#onData).on("error", this.#onClose).on("close", this.#onClose);
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  async take(length: number): Promise<Buffer> {
    while (this.#received.length < length) await this.#more();
    const bytes = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return bytes;
  }

  async until(mark: string): Promise<Buffer> {
    while (this.#received.indexOf(mark) < 0) {
      if (this.#received.length > MAX_ANSWER_BYTES) throw this.refuse("does not answer in HTTP");
      await this.#more();
    }
    return this.take(this.#received.indexOf(mark) + mark.length);
  }

  /** Passes the connection on; puts bytes that arrived too early back. */
  end(): void {
    this.#socket.off("data", this.#onData).off("error", this.#onClose).off("close", this.#onClose);
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#socket.pause();
    if (this.#received.length > 0) this.#socket.unshift(this.#received);
  }

  async #more(): Promise<void> {
    if (this.#failure === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== undefined) throw this.#failure;
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#received = Buffer.concat([this.#received, bytes]);
    this.#wake?.();
  };

  readonly #onClose = (): void => {
    this.#failure ??= this.refuse("closed the connection");
    this.#wake?.();
  };

  readonly #onAbort = (): void => {
    this.#failure ??= this.#signal.reason ?? abortedError(this.#signal);
    this.#wake?.();
  };
}
