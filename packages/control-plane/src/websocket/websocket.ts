import type { Duplex } from "node:stream";
import type { Clock } from "setpoint/clock";
import { CLOSE_NORMAL, closePayload, FrameReader, frame, WebSocketFault, type WebSocketMessage } from "./frame.js";
import { drained } from "./response-writer.js";

export interface WebSocketOptions {
  readonly clock: Clock;
  /** Larger messages end the connection. */
  readonly maxMessageBytes?: number;
  /** Returns the four mask bytes of a client's frame. Undefined on the server side. */
  readonly nextMask?: () => Uint8Array;
}

export type WebSocketData = Extract<WebSocketMessage, { type: "text" | "binary" }>;

const MAX_MESSAGE_BYTES = 2 ** 20;

/**
 * One side of a WebSocket connection. The owner must read {@link messages} to the end, even if it expects none:
 * reading answers pings and notices when the peer leaves.
 */
export class WebSocketConnection {
  readonly #stream: Duplex;
  readonly #clock: Clock;
  readonly #nextMask: (() => Uint8Array) | undefined;
  readonly #reader: FrameReader;
  #hasSentClose = false;

  constructor(stream: Duplex, { clock, nextMask, maxMessageBytes = MAX_MESSAGE_BYTES }: WebSocketOptions) {
    this.#stream = stream;
    this.#clock = clock;
    this.#nextMask = nextMask;
    this.#reader = new FrameReader({ isMasked: nextMask === undefined, maxMessageBytes });
  }

  /** The peer's messages, with backpressure. Ends when either side closes or the connection breaks. */
  async *messages(): AsyncGenerator<WebSocketData, void> {
    try {
      for await (const chunk of this.#stream.iterator({ destroyOnReturn: false })) {
        for (const message of this.#reader.read(chunk)) {
          if (message.type === "text" || message.type === "binary") yield message;
          else if (message.type === "ping") await this.#write(frame("pong", message.bytes, this.#nextMask?.()));
          else if (message.type === "close") return this.close();
        }
      }
      this.close();
    } catch (error) {
      if (error instanceof WebSocketFault) this.close(error.closeCode, error.message);
      else this.#stream.destroy();
    }
  }

  /** Resolves when there is room for more. Disconnects a peer that does not read. Sends nothing after a close. */
  send(data: string | Uint8Array): Promise<void> {
    const payload = typeof data === "string" ? Buffer.from(data) : data;
    return this.#write(frame(typeof data === "string" ? "text" : "binary", payload, this.#nextMask?.()));
  }

  /** Sends a close frame and then ends the connection. */
  close(code = CLOSE_NORMAL, reason = ""): void {
    if (this.#hasSentClose) return;
    this.#hasSentClose = true;
    if (this.#stream.destroyed) return;
    const stalled = this.#clock.timer(CLOSE_GRACE_MS, () => this.#stream.destroy()).unref();
    this.#stream.once("close", () => stalled[Symbol.dispose]());
    this.#stream.end(frame("close", closePayload(sendable(code), reason), this.#nextMask?.()));
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#hasSentClose || this.#stream.destroyed) return;
    if (!this.#stream.write(bytes)) await drained(this.#stream, this.#clock);
  }
}

/** A client that has not closed its side after this time is disconnected. */
const CLOSE_GRACE_MS = 2_000;

/** 1005, 1006 and 1015 denote closes without a code and are never sent. */
function sendable(code: number): number {
  return code === 1005 || code === 1006 || code === 1015 || code > 4999 ? CLOSE_NORMAL : code;
}
