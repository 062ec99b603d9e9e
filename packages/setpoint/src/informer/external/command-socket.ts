import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Clock } from "../../clock/clock.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import { SetpointError } from "../../errors/error.js";

/** Reads one reply from the start of `bytes`; undefined if it is incomplete. */
export type ParseReply<Reply> = (bytes: Buffer) => { readonly reply: Reply; readonly length: number } | undefined;

interface Waiting<Reply> {
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

const DEFAULT_TIMEOUT_MS = 5000;

/**
 * A connection that answers commands in order; it reconnects on demand. A command whose connection breaks, or that is
 * not answered in time, rejects with `BODY_STORE_FAILED`; it may have taken effect.
 */
export class CommandSocket<Reply> implements AsyncDisposable {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #parse: ParseReply<Reply>;
  #socket: Promise<Socket> | undefined;
  #waiting: Waiting<Reply>[] = [];
  #received: Buffer = Buffer.alloc(0);

  constructor(
    address: { readonly host: string; readonly port: number; readonly timeout?: Duration | undefined },
    clock: Clock,
    parse: ParseReply<Reply>,
  ) {
    this.#address = address;
    this.#clock = clock;
    this.#timeoutMs = parseDuration(address.timeout ?? DEFAULT_TIMEOUT_MS, "timeout");
    this.#parse = parse;
  }

  async send(command: Buffer): Promise<Reply> {
    this.#socket ??= this.#connect();
    const socket = await this.#socket;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.timer(this.#timeoutMs, () => socket.destroy(new Error("no answer in time")));
      const settle = (): void => timer[Symbol.dispose]();
      this.#waiting.push({
        resolve: (reply) => {
          settle();
          resolve(reply);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      socket.write(command);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const socket = await this.#socket?.catch(() => undefined);
    socket?.destroy();
  }

  async #connect(): Promise<Socket> {
    const { connect } = process.getBuiltinModule("node:net");
    return new Promise((resolve, reject) => {
      const socket = connect({ ...this.#address, noDelay: true });
      let failure: unknown;
      const timer = this.#clock.timer(this.#timeoutMs, () => socket.destroy(new Error("no connection in time")));
      socket.once("connect", () => {
        timer[Symbol.dispose]();
        resolve(socket);
      });
      socket.on("data", (bytes) => this.#onData(socket, bytes));
      socket.on("error", (error) => (failure = error));
      socket.on("close", () => {
        timer[Symbol.dispose]();
        const error = this.#failed(failure);
        reject(error);
        this.#socket = undefined;
        this.#received = Buffer.alloc(0);
        for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
      });
    });
  }

  #onData(socket: Socket, bytes: Buffer): void {
    let rest = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    try {
      for (let parsed = this.#parse(rest); parsed; parsed = this.#parse(rest)) {
        rest = rest.subarray(parsed.length);
        this.#waiting.shift()?.resolve(parsed.reply);
      }
    } catch (error) {
      socket.destroy(error as Error);
    }
    this.#received = rest;
  }

  #failed(cause: unknown): SetpointError {
    const { host, port } = this.#address;
    const why = cause instanceof Error ? cause.message : "the connection was closed";
    return new SetpointError("BODY_STORE_FAILED", `${host}:${port}: ${why}`, { cause });
  }
}
