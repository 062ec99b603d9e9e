import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closePayload, FrameReader, frame, frameOf, WebSocketFault, type WebSocketMessage } from "./frame.js";

const MASK = Uint8Array.of(1, 2, 3, 250);
const LIMIT = 200_000;

const reader = (isMasked = true): FrameReader => new FrameReader({ isMasked, maxMessageBytes: LIMIT });

const readAll = (frames: FrameReader, chunks: readonly Buffer[]): WebSocketMessage[] =>
  chunks.flatMap((chunk) => [...frames.read(chunk)]);

/** The bytes in pieces that end at these positions. */
const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
};

const closeCodeOf = (read: () => unknown): number | undefined => {
  try {
    read();
  } catch (error) {
    if (error instanceof WebSocketFault) return error.closeCode;
    throw error;
  }
  return undefined;
};

const message = fc.oneof(
  fc.string({ unit: "binary", maxLength: 70 }).map((text) => ({ type: "text" as const, text })),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ type: "binary" as const, bytes: Buffer.from(bytes) })),
  fc.constantFrom(0, 125, 126, 65_535, 65_536, LIMIT).map((size) => ({
    type: "binary" as const,
    bytes: Buffer.alloc(size, size % 256),
  })),
);

/** As strings, because comparing large buffers byte by byte takes too long. */
const inShort = (each: WebSocketMessage): unknown =>
  "bytes" in each ? [each.type, each.bytes.toString("latin1")] : each;

const payloadOf = (each: { type: "text"; text: string } | { type: "binary"; bytes: Buffer }): Buffer =>
  each.type === "text" ? Buffer.from(each.text) : each.bytes;

describe("frames of a WebSocket", () => {
  it("are read however messages are fragmented and bytes arrive, with pings in between", () => {
    const step = fc.record({ message, fragments: fc.array(fc.nat(), { maxLength: 3 }), ping: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        (steps, cuts, isMasked) => {
          const mask = isMasked ? MASK : undefined;
          const expected: WebSocketMessage[] = [];
          const sent: Buffer[] = [];
          for (const { message: whole, fragments, ping } of steps) {
            const parts = cut(payloadOf(whole), fragments);
            parts.forEach((part, at) => {
              const opcode = at > 0 ? 0 : whole.type === "text" ? 1 : 2;
              sent.push(frameOf(opcode | (at === parts.length - 1 ? 0x80 : 0), part, mask));
              if (!ping || at === parts.length - 1) return;
              sent.push(frame("ping", Buffer.from("p"), mask));
              expected.push({ type: "ping", bytes: Buffer.from("p") });
            });
            expected.push(whole);
          }
          const read = readAll(reader(isMasked), cut(Buffer.concat(sent), cuts));
          expect(read.map(inShort)).toEqual(expected.map(inShort));
        },
      ),
    );
  });

  it("are read byte by byte", () => {
    const bytes = Buffer.concat([
      frame("text", Buffer.from("héllo"), MASK),
      frame("close", closePayload(1001, "off"), MASK),
    ]);
    expect(
      readAll(
        reader(),
        [...bytes].map((byte) => Buffer.of(byte)),
      ),
    ).toEqual([
      { type: "text", text: "héllo" },
      { type: "close", code: 1001, reason: "off" },
    ]);
  });

  it("are put together from thousands of tiny fragments, and as many empty ones", () => {
    const frames = reader();
    const fragment = (first: number, text: string): Buffer => frameOf(first, Buffer.from(text), MASK);
    const middle = Array.from({ length: 5000 }, (_, index) => fragment(0x00, index % 2 === 0 ? "" : "x"));
    const read = readAll(frames, [fragment(0x01, "a"), ...middle, fragment(0x80, "b")]);
    expect(read).toEqual([{ type: "text", text: `a${"x".repeat(2500)}b` }]);
  });

  it("fail on random bytes only with a close code", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }), (chunks) => {
        const code = closeCodeOf(() =>
          readAll(
            reader(),
            chunks.map((chunk) => Buffer.from(chunk)),
          ),
        );
        expect([undefined, 1002, 1007, 1009]).toContain(code);
      }),
    );
  });

  it.each([
    ["no mask from a client", frame("text", Buffer.from("a")), 1002],
    ["a reserved bit", frameOf(0xc1, Buffer.from("a"), MASK), 1002],
    ["an unknown opcode", frameOf(0x83, Buffer.from("a"), MASK), 1002],
    ["a fragmented ping", frameOf(0x09, Buffer.from("a"), MASK), 1002],
    ["a long ping", frameOf(0x89, Buffer.alloc(126), MASK), 1002],
    ["a continuation of nothing", frameOf(0x80, Buffer.from("a"), MASK), 1002],
    [
      "a message within another",
      Buffer.concat([frameOf(0x01, Buffer.from("a"), MASK), frame("text", Buffer.from("b"), MASK)]),
      1002,
    ],
    ["half a close code", frameOf(0x88, Buffer.from("a"), MASK), 1002],
    ["text that is not UTF-8", frameOf(0x81, Buffer.of(0xff, 0xfe), MASK), 1007],
  ])("are refused: %s", (_what, bytes, code) => {
    expect(closeCodeOf(() => readAll(reader(), [bytes]))).toBe(code);
  });

  it("are refused before their payload if it would be too large, alone or with earlier fragments", () => {
    const head = Buffer.from(frameOf(0x82, Buffer.alloc(LIMIT + 1), MASK).subarray(0, 14));
    expect(closeCodeOf(() => readAll(reader(), [head]))).toBe(1009);
    const first = frameOf(0x02, Buffer.alloc(LIMIT), MASK);
    expect(closeCodeOf(() => readAll(reader(), [first, frameOf(0x80, Buffer.of(1), MASK)]))).toBe(1009);
  });

  it("from a server must not be masked", () => {
    expect(closeCodeOf(() => readAll(reader(false), [frame("text", Buffer.from("a"), MASK)]))).toBe(1002);
  });
});
