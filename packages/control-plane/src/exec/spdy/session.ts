import type { Duplex } from "node:stream";
import { SetpointError } from "setpoint";
import type { Clock } from "setpoint/clock";
import { drained } from "../../websocket/response-writer.js";
import { ByteQueue } from "../byte-queue.js";
import { type HeaderBlock, HeaderReader, HeaderWriter } from "./header-block.js";

const CONTROL = 0x8003;
const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const HEADERS = 8;
const FIN = 1;
const HEAD_BYTES = 8;
/** Maximum size of a frame. Clients send far smaller ones. */
const MAX_FRAME_BYTES = 2 ** 20;
/** Maximum number of streams per connection. A command needs five. */
const MAX_STREAMS = 128;
const STREAM_MASK = 0x7fffffff;
/** A client that has not closed its side after this time is disconnected. */
const CLOSE_GRACE_MS = 2_000;

/** A stream that the client opened. */
export interface SpdyStream {
  readonly headers: HeaderBlock;
  readonly incoming: ByteQueue;
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the outgoing side. */
  end(): void;
}

interface Frame {
  readonly isControl: boolean;
  /** The type of a control frame, or the stream of a data frame. */
  readonly id: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/**
 * The server's side of SPDY/3.1, as Kubernetes uses it: the client opens streams, both sides write to them. Flow
 * control windows are ignored, as in the library of Kubernetes clients.
 */
export class SpdySession {
  readonly #connection: Duplex;
  readonly #clock: Clock;
  readonly #reader = new HeaderReader();
  readonly #writer = new HeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();
  #lastStream = 0;

  constructor(connection: Duplex, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Reads until the connection ends, and reports each opened stream. Disconnects a client that breaks the protocol. */
  async run(onStream: (stream: SpdyStream) => void): Promise<void> {
    try {
      for await (const frame of frames(this.#connection)) {
        if (frame.isControl) await this.#control(frame, onStream);
        else await this.#data(frame);
      }
    } catch {
      this.#connection.destroy();
    } finally {
      for (const { incoming } of this.#streams.values()) incoming.end();
    }
  }

  /** Sends GOAWAY and ends the connection. */
  close(): void {
    if (this.#connection.destroyed) return;
    const payload = Buffer.alloc(8);
    payload.writeUInt32BE(this.#lastStream);
    const stalled = this.#clock.timer(CLOSE_GRACE_MS, () => this.#connection.destroy()).unref();
    this.#connection.once("close", () => stalled[Symbol.dispose]());
    this.#connection.end(controlFrame(GOAWAY, payload));
  }

  async #data({ id, flags, payload }: Frame): Promise<void> {
    const incoming = this.#streams.get(id)?.incoming;
    incoming?.push(payload);
    if (flags & FIN) incoming?.end();
    await incoming?.room();
  }

  async #control({ id: type, flags, payload }: Frame, onStream: (stream: SpdyStream) => void): Promise<void> {
    switch (type) {
      case SYN_STREAM: {
        const id = payload.readUInt32BE() & STREAM_MASK;
        if (this.#streams.size >= MAX_STREAMS) throw new SetpointError("SPDY_INVALID", "there are too many streams");
        const stream = this.#open(id, await this.#reader.read(payload.subarray(10)));
        if (flags & FIN) stream.incoming.end();
        const block = await this.#writer.write(new Map());
        await this.#write(controlFrame(SYN_REPLY, Buffer.concat([payload.subarray(0, 4), block])));
        onStream(stream);
        break;
      }
      case HEADERS:
        // The headers are ignored, but must be read to keep the compression state.
        await this.#reader.read(payload.subarray(4));
        break;
      case RST_STREAM:
        this.#streams.get(payload.readUInt32BE() & STREAM_MASK)?.incoming.end();
        break;
      case PING:
        await this.#write(controlFrame(PING, payload));
        break;
    }
  }

  #open(id: number, headers: HeaderBlock): SpdyStream {
    let isEnded = false;
    const stream: SpdyStream = {
      headers,
      incoming: new ByteQueue(),
      write: async (bytes) => {
        if (!isEnded && bytes.byteLength > 0) await this.#write(dataFrame(id, 0, bytes));
      },
      end: () => {
        if (!isEnded) void this.#write(dataFrame(id, FIN, new Uint8Array()));
        isEnded = true;
      },
    };
    this.#streams.set(id, stream);
    this.#lastStream = id;
    return stream;
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#connection.destroyed || this.#connection.writableEnded) return;
    if (!this.#connection.write(bytes)) await drained(this.#connection, this.#clock);
  }
}

/** Yields the complete frames of a connection. Throws if one is too large. */
async function* frames(connection: Duplex): AsyncGenerator<Frame, void> {
  let bytes: Buffer = Buffer.alloc(0);
  for await (const chunk of connection.iterator({ destroyOnReturn: false })) {
    bytes = bytes.length === 0 ? (chunk as Buffer) : Buffer.concat([bytes, chunk as Buffer]);
    while (bytes.length >= HEAD_BYTES) {
      const length = bytes.readUIntBE(5, 3);
      if (length > MAX_FRAME_BYTES) throw new SetpointError("SPDY_INVALID", "a frame is too large");
      if (bytes.length < HEAD_BYTES + length) break;
      const isControl = (bytes[0]! & 0x80) !== 0;
      const id = isControl ? bytes.readUInt16BE(2) : bytes.readUInt32BE() & STREAM_MASK;
      const payload = bytes.subarray(HEAD_BYTES, HEAD_BYTES + length);
      yield { isControl, id, flags: bytes[4]!, payload };
      bytes = bytes.subarray(HEAD_BYTES + length);
    }
  }
}

function controlFrame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16BE(CONTROL);
  head.writeUInt16BE(type, 2);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

function dataFrame(stream: number, flags: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(stream);
  head[4] = flags;
  head.writeUIntBE(payload.byteLength, 5, 3);
  return Buffer.concat([head, payload]);
}
