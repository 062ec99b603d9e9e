import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatMicroTime, formatTime, parseTime } from "./time.js";

const wholeMs = fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 31) });

describe("times", () => {
  it("are written with whole seconds, micro-times with six digits", () => {
    const epochMs = Date.UTC(2026, 0, 31, 12, 0, 1, 7);
    expect(formatTime(epochMs)).toBe("2026-01-31T12:00:01Z");
    expect(formatMicroTime(epochMs)).toBe("2026-01-31T12:00:01.007000Z");
    expect(formatMicroTime(epochMs + 0.25)).toBe("2026-01-31T12:00:01.007250Z");
    expect(formatMicroTime(-1)).toBe("1969-12-31T23:59:59.999000Z");
  });

  it("survive a round trip through text", () => {
    fc.assert(
      fc.property(wholeMs, (epochMs) => {
        expect(parseTime(formatMicroTime(epochMs))).toBeCloseTo(epochMs, 3);
        expect(parseTime(formatTime(epochMs))).toBe(Math.floor(epochMs / 1000) * 1000);
      }),
    );
  });

  it("are parsed with offsets and any number of digits", () => {
    expect(parseTime("2026-01-31T14:00:00+02:00")).toBe(Date.UTC(2026, 0, 31, 12));
    expect(parseTime("2026-01-31T12:00:00.123456789Z")).toBeCloseTo(Date.UTC(2026, 0, 31, 12) + 123.456, 3);
  });

  it.each(["", "2026-01-31", "2026-01-31 12:00:00Z", "2026-13-01T00:00:00Z", "2026-01-31T12:00:00", "12:00"])(
    "%j is invalid",
    (text) => {
      expect(() => parseTime(text)).toThrow(expect.objectContaining({ code: "TIME_INVALID" }));
    },
  );

  it("are refused if no calendar contains them", () => {
    expect(() => formatTime(Number.NaN)).toThrow(expect.objectContaining({ code: "TIME_INVALID" }));
    expect(() => formatMicroTime(1e18)).toThrow(expect.objectContaining({ code: "TIME_INVALID" }));
  });
});
