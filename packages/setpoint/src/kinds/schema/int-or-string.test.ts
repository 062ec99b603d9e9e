import { describe, expect, it } from "vitest";
import { scaledValue } from "./int-or-string.js";

describe("an int-or-string", () => {
  it("is itself, or a percentage of the total, rounded as requested", () => {
    expect(scaledValue(3, 10, "up")).toBe(3);
    expect(scaledValue("25%", 10, "up")).toBe(3);
    expect(scaledValue("25%", 10, "down")).toBe(2);
    expect(scaledValue("100%", 7, "down")).toBe(7);
  });

  it.each(["", "3", "25", "%", "-5%", "2.5%"])("%j is neither", (text) => {
    expect(() => scaledValue(text, 10, "up")).toThrow(expect.objectContaining({ code: "INT_OR_STRING_INVALID" }));
  });
});
