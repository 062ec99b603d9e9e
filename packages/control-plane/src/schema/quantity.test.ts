import { describe, expect, it } from "vitest";
import { durationNanos, TimeError } from "./go-time.js";
import { canonicalQuantity, QuantityError, quantityNanos } from "./quantity.js";

const LONG = 1_000_000;

describe("quantities", () => {
  it("of any length are scanned once", () => {
    expect(() => canonicalQuantity(`${"1".repeat(LONG)}!`)).toThrow(QuantityError);
    // Go has no suffix for such an amount, and leaves it out.
    expect(canonicalQuantity(`1${"0".repeat(LONG)}`)).toBe("10");
    expect(quantityNanos("1.5")).toBe(1_500_000_000n);
  });

  it.each(["1+5", "1-", "1e", "1ee3", "1Kii", "1.2.3"])("are invalid: %s", (text) => {
    expect(() => canonicalQuantity(text)).toThrow(QuantityError);
  });
});

describe("durations", () => {
  it("of any length are scanned once", () => {
    expect(() => durationNanos("1".repeat(LONG))).toThrow("missing unit");
    expect(() => durationNanos(`${"1".repeat(LONG)}x`)).toThrow(TimeError);
    expect(durationNanos(`1.${"5".repeat(LONG)}s`)).toBe(1_555_555_555n);
  });

  it("are at most what Go can represent", () => {
    expect(durationNanos("2562047h47m16.854775807s")).toBe(2n ** 63n - 1n);
    expect(() => durationNanos("2562048h")).toThrow("invalid duration");
  });
});
