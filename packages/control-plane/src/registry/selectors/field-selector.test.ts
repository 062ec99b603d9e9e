import { describe, expect, it } from "vitest";
import { parseFieldSelector } from "./field-selector.js";

describe("field selectors", () => {
  it("are terms that all have to hold", () => {
    expect(parseFieldSelector("metadata.name=a,status.phase!=Running")).toEqual([
      { field: "metadata.name", isNegated: false, value: "a" },
      { field: "status.phase", isNegated: true, value: "Running" },
    ]);
    expect(parseFieldSelector("a==b\\,c")).toEqual([{ field: "a", isNegated: false, value: "b,c" }]);
  });

  it.each([
    ["foo", "invalid selector: 'foo'; can't understand 'foo'"],
    ["a=b\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
    ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
  ])("%s is refused", (selector, message) => {
    expect(() => parseFieldSelector(selector)).toThrow(message);
  });
});
