import { Transform } from "node:stream";

const TEXT = 0x81;
const CLOSE = 0x88;

/**
 * Decodes the text messages that a server sends over a WebSocket. Supports only what these servers send: whole
 * messages, without masks. A message that is not one line is marked, so that it shows as a difference.
 */
export function webSocketTexts(): Transform {
  let waiting = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting = Buffer.concat([waiting, chunk]);
      for (;;) {
        const frame = firstFrame(waiting);
        if (frame === undefined) return done();
        waiting = waiting.subarray(frame.end);
        this.push(shown(frame.first, frame.payload));
      }
    },
  });
}

/** A client's message, masked as required: one whole message of fewer than 126 bytes. */
export function clientFrame(type: keyof typeof CLIENT_FRAMES, payload: Uint8Array | string = ""): Buffer {
  const bytes = Buffer.from(payload);
  const mask = [1, 2, 3, 4];
  return Buffer.from([
    CLIENT_FRAMES[type],
    0x80 | bytes.length,
    ...mask,
    ...bytes.map((byte, at) => byte ^ mask[at % 4]!),
  ]);
}

const CLIENT_FRAMES = { text: 0x81, binary: 0x82, close: 0x88, ping: 0x89, reserved: 0x83 } as const;

function firstFrame(bytes: Buffer): { first: number; payload: Buffer; end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]!;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < start + length) return undefined;
  return { first: bytes[0]!, payload: bytes.subarray(start, start + length), end: start + length };
}

function shown(first: number, payload: Buffer): string {
  const text = payload.toString("utf8");
  if (first === TEXT && text.indexOf("\n") === text.length - 1) return text;
  if (first === CLOSE) {
    const code = payload.length < 2 ? null : payload.readUInt16BE();
    return `${JSON.stringify({ type: "CLOSE", code })}\n`;
  }
  return `${JSON.stringify({ type: "FRAME", first, text })}\n`;
}
