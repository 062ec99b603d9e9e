import { describe, expect, it } from "vitest";
import { type Outcome, outcomeProblem, requeueAfter, retry, shown, terminal, waitFor } from "./outcome.js";

describe("handwritten outcomes", () => {
  it.each([
    ["requeueAfter", { type: "requeueAfter", afterMs: Number.NaN }, "afterMs NaN"],
    ["requeueAfter", { type: "requeueAfter", afterMs: "soon" }, "afterMs soon"],
    ["requeueAfter", { type: "requeueAfter" }, "afterMs undefined"],
    ["waitFor", { type: "waitFor", reason: "A", message: "" }, "recheckMs undefined"],
    ["retry", { type: "retry", error: "x", afterMs: -1 }, "afterMs -1"],
    ["retry", { type: "retry", error: "x", afterMs: Number.POSITIVE_INFINITY }, "afterMs Infinity"],
  ])("%s: reports an invalid time", (type, outcome, problem) => {
    expect(outcomeProblem(outcome as Outcome)).toContain(`${type} with ${problem}, which is not a time`);
  });

  it("are equivalent to those of the functions", () => {
    for (const outcome of [requeueAfter("1s"), waitFor("A"), retry("x"), retry("x", { after: 0 }), terminal("x")])
      expect(outcomeProblem(outcome)).toBeUndefined();
    expect(outcomeProblem({ type: "done" })).toBeUndefined();
  });
});

it("prints any value, shortened", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  expect([undefined, null, "text", 1n, { code: 7 }, circular].map(shown)).toEqual([
    "undefined",
    "null",
    "text",
    "1",
    '{"code":7}',
    "[object Object]",
  ]);
  expect(shown({ text: "x".repeat(1_000) }).length).toBeLessThan(210);
});
