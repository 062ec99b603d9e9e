import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { isSameJson } from "./same-json.js";

/** Small values, so that two of them are often the same. */
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, undefined, true, false, 0, 1, "", "0", "a"),
    fc.array(tie("json"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "0"), tie("json"), { maxKeys: 2, noNullPrototype: true }),
  ),
}));

it("agrees with a deep strict comparison for any two JSON values", () => {
  fc.assert(fc.property(json, json, (left, right) => isSameJson(left, right) === isDeepStrictEqual(left, right)));
});

it("is true for any value and its copy", () => {
  fc.assert(fc.property(json, (value) => isSameJson(value, structuredClone(value))));
});

it("distinguishes a list from an object with the same keys", () => {
  expect(isSameJson(["a"], { 0: "a" })).toBe(false);
});
