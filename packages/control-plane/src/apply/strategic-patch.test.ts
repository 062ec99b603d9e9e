import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import type { Schema } from "../facts/schema.js";
import { strategicPatch } from "./strategic-patch.js";

const schema: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    merged: {
      type: "array",
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          inner: {
            type: "array",
            "x-kubernetes-patch-strategy": "merge",
            "x-kubernetes-patch-merge-key": "name",
            items: { type: "object" },
          },
        },
      },
    },
    replaced: { type: "array", items: { type: "object" } },
    primitives: { type: "array", "x-kubernetes-patch-strategy": "merge", items: { type: "string" } },
    strategy: { type: "object", "x-kubernetes-patch-strategy": "retainKeys", properties: {} },
  },
};

describe("strategic merge patch", () => {
  it.each<[string, JsonObject, Json, Json]>([
    [
      "merges lists by their key",
      { merged: [{ name: "a", v: 1 }] },
      { merged: [{ name: "a", w: 2 }] },
      { merged: [{ name: "a", v: 1, w: 2 }] },
    ],
    [
      "puts new items first",
      { merged: [{ name: "a" }] },
      { merged: [{ name: "b" }] },
      { merged: [{ name: "b" }, { name: "a" }] },
    ],
    ["replaces other lists", { replaced: [{ a: 1 }] }, { replaced: [{ b: 2 }] }, { replaced: [{ b: 2 }] }],
    ["unites primitive lists", { primitives: ["a", "b"] }, { primitives: ["c", "a"] }, { primitives: ["c", "a", "b"] }],
    [
      "deletes an item",
      { merged: [{ name: "a" }, { name: "b" }] },
      { merged: [{ name: "a", $patch: "delete" }] },
      { merged: [{ name: "b" }] },
    ],
    [
      "replaces a list",
      { merged: [{ name: "a" }] },
      { merged: [{ name: "b" }, { $patch: "replace" }] },
      { merged: [{ name: "b" }] },
    ],
    [
      "replaces an object",
      { strategy: { a: 1, b: 2 } },
      { strategy: { c: 3, $patch: "replace" } },
      { strategy: { c: 3 } },
    ],
    ["empties an object", { strategy: { a: 1 } }, { strategy: { $patch: "delete" } }, { strategy: {} }],
    [
      "deletes from a primitive list",
      { primitives: ["a", "b", "c"] },
      { "$deleteFromPrimitiveList/primitives": ["b"] },
      { primitives: ["a", "c"] },
    ],
    ["retains keys", { strategy: { a: 1, b: 2 } }, { strategy: { $retainKeys: ["b"], b: 3 } }, { strategy: { b: 3 } }],
    [
      "sets the order",
      { merged: [{ name: "a" }, { name: "b" }, { name: "c" }] },
      { "$setElementOrder/merged": [{ name: "c" }, { name: "a" }] },
      { merged: [{ name: "b" }, { name: "c" }, { name: "a" }] },
    ],
    [
      "sets the order of merged items",
      { merged: [{ name: "a", v: 1 }] },
      { "$setElementOrder/merged": [{ name: "b" }, { name: "a" }], merged: [{ name: "b" }] },
      { merged: [{ name: "b" }, { name: "a", v: 1 }] },
    ],
    ["removes by null", { name: "x", strategy: { a: 1 } }, { name: null, strategy: { a: null } }, { strategy: {} }],
    [
      "drops nulls and directives of new objects",
      {},
      { strategy: { a: null, b: { $patch: "delete" }, c: 1 } },
      { strategy: { c: 1 } },
    ],
    [
      "merges lists in lists",
      { merged: [{ name: "a", inner: [{ name: "x", v: 1 }] }] },
      { merged: [{ name: "a", inner: [{ name: "x", w: 1 }] }] },
      { merged: [{ name: "a", inner: [{ name: "x", v: 1, w: 1 }] }] },
    ],
  ])("%s", (_name, object, patch, expected) => {
    const before = JSON.stringify([object, patch]);
    expect(strategicPatch(schema, object, patch)).toEqual(expected);
    expect(JSON.stringify([object, patch])).toBe(before);
  });

  it.each<[string, Json, string]>([
    ["an item without its key", { merged: [{ v: 1 }] }, "map: map[v:1] does not contain declared merge key: name"],
    ["an unknown directive", { strategy: { $patch: "zap" } }, "unknown patch type: zap in map: map[$patch:zap]"],
    [
      "a merge directive in a list",
      { merged: [{ name: "q", $patch: "merge" }] },
      "merging lists cannot yet be specified in the patch",
    ],
    ["a key that is not retained", { strategy: { $retainKeys: ["b"], c: 3 } }, "invalid patch format of retainKeys"],
    ["a malformed directive", { $deleteFromPrimitiveList: ["b"] }, "invalid patch format of primitive list"],
    [
      "an order that the list does not have",
      { "$setElementOrder/merged": [{ name: "z" }], merged: [{ name: "q" }] },
      "The order in patch list:\n[map[name:q]]\n doesn't match $setElementOrder list:\n[map[name:z]]\n",
    ],
    ["lists of lists", { primitives: [["a"]] }, "the server rejected our request due to an error in our request"],
  ])("refuses %s", (_name, patch, message) => {
    const object: JsonObject = { merged: [{ name: "a" }], strategy: { a: 1 }, primitives: [] };
    expect(() => strategicPatch(schema, object, patch)).toThrow(message);
  });

  it("treats __proto__ as an ordinary field", () => {
    const patched = strategicPatch(schema, {}, JSON.parse('{"strategy":{"__proto__":{"polluted":true}}}') as Json);
    expect(Object.getPrototypeOf(patched.strategy)).toBe(Object.prototype);
  });
});
