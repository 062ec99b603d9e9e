import { STATUS_CODES } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Clock } from "setpoint/clock";
import type { ApiResponse } from "../api/api-request.js";
import { latest } from "../api/memoized.js";
import { drained, taken } from "../websocket/response-writer.js";
import { type PlainRequest, PlainRequests } from "./plain-request.js";
import type { Turn } from "./turn.js";

export interface PlainConnectionOptions {
  readonly socket: TLSSocket;
  /** Shared by all connections of a server. */
  readonly turn: Turn;
  readonly clock: Clock;
  /** Clock of the idle timeout. */
  readonly socketClock: Clock;
  /** Whether to close the connection after the current response. */
  readonly isLast: () => boolean;
  readonly answer: (request: PlainRequest) => Promise<ApiResponse>;
  /** Called around each request. `onDone` receives an error that prevented a full response. */
  readonly onStart: () => void;
  readonly onDone: (request: PlainRequest, error?: unknown) => void;
  /** Hands the socket to Node, with the bytes of the next request put back. */
  readonly handOver: () => void;
}

/** Bytes that may wait behind a request in flight before the socket is paused. */
const MAX_WAITING_BYTES = 64 * 1024;
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const INVALID_VALUE = /[^\t -~\x80-\xff]/;

/**
 * Serves HTTP/1.1 on a socket while its requests are plain. A get takes half of Node's processor time (figures in
 * docs/dependencies.md). The first request that is not plain, and all after it, go to Node.
 */
export class PlainConnection {
  readonly #options: PlainConnectionOptions;
  readonly #socket: TLSSocket;
  readonly #requests = new PlainRequests();
  /** Received bytes that are not parsed yet. */
  #waiting: Buffer | undefined;
  /** A request is being answered, or has arrived and starts at the end of the turn. */
  #isBusy = false;
  #idleSinceMs: number;

  constructor(options: PlainConnectionOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#idleSinceMs = this.#options.socketClock.monotonic();
    this.#socket.on("data", this.#onData);
  }

  /** Closes the connection if it has waited for a request since before `sinceMs`. A silent watch is not idle. */
  closeIfIdle(sinceMs: number): void {
    if (!this.#isBusy && this.#idleSinceMs < sinceMs) this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#waiting = this.#waiting === undefined ? chunk : Buffer.concat([this.#waiting, chunk]);
    if (!this.#isBusy) {
      this.#isBusy = true;
      this.#options.turn.take(this.#next);
    } else if (this.#waiting.length > MAX_WAITING_BYTES) this.#socket.pause();
  };

  readonly #next = (): void => {
    if (this.#socket.destroyed) return;
    const bytes = this.#waiting!;
    const request = this.#requests.parse(bytes);
    if (request === undefined) {
      this.#handOver(bytes);
      return;
    }
    this.#waiting = request.byteLength === bytes.length ? undefined : bytes.subarray(request.byteLength);
    void this.#serve(request);
  };

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    socket.off("data", this.#onData);
    socket.pause();
    socket.unshift(bytes);
    this.#options.handOver();
    socket.resume();
  }

  async #serve(request: PlainRequest): Promise<void> {
    const { answer, onStart, onDone, isLast } = this.#options;
    const socket = this.#socket;
    let isEnd = false;
    onStart();
    try {
      const response = await answer(request);
      isEnd = isLast();
      if (!socket.destroyed) await this.#write(response, isEnd);
    } catch (error) {
      onDone(request, error);
      socket.destroy();
      return;
    }
    onDone(request);
    if (isEnd) {
      socket.end();
      return;
    }
    this.#idleSinceMs = this.#options.socketClock.monotonic();
    this.#isBusy = this.#waiting !== undefined;
    if (socket.destroyed || !this.#isBusy) return;
    this.#next();
    if (socket.isPaused()) socket.resume();
  }

  async #write({ status, headers, body }: ApiResponse, isEnd: boolean): Promise<void> {
    const head = headText(status, headers, this.#options.clock.now()) + (isEnd ? "connection: close\r\n" : "");
    if (!(body instanceof Uint8Array)) return this.#stream(`${head}transfer-encoding: chunked\r\n\r\n`, body);
    const hasBody = status !== 204 && status !== 304;
    const text = hasBody ? `${head}content-length: ${body.byteLength}\r\n\r\n` : `${head}\r\n`;
    // Write head and body at once: one TLS record and one system call.
    const bytes = Buffer.allocUnsafe(text.length + (hasBody ? body.byteLength : 0));
    bytes.write(text, "latin1");
    if (hasBody) bytes.set(body, text.length);
    if (!this.#socket.write(bytes)) await drained(this.#socket, this.#options.clock);
  }

  async #stream(head: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    const socket = this.#socket;
    socket.write(head, "latin1");
    try {
      for await (const chunk of body) {
        if (socket.destroyed) return;
        if (chunk.byteLength === 0) continue;
        if (!socket.write(chunkBytes(chunk))) await drained(socket, this.#options.clock);
      }
    } catch (error) {
      socket.destroy();
      throw error;
    }
    if (!socket.destroyed) await taken(socket, LAST_CHUNK, this.#options.clock);
  }
}

/** Watches share events, so they also share the framed chunks. */
const chunkBytes = latest((chunk: Uint8Array): Buffer => {
  const size = `${chunk.byteLength.toString(16)}\r\n`;
  const bytes = Buffer.allocUnsafe(size.length + chunk.byteLength + 2);
  bytes.write(size, "latin1");
  bytes.set(chunk, size.length);
  bytes.write("\r\n", size.length + chunk.byteLength, "latin1");
  return bytes;
});

function headText(status: number, headers: ApiResponse["headers"], nowMs: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\ndate: ${dateOfSecond(Math.floor(nowMs / 1000))}\r\n${headerLines(headers)}`;
}

/** Cached: most responses have the same headers as the one before. */
const headerLines = latest((headers: ApiResponse["headers"]): string => {
  let lines = "";
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === "string") lines += headerLine(name, value);
    else for (const each of value) lines += headerLine(name, each);
  }
  return lines;
});

/** Rejects values that could break out of their line. */
function headerLine(name: string, value: string): string {
  if (INVALID_VALUE.test(value)) throw new TypeError(`the header ${name} has a value that no header can have`);
  return `${name}: ${value}\r\n`;
}

/** Cached: thousands of responses share the date of a second. */
const dateOfSecond = latest((second: number): string => new Date(second * 1000).toUTCString());
