/** A fault that ends a connection, with the code for its close frame (RFC 6455, 7.4.1). */
export class WebSocketFault extends Error {
  readonly closeCode: number;

  constructor(closeCode: number, message: string) {
    super(message);
    this.closeCode = closeCode;
  }
}

export const CLOSE_NORMAL = 1000;
export const CLOSE_PROTOCOL_ERROR = 1002;
const CLOSE_INVALID_TEXT = 1007;
const CLOSE_TOO_LARGE = 1009;
/** Denotes a close frame without a code. Never sent. */
const CLOSE_NO_CODE = 1005;

const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A whole message, from any number of frames, or a control frame. */
export type WebSocketMessage =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "binary"; readonly bytes: Buffer }
  | { readonly type: "ping" | "pong"; readonly bytes: Buffer }
  | { readonly type: "close"; readonly code: number; readonly reason: string };

const FIN = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const IS_CONTROL = 0x08;
const MAX_CONTROL_BYTES = 125;
const MASK_BYTES = 4;
const NOTHING = Buffer.alloc(0);

/** One unfragmented frame. A client must mask its frames with four bytes; a server must not. */
export function frame(type: WebSocketMessage["type"], payload: Uint8Array, mask?: Uint8Array): Buffer {
  return frameOf(FIN | OPCODES[type], payload, mask);
}

/** One frame with this first byte, which holds the opcode and the FIN bit. */
export function frameOf(firstByte: number, payload: Uint8Array, mask?: Uint8Array): Buffer {
  const { byteLength } = payload;
  const lengthBytes = byteLength <= MAX_CONTROL_BYTES ? 0 : byteLength < 2 ** 16 ? 2 : 8;
  const start = 2 + lengthBytes + (mask === undefined ? 0 : MASK_BYTES);
  const bytes = Buffer.allocUnsafe(start + byteLength);
  bytes[0] = firstByte;
  const short = lengthBytes === 0 ? byteLength : lengthBytes === 2 ? 126 : 127;
  bytes[1] = (mask === undefined ? 0 : MASKED) | short;
  if (lengthBytes === 2) bytes.writeUInt16BE(byteLength, 2);
  else if (lengthBytes === 8) bytes.writeBigUInt64BE(BigInt(byteLength), 2);
  bytes.set(payload, start);
  if (mask !== undefined) {
    bytes.set(mask, start - MASK_BYTES);
    applyMask(bytes.subarray(start), mask);
  }
  return bytes;
}

/** The payload of a close frame. */
export function closePayload(code: number, reason = ""): Buffer {
  const payload = Buffer.allocUnsafe(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code);
  payload.write(reason, 2);
  return payload;
}

export interface FrameReaderOptions {
  /** Whether the other side is a client, whose frames are masked. */
  readonly isMasked: boolean;
  /** The maximum size of one message, over all its frames. */
  readonly maxMessageBytes: number;
}

interface FrameHead {
  readonly isLast: boolean;
  readonly opcode: number;
  readonly mask: Buffer | undefined;
  readonly payloadBytes: number;
}

/** Reads frames from arbitrary chunks. Buffers at most one message and one frame header. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  /** The bytes of an incomplete header. */
  #headBytes: Buffer = NOTHING;
  #head: FrameHead | undefined;
  /** The payload buffer of the current frame, and how much of it is filled. */
  #payload: Buffer = NOTHING;
  #filledBytes = 0;
  /** State of the message whose last frame has not arrived. */
  #opcode: number | undefined;
  #fragments: Buffer[] = [];
  #fragmentBytes = 0;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Yields the messages that these bytes complete. Throws a `WebSocketFault`, after which nothing may be read. */
  *read(bytes: Buffer): Generator<WebSocketMessage, void> {
    let rest = bytes;
    for (;;) {
      if (this.#head === undefined) {
        const taken = this.#readHead(rest);
        if (taken === undefined) return;
        rest = rest.subarray(taken);
      }
      // Copy: unmasking must not change the caller's bytes, and many small chunks would take many times their size.
      const copied = rest.copy(this.#payload, this.#filledBytes);
      this.#filledBytes += copied;
      rest = rest.subarray(copied);
      if (this.#filledBytes < this.#payload.length) return;
      const message = this.#endFrame();
      if (message !== undefined) yield message;
    }
  }

  /**
   * Returns how many of these bytes belong to the header that they complete. Returns undefined if the header is still
   * incomplete, and keeps all bytes.
   */
  #readHead(bytes: Buffer): number | undefined {
    const kept = this.#headBytes.length;
    const known = kept === 0 ? bytes : Buffer.concat([this.#headBytes, bytes.subarray(0, MAX_HEAD_BYTES)]);
    const headBytes = headLength(known);
    if (headBytes === undefined) {
      this.#headBytes = known;
      return undefined;
    }
    const head = parseHead(known, headBytes);
    this.#check(head);
    this.#headBytes = NOTHING;
    this.#head = head;
    this.#payload = Buffer.allocUnsafe(head.payloadBytes);
    this.#filledBytes = 0;
    return headBytes - kept;
  }

  #check({ isLast, opcode, mask, payloadBytes }: FrameHead): void {
    const { isMasked, maxMessageBytes } = this.#options;
    if ((mask !== undefined) !== isMasked) throw protocolError(isMasked ? "a frame has no mask" : "a frame has a mask");
    if (TYPES[opcode] === undefined) throw protocolError(`the opcode ${opcode} has no meaning`);
    if (opcode & IS_CONTROL) {
      if (!isLast) throw protocolError("a control frame is fragmented");
      if (payloadBytes > MAX_CONTROL_BYTES) throw protocolError("a control frame is too long");
      return;
    }
    const isContinuation = opcode === OPCODES.continuation;
    if (isContinuation !== (this.#opcode !== undefined)) {
      throw protocolError(
        isContinuation ? "a continuation frame without a message" : "a new message begins inside another",
      );
    }
    if (this.#fragmentBytes + payloadBytes > maxMessageBytes) {
      throw new WebSocketFault(CLOSE_TOO_LARGE, `a message is larger than ${maxMessageBytes} bytes`);
    }
  }

  #addFragment(payload: Buffer): void {
    if (payload.length === 0) return;
    // Thousands of tiny fragments would also take many times their size.
    if (this.#fragments.length === MAX_FRAGMENTS) this.#fragments = [Buffer.concat(this.#fragments)];
    this.#fragments.push(payload);
    this.#fragmentBytes += payload.length;
  }

  /** Ends the current frame. Returns the message that it completes, if any. */
  #endFrame(): WebSocketMessage | undefined {
    const { opcode, isLast, mask } = this.#head!;
    const payload = this.#payload;
    if (mask !== undefined) applyMask(payload, mask);
    this.#head = undefined;
    this.#payload = NOTHING;
    if (opcode & IS_CONTROL) return controlMessage(opcode, payload);
    this.#opcode ??= opcode;
    this.#addFragment(payload);
    if (!isLast) return undefined;
    const bytes = this.#fragments.length === 1 ? this.#fragments[0]! : Buffer.concat(this.#fragments);
    const isText = this.#opcode === OPCODES.text;
    this.#opcode = undefined;
    this.#fragments = [];
    this.#fragmentBytes = 0;
    return isText ? { type: "text", text: textOf(bytes) } : { type: "binary", bytes };
  }
}

const MAX_FRAGMENTS = 1024;
const MAX_HEAD_BYTES = 2 + 8 + MASK_BYTES;
const TYPES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(OPCODES).map(([type, opcode]) => [opcode, type]),
);

function headLength(bytes: Buffer): number | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & ~MASKED;
  const length = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (bytes[1]! & MASKED ? MASK_BYTES : 0);
  return bytes.length < length ? undefined : length;
}

function parseHead(bytes: Buffer, headBytes: number): FrameHead {
  const first = bytes[0]!;
  if (first & RESERVED) throw protocolError("a reserved bit is set, and no extension was agreed on");
  const short = bytes[1]! & ~MASKED;
  const payloadBytes = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const isMasked = (bytes[1]! & MASKED) !== 0;
  return {
    isLast: (first & FIN) !== 0,
    opcode: first & 0x0f,
    mask: isMasked ? Buffer.from(bytes.subarray(headBytes - MASK_BYTES, headBytes)) : undefined,
    payloadBytes,
  };
}

function controlMessage(opcode: number, bytes: Buffer): WebSocketMessage {
  if (opcode !== OPCODES.close) return { type: opcode === OPCODES.ping ? "ping" : "pong", bytes };
  if (bytes.length === 0) return { type: "close", code: CLOSE_NO_CODE, reason: "" };
  if (bytes.length === 1) throw protocolError("a close frame has half a code");
  return { type: "close", code: bytes.readUInt16BE(), reason: textOf(bytes.subarray(2)) };
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new WebSocketFault(CLOSE_INVALID_TEXT, "a text message is not UTF-8");
  }
}

function applyMask(bytes: Buffer, mask: Uint8Array): void {
  for (let at = 0; at < bytes.length; at++) bytes[at]! ^= mask[at & 3]!;
}

function protocolError(message: string): WebSocketFault {
  return new WebSocketFault(CLOSE_PROTOCOL_ERROR, message);
}
