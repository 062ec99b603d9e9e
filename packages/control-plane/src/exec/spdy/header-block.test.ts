import type { Transform } from "node:stream";
import { deflateSync, Inflate } from "node:zlib";
import { systemClock } from "setpoint/clock";
import { describe, expect, it, vi } from "vitest";
import { HeaderReader, HeaderWriter } from "./header-block.js";

describe("header blocks of SPDY", () => {
  it("are compressed with the dictionary of the protocol", async () => {
    const block = await new HeaderWriter().write(new Map([["streamtype", "stdin"]]));
    // The zlib header with the dictionary flag, and the checksum of the dictionary.
    expect(block[1]! & 0x20).toBe(0x20);
    expect(block.toString("hex", 2, 6)).toBe("e3c6a7c2");
  });

  it("are read in order, each with the state of the ones before it", async () => {
    const [writer, reader] = [new HeaderWriter(), new HeaderReader()];
    for (const headers of [
      new Map([["streamtype", "error"]]),
      new Map<string, string>(),
      new Map([
        ["streamtype", "stdin"],
        ["long", "x".repeat(40_000)],
      ]),
    ]) {
      expect(await reader.read(await writer.write(headers))).toEqual(headers);
    }
  });

  it("that decompress to too much, or to nothing, are refused", async () => {
    const large = await new HeaderWriter().write(new Map([["a", "x".repeat(200_000)]]));
    await expect(new HeaderReader().read(large)).rejects.toThrow("too large");
    await expect(new HeaderReader().read(Buffer.from("no block"))).rejects.toThrow();
  });

  it("that decompress without end are abandoned at the limit [R9]", async () => {
    const zeros = deflateSync(Buffer.alloc(256 * 2 ** 20), { level: 9 });
    const inflate = vi.spyOn(Inflate.prototype as unknown as Transform, "push");
    await expect(new HeaderReader().read(zeros)).rejects.toThrow("too large");
    // By now all pending work of the decompressing thread has arrived.
    await systemClock.sleep(50);
    const unfolded = inflate.mock.calls.reduce((sum, [chunk]) => sum + ((chunk as Buffer | null)?.length ?? 0), 0);
    inflate.mockRestore();
    expect(unfolded).toBeLessThan(2 ** 20);
  });
});
