import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { mergePatch } from "./merge-patch.js";

describe("merge patch", () => {
  it.each<[string, JsonObject, Json, Json]>([
    ["replaces, adds and removes", { a: 1, b: 2 }, { a: 3, b: null, c: 4 }, { a: 3, c: 4 }],
    ["merges objects", { a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    ["replaces lists", { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ["drops nulls of new objects", { a: 1 }, { b: { c: null, d: [{ e: null }] } }, { a: 1, b: { d: [{}] } }],
    ["puts an object where a scalar was", { a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ["puts a scalar where an object was", { a: { b: 1 } }, { a: 1 }, { a: 1 }],
  ])("%s", (_name, object, patch, expected) => {
    expect(mergePatch(object, patch)).toEqual(expected);
  });

  it.each<[Json, string]>([
    [null, "Invalid JSON Patch"],
    [[], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
    ["x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"],
  ])("refuses %j", (patch, message) => {
    expect(() => mergePatch({}, patch)).toThrow(message);
  });

  it("treats __proto__ as an ordinary field", () => {
    const patched = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}') as Json);
    expect(Object.getPrototypeOf(patched)).toBe(Object.prototype);
    expect(Object.hasOwn(patched, "__proto__")).toBe(true);
  });

  it("refuses a patch that nests too deeply", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(1100)}1${"}".repeat(1100)}`) as Json;
    expect(() => mergePatch({}, deep)).toThrow("exceeded max depth");
  });
});
