import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineDecoder, lines } from "./lines.js";

async function* body(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array, void> {
  for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

async function texts(chunks: AsyncIterable<Uint8Array>, maxLineBytes?: number): Promise<string[]> {
  const found: string[] = [];
  for await (const line of lines(chunks, { maxLineBytes })) found.push(line.toString());
  return found;
}

describe("lines", () => {
  it("are the same wherever the chunks are cut, even within a character", async () => {
    const line = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\n"));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(400)), async (expected, cuts) => {
        const bytes = Buffer.from(expected.map((text) => `${text}\n`).join(""));
        const positions = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = positions.slice(1).map((end, index) => bytes.subarray(positions[index], end));
        expect(await texts(body(...chunks))).toEqual(expected);
      }),
    );
  });

  it("are views of their chunk if they lie within one", () => {
    const chunk = Buffer.from("a\nbc\nrest");
    const ranges: [boolean, number, number][] = [];
    new LineDecoder().push(chunk, (bytes, start, end) => ranges.push([bytes.buffer === chunk.buffer, start, end]));
    expect(ranges).toEqual([
      [true, 0, 1],
      [true, 2, 4],
    ]);
  });

  it("skip empty lines", async () => {
    expect(await texts(body("\na\n\n", "\nb\n"))).toEqual(["a", "b"]);
  });

  it("reject with STREAM_TRUNCATED if the body ends within a line, after the complete lines", async () => {
    const found: string[] = [];
    const reading = (async () => {
      for await (const line of lines(body("whole\nhal", "f"))) found.push(line.toString());
    })();
    await expect(reading).rejects.toMatchObject({
      code: "STREAM_TRUNCATED",
      message: expect.stringContaining("4 bytes"),
    });
    expect(found).toEqual(["whole"]);
  });

  it("may exceed 3 MB, up to the configured limit", async () => {
    const large = "x".repeat(3_500_000);
    expect(await texts(body(large.slice(0, 1_000_000), large.slice(1_000_000), "\n"))).toEqual([large]);
    await expect(texts(body("12345678\n", "123456789\n"), 8)).rejects.toMatchObject({ code: "STREAM_LINE_TOO_LONG" });
    await expect(texts(body("1234", "56789"), 8)).rejects.toMatchObject({ code: "STREAM_LINE_TOO_LONG" });
  });

  it("close the body when their reader stops", async () => {
    let isClosed = false;
    const source = (async function* () {
      try {
        yield Buffer.from("a\nb\n");
      } finally {
        isClosed = true;
      }
    })();
    for await (const _ of lines(source)) break;
    expect(isClosed).toBe(true);
  });
});
