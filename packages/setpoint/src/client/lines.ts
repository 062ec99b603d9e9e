import { Buffer } from "node:buffer";
import { SetpointError } from "../errors/error.js";
import { copyBytes } from "./transport/copy-bytes.js";

/** Receives one line without its newline as `bytes[start, end)`. The range is valid during the call only. */
export type LineHandler = (bytes: Buffer, start: number, end: number) => void;

export interface LineOptions {
  /** A longer line is an error. Defaults to 64 MiB: far more than a server stores, far less than would exhaust memory. */
  readonly maxLineBytes?: number;
}

const NEWLINE = 0x0a;
const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/** The memory of a carried line up to this size is kept for the next one. */
const KEPT_CARRY_BYTES = 64 * 1024;

/**
 * Splits a byte stream into lines without decoding them. A line within one chunk is a range of that chunk; only lines
 * that span chunks are copied. It never converts bytes to text, so a chunk may end within a character. It keeps no
 * chunk after the call, so the chunk's memory may be reused.
 */
export class LineDecoder {
  readonly #maxLineBytes: number;
  /** The start of a line whose newline has not come yet: `#carry[0, #carried)`. */
  #carry: Buffer = Buffer.alloc(0);
  #carried = 0;

  constructor(options: LineOptions = {}) {
    this.#maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  }

  /** Calls `onLine` for each line that `chunk` completes; empty lines are skipped. */
  push(chunk: Uint8Array, onLine: LineHandler): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      if (this.#carried > 0) {
        this.#append(bytes, start, end);
        this.#complete(onLine);
      } else if (end > start) {
        this.#check(end - start);
        onLine(bytes, start, end);
      }
      start = end + 1;
    }
    if (start < bytes.length) this.#append(bytes, start, bytes.length);
  }

  /** Ends the stream. Throws `STREAM_TRUNCATED` if it ended in the middle of a line. */
  end(): void {
    if (this.#carried === 0) return;
    const message = `the stream ended in the middle of a line, after ${this.#carried} bytes`;
    this.#carried = 0;
    throw new SetpointError("STREAM_TRUNCATED", message);
  }

  #append(bytes: Buffer, start: number, end: number): void {
    const length = this.#carried + end - start;
    this.#check(length);
    if (length > this.#carry.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(4096, length * 2));
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    copyBytes(bytes, start, end, this.#carry, this.#carried);
    this.#carried = length;
  }

  #complete(onLine: LineHandler): void {
    const line = this.#carry;
    const length = this.#carried;
    this.#carried = 0;
    if (line.length > KEPT_CARRY_BYTES) this.#carry = Buffer.alloc(0);
    onLine(line, 0, length);
  }

  #check(length: number): void {
    if (length <= this.#maxLineBytes) return;
    throw new SetpointError("STREAM_LINE_TOO_LONG", `a line of the stream is longer than ${this.#maxLineBytes} bytes`);
  }
}

/**
 * The lines of a body, as separate byte arrays. Rejects with `STREAM_TRUNCATED` if the body ends in the middle of a
 * line, and with `STREAM_LINE_TOO_LONG`. Leaving the loop closes the body.
 */
export async function* lines(body: AsyncIterable<Uint8Array>, options?: LineOptions): AsyncGenerator<Buffer, void> {
  const decoder = new LineDecoder(options);
  const ready: Buffer[] = [];
  const collect: LineHandler = (bytes, start, end) => ready.push(Buffer.from(bytes.subarray(start, end)));
  for await (const chunk of body) {
    decoder.push(chunk, collect);
    for (const line of ready) yield line;
    ready.length = 0;
  }
  decoder.end();
}
