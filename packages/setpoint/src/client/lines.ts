import { Buffer } from "node:buffer";
import { SetpointError } from "../errors/error.js";

/** Receives one line without its newline as `bytes[start, end)`. The range is valid during the call only if copied. */
export type LineHandler = (bytes: Buffer, start: number, end: number) => void;

export interface LineOptions {
  /** A longer line is an error. Defaults to 64 MiB: far above what a server stores, far below what ends a process. */
  readonly maxLineBytes?: number;
}

const NEWLINE = 0x0a;
const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Cuts a byte stream into lines without decoding or copying: a line that lies within one chunk is handed out as a range
 * of that chunk, and only one that spans chunks is put together. Bytes are never turned into text here, so it does not
 * matter where a chunk ends, be it within a character.
 */
export class LineDecoder {
  readonly #maxLineBytes: number;
  /** The pieces of a line whose newline has not come yet. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  constructor(options: LineOptions = {}) {
    this.#maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  }

  /** Calls `onLine` for each line that `chunk` completes; empty lines are skipped. */
  push(chunk: Uint8Array, onLine: LineHandler): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      if (this.#pendingBytes > 0) this.#complete(bytes.subarray(start, end), onLine);
      else if (end > start) {
        this.#check(end - start);
        onLine(bytes, start, end);
      }
      start = end + 1;
    }
    if (start < bytes.length) {
      this.#check(this.#pendingBytes + bytes.length - start);
      this.#pending.push(start === 0 ? bytes : bytes.subarray(start));
      this.#pendingBytes += bytes.length - start;
    }
  }

  /** Says that the stream has ended. Throws `STREAM_TRUNCATED` where it ended within a line. */
  end(): void {
    if (this.#pendingBytes === 0) return;
    const message = `the stream ended within a line, after ${this.#pendingBytes} bytes of it`;
    this.#pending = [];
    this.#pendingBytes = 0;
    throw new SetpointError("STREAM_TRUNCATED", message);
  }

  #complete(rest: Uint8Array, onLine: LineHandler): void {
    this.#check(this.#pendingBytes + rest.length);
    const line = Buffer.concat([...this.#pending, rest], this.#pendingBytes + rest.length);
    this.#pending = [];
    this.#pendingBytes = 0;
    onLine(line, 0, line.length);
  }

  #check(length: number): void {
    if (length <= this.#maxLineBytes) return;
    throw new SetpointError("STREAM_LINE_TOO_LONG", `a line of the stream is longer than ${this.#maxLineBytes} bytes`);
  }
}

/**
 * The lines of a body, as bytes; each is a view of the chunk that it came in, so copy what is to be kept. Rejects with
 * `STREAM_TRUNCATED` where the body ends within a line and with `STREAM_LINE_TOO_LONG`. Leaving the loop closes the body.
 */
export async function* lines(body: AsyncIterable<Uint8Array>, options?: LineOptions): AsyncGenerator<Buffer, void> {
  const decoder = new LineDecoder(options);
  const ready: Buffer[] = [];
  const collect: LineHandler = (bytes, start, end) => ready.push(bytes.subarray(start, end));
  for await (const chunk of body) {
    decoder.push(chunk, collect);
    for (const line of ready) yield line;
    ready.length = 0;
  }
  decoder.end();
}
