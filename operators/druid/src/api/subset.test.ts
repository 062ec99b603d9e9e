import { describe, expect, it } from "vitest";
import { includes, isSame } from "./subset.js";

describe("includes", () => {
  const current = {
    maxSegmentsToMove: 5,
    decommissioningNodes: ["a", "b"],
    useRoundRobin: true,
    pool: { size: 2, name: "x" },
  };
  it.each([
    ["nothing", {}, true],
    ["equal values", current, true],
    ["some of the values", { maxSegmentsToMove: 5 }, true],
    ["another value", { maxSegmentsToMove: 6 }, false],
    ["a key that is missing", { unknown: 1 }, false],
    ["elements of a list in another order", { decommissioningNodes: ["b", "a"] }, true],
    ["an element that is not in the list", { decommissioningNodes: ["c"] }, false],
    ["some values within an object", { pool: { size: 2 } }, true],
    ["another value within an object", { pool: { size: 3 } }, false],
    ["a list in place of an object", { pool: [2] }, false],
    ["null for a value that is there", { maxSegmentsToMove: null }, false],
  ])("compares %s [D42]", (_what, wanted, expected) => {
    expect(includes(current, wanted)).toBe(expected);
  });

  /** Druid's response may be no JSON, or no JSON object. */
  it.each([
    ["no JSON", "<html>", { a: 1 }, false],
    ["an empty answer", {}, { a: 1 }, false],
    ["a list", [{ a: 1, b: 2 }], [{ a: 1, b: 2 }], true],
    ["a list whose element says more", [{ a: 1, b: 2 }], [{ a: 1 }], false],
    ["a number for its text", { a: 1 }, { a: "1" }, false],
    ["a nested key that is missing", { a: { b: 1 } }, { a: { c: 1 } }, false],
  ])("compares with %s [D42]", (_what, answer, wanted, expected) => {
    expect(includes(answer as never, wanted as never)).toBe(expected);
  });

  it("ignores whitespace and the order of keys", () => {
    expect(isSame(JSON.parse('{"a":1,"b":{"d":1,"c":2}}'), JSON.parse('{ "b": { "c": 2, "d": 1 }, "a": 1 }'))).toBe(
      true,
    );
    expect(isSame([1, 2], [2, 1])).toBe(false);
  });
});
