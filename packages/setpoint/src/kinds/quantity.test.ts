import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityPattern,
  quantityToNumber,
  subtractQuantities,
} from "./quantity.js";

const suffix = fc.constantFrom("", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "E-3", "e+6");
const sign = fc.constantFrom("", "-", "+");
const digits = fc.stringMatching(/^[0-9]{1,12}(\.[0-9]{1,10})?$/);
const quantity = fc.tuple(sign, digits, suffix).map((parts) => parts.join(""));

describe("a quantity", () => {
  // Texts and canonical forms of apimachinery 0.36.
  it.each([
    ["0", "0"],
    ["-0", "0"],
    ["100m", "100m"],
    ["0.1", "100m"],
    [".5", "500m"],
    ["1500m", "1500m"],
    ["1000m", "1"],
    ["1.5Gi", "1536Mi"],
    ["1024Ki", "1Mi"],
    ["1025Ki", "1025Ki"],
    ["1Ki", "1Ki"],
    ["0.5Ki", "512"],
    ["1000k", "1M"],
    ["1e3", "1e3"],
    ["1000e3", "1e6"],
    ["1E3", "1E3"],
    ["12e-3", "12e-3"],
    ["1.500", "1.500"],
    ["+5", "+5"],
    ["010", "010"],
    ["1n", "1n"],
    ["0.1n", "1n"],
    ["-0.1n", "-1n"],
    ["1.0000000001", "1000000001n"],
    ["0.00000000001Ki", "11n"],
    ["9223372036854775807", "9223372036854775807"],
    ["9223372036854775808", "9223372036854775808"],
    ["16Ei", "9223372036854775807"],
    ["-16Ei", "-9223372036854775807"],
    ["100000000000000000000E3", "100e21"],
  ])("%s is written %s", (text, canonical) => {
    expect(formatQuantity(text)).toBe(canonical);
  });

  it.each(["", "1.2.3", "1ki", "1mm", "1e", "abc", "1 Gi", "1Gi ", "0x10", "--1", "1e1.5", "1K"])(
    "%j is invalid",
    (text) => {
      expect(() => parseQuantity(text)).toThrow(expect.objectContaining({ code: "QUANTITY_INVALID" }));
    },
  );

  it("is rejected quickly if it is long and invalid", () => {
    expect(() => parseQuantity(`${"1".repeat(100_000)}x`)).toThrow(
      expect.objectContaining({ code: "QUANTITY_INVALID" }),
    );
  });

  it("keeps an amount beyond the largest suffix, unlike apimachinery", () => {
    expect(formatQuantity("1000E")).toBe("1000E");
    expect(compareQuantities(formatQuantity("1000E"), "1000E")).toBe(0);
  });

  it("adds in the format of the first operand, unless that is zero", () => {
    expect(formatQuantity(addQuantities("1Gi", "1G"))).toBe("2073741824");
    expect(formatQuantity(addQuantities("1G", "1Gi"))).toBe("2073741824");
    expect(formatQuantity(addQuantities("1Mi", "1Mi"))).toBe("2Mi");
    expect(formatQuantity(addQuantities("0", "2Mi"))).toBe("2Mi");
    expect(formatQuantity(subtractQuantities("1", "250m"))).toBe("750m");
  });

  it("converts to a number for metrics", () => {
    expect(quantityToNumber("250m")).toBe(0.25);
    expect(quantityToNumber("1Gi")).toBe(2 ** 30);
  });

  it("keeps its amount in canonical form, which is idempotent", () => {
    fc.assert(
      fc.property(quantity, (text) => {
        const canonical = formatQuantity(text);
        expect(compareQuantities(text, canonical)).toBe(0);
        expect(formatQuantity(canonical)).toBe(canonical);
        expect(text).toMatch(new RegExp(quantityPattern));
      }),
    );
  });

  it("is ordered, and keeps its order when the same is added to both", () => {
    fc.assert(
      fc.property(quantity, quantity, quantity, (a, b, c) => {
        expect(Math.sign(compareQuantities(a, b))).toBe(-Math.sign(compareQuantities(b, a)) + 0);
        expect(compareQuantities(addQuantities(a, c), addQuantities(b, c))).toBe(compareQuantities(a, b));
        expect(compareQuantities(subtractQuantities(addQuantities(a, b), b), a)).toBe(0);
      }),
    );
  });
});
