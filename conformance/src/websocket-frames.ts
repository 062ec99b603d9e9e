import { Transform } from "node:stream";

const TEXT = 0x81;
const CLOSE = 0x88;

/**
 * Turns what a server sends over a WebSocket into its texts. Knows what these servers send and nothing else: whole
 * messages, without masks. A message that is not one line is shown as such, so that it makes a difference.
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
  if (first === CLOSE) return `${JSON.stringify({ type: "CLOSE", code: payload.readUInt16BE() })}\n`;
  return `${JSON.stringify({ type: "FRAME", first, text })}\n`;
}
