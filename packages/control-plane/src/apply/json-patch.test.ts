import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import { jsonPatch, jsonPatchStrictErrors } from "./json-patch.js";

const document: JsonObject = { a: { b: 1, "c/d": [1, 2, 3] }, list: ["x", "y"], nothing: null };

function failure(patch: Json): StatusError["status"] {
  try {
    jsonPatch(document, patch);
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  throw new Error("the patch applied");
}

describe("JSON patch", () => {
  it.each<[string, Json, Json]>([
    [
      "adds a field",
      [{ op: "add", path: "/a/new", value: 2 }],
      { ...document, a: { ...(document.a as object), new: 2 } },
    ],
    ["inserts into a list", [{ op: "add", path: "/list/1", value: "n" }], { ...document, list: ["x", "n", "y"] }],
    ["appends to a list", [{ op: "add", path: "/list/-", value: "n" }], { ...document, list: ["x", "y", "n"] }],
    ["counts from the end", [{ op: "remove", path: "/list/-1" }], { ...document, list: ["x"] }],
    [
      "unescapes paths",
      [{ op: "replace", path: "/a/c~1d/0", value: 9 }],
      { ...document, a: { b: 1, "c/d": [9, 2, 3] } },
    ],
    ["replaces a missing field", [{ op: "replace", path: "/zzz", value: 1 }], { ...document, zzz: 1 }],
    ["moves", [{ op: "move", from: "/list/0", path: "/first" }], { ...document, list: ["y"], first: "x" }],
    ["copies", [{ op: "copy", from: "/list", path: "/also" }], { ...document, also: ["x", "y"] }],
    ["tests", [{ op: "test", path: "/a/b", value: 1 }], document],
    ["tests an absent field as null", [{ op: "test", path: "/zzz", value: null }], document],
    ["replaces everything", [{ op: "replace", path: "", value: { q: 1 } }], { q: 1 }],
    ["adds null for a missing value", [{ op: "add", path: "/n" }], { ...document, n: null }],
  ])("%s", (_name, patch, expected) => {
    expect(jsonPatch(document, patch)).toEqual(expected);
  });

  it.each<[string, Json]>([
    ["a test that fails", [{ op: "test", path: "/a/b", value: 2 }]],
    ["a path through nothing", [{ op: "add", path: "/no/such", value: 1 }]],
    ["a path through a scalar", [{ op: "add", path: "/a/b/c", value: 1 }]],
    ["removing a missing field", [{ op: "remove", path: "/zzz" }]],
    ["an index beyond the end", [{ op: "add", path: "/list/3", value: 1 }]],
    ["an invalid index", [{ op: "remove", path: "/list/x" }]],
    ["moving a missing field", [{ op: "move", from: "/zzz", path: "/q" }]],
    ["an unknown operation", [{ op: "frobnicate", path: "/a" }]],
    ["no path", [{ op: "add", value: 1 }]],
  ])("refuses %s with 422 and no detail", (_name, patch) => {
    expect(failure(patch)).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: "the server rejected our request due to an error in our request",
    });
  });

  it("refuses an invalid patch with 400", () => {
    expect(failure({ op: "add" })).toMatchObject({
      code: 400,
      message: "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    });
  });

  it("refuses more than 10,000 operations with 413", () => {
    const patch = new Array(10_001).fill({ op: "test", path: "/a/b", value: 1 });
    expect(failure(patch)).toMatchObject({ code: 413, reason: "RequestEntityTooLarge" });
  });

  it("names unknown members for strict validation", () => {
    expect(jsonPatchStrictErrors([{ op: "add", path: "/a", value: 1, extra: 1 }])).toEqual([
      'json patch unknown field "[0].extra"',
    ]);
  });

  it("treats __proto__ as an ordinary field", () => {
    const patched = jsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]) as object;
    expect(Object.getPrototypeOf(patched)).toBe(Object.prototype);
    expect(Object.hasOwn(patched, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("refuses a result that nests too deeply", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`) as Json;
    const patch = [
      { op: "add", path: "/x", value: deep },
      { op: "add", path: `/x${"/a".repeat(590)}`, value: deep },
    ];
    expect(failure(patch)).toMatchObject({ code: 400, message: expect.stringContaining("exceeded max depth") });
  });

  it("copies a value independently", () => {
    const patched = jsonPatch({ a: { b: [1] } }, [
      { op: "copy", from: "/a", path: "/c" },
      { op: "add", path: "/c/b/0", value: 0 },
      { op: "add", path: "/a/b/-", value: 2 },
    ]);
    expect(patched).toEqual({ a: { b: [1, 2] }, c: { b: [0, 1] } });
  });

  it("moves a value that it changed before", () => {
    const patched = jsonPatch({ a: { b: 1 } }, [
      { op: "add", path: "/a/c", value: 2 },
      { op: "move", from: "/a", path: "/d" },
      { op: "replace", path: "/d/c", value: 3 },
    ]);
    expect(patched).toEqual({ d: { b: 1, c: 3 } });
  });

  it("refuses copies of copies that grow without bound", () => {
    const patch = Array.from({ length: 60 }, (_, index) => ({ op: "copy", from: "/a", path: `/a/c${index}` }));
    expect(() => jsonPatch({ a: { b: "x".repeat(100) } }, patch)).toThrow("the server rejected our request");
  });

  it("applies thousands of operations to a big object without copying it each time", () => {
    const big = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]));
    const patch = Array.from({ length: 10_000 }, (_, index) => ({ op: "replace", path: `/big/k${index}`, value: -1 }));
    const patched = jsonPatch({ big }, patch) as { big: Record<string, number> };
    expect(patched.big.k9999).toBe(-1);
    expect(big.k9999).toBe(9999);
  });

  it("leaves the document as it was", () => {
    const before = JSON.stringify(document);
    jsonPatch(document, [
      { op: "remove", path: "/a/b" },
      { op: "add", path: "/list/0", value: 1 },
    ]);
    expect(JSON.stringify(document)).toBe(before);
  });
});
