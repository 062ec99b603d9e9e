import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../api/json.js";
import type { Schema } from "../facts/schema.js";
import { CreatedFields, type Outline } from "./created-fields.js";
import { trackUpdate, type WriteContext } from "./field-manager.js";
import { mergeType } from "./merge-type.js";
import { Dice, randomValue } from "./random-writes.testing.js";

const TEXT: Schema = { type: "string" };
const TEXTS: Schema = { type: "object", additionalProperties: TEXT };

const schemaOf = (): Schema => ({
  type: "object",
  properties: {
    apiVersion: TEXT,
    kind: TEXT,
    metadata: {
      type: "object",
      properties: {
        name: TEXT,
        labels: TEXTS,
        ownerReferences: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["uid"],
          items: {
            type: "object",
            properties: { uid: TEXT, name: TEXT },
            "x-kubernetes-map-type": "atomic",
          },
        },
      },
    },
    spec: {
      type: "object",
      properties: {
        count: { type: "integer" },
        data: TEXTS,
        tags: { type: "array", "x-kubernetes-list-type": "set", items: TEXT },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port"],
          items: { type: "object", properties: { port: { type: "integer" }, name: TEXT } },
        },
        args: { type: "array", items: TEXT },
        whole: { ...TEXTS, "x-kubernetes-map-type": "atomic" },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", properties: { phase: TEXT } },
  },
});

const contextOf = (schema: Schema): WriteContext => ({
  apiVersion: "example.com/v1",
  kind: "Thing",
  subresource: "",
  manager: "tester",
  nowMs: 0,
  message: undefined,
  schemaOf: () => schema,
});

const thing = (content: JsonObject): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "a" },
  ...content,
});

describe("createdFields", () => {
  it("gives the creator of an object the same fields with and without cached outlines", () => {
    const shared = contextOf(schemaOf());
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const value = randomValue(new Dice(seed), schemaOf());
        const object = thing(isObject(value) ? { spec: value.spec ?? {}, metadata: value.metadata ?? {} } : {});
        // A separate schema has no cached outlines.
        const alone = trackUpdate(contextOf(schemaOf()), undefined, object);
        expect(trackUpdate(shared, undefined, object)).toEqual(alone);
        expect(trackUpdate(shared, undefined, object)).toEqual(alone);
      }),
      { numRuns: 400 },
    );
  });

  const created = new CreatedFields();
  const outline = (spec: JsonObject, empty: JsonObject = {}): Outline | undefined =>
    created.outlineOf(mergeType(schemaOf()), empty, thing({ spec }))?.outline;

  it("does not distinguish values that ownership does not distinguish", () => {
    expect(outline({ count: 1, args: ["a"] })).toBe(outline({ count: 2, args: ["b", "c"] }));
  });

  it("distinguishes keys, names of items, emptiness, and fields of an empty struct", () => {
    const outlines = [
      outline({ data: { a: "1" } }),
      outline({ data: { b: "1" } }),
      outline({ data: { "1:a": "1" } }),
      outline({ data: {} }),
      outline({ tags: ["a"] }),
      outline({ tags: ["b"] }),
      outline({ ports: [{ port: 1 }] }),
      outline({ ports: [{ port: 2 }] }),
      outline({ ports: [{ port: 2, name: "a" }] }),
      outline({ count: 0 }, { spec: { count: 0 } }),
      outline({ count: 1 }, { spec: { count: 0 } }),
      outline({ count: 1 }),
    ];
    expect(new Set(outlines).size).toBe(outlines.length);
    expect(outlines).not.toContain(undefined);
  });

  it("does not cache malformed, unusual or large objects", () => {
    expect(outline({ count: "1" })).toBeUndefined();
    expect(outline({ unknown: 1 })).toBeUndefined();
    expect(outline({ data: null })).toBeUndefined();
    expect(outline({ tags: ["a", "a"] })).toBeUndefined();
    expect(outline({ ports: [{}] })).toBeUndefined();
    const keys = Array.from({ length: 500 }, (_, at) => [`key-${at}`, ""]);
    expect(outline({ data: Object.fromEntries(keys) })).toBeUndefined();
  });

  it("is shared by the children of many owners, and each owner is named in the managed fields", () => {
    const shared = contextOf(schemaOf());
    const child = (...uids: readonly string[]): JsonObject => ({
      ...thing({ spec: { count: 1 } }),
      metadata: { name: "a", ownerReferences: uids.map((uid) => ({ uid, name: "a" })) },
    });
    for (const uids of [["1"], ["2"], ["2"], ["1"], ["1", "2"], ["2", "1"], ["3"], []]) {
      const alone = trackUpdate(contextOf(schemaOf()), undefined, child(...uids));
      expect(trackUpdate(shared, undefined, child(...uids))).toEqual(alone);
    }
    const type = mergeType(schemaOf());
    const outlines = [child("1"), child("2")].map((object) => created.outlineOf(type, {}, object)?.outline);
    expect(outlines[0]).toBe(outlines[1]);
  });

  it("does not mistake a key for the end of an object or a marker of a value", () => {
    const data: readonly JsonObject[] = [{ a: "" }, { "0": "" }, { "5": "", a: "" }];
    const outlines = data.map((each) => outline({ data: each }));
    expect(new Set(outlines).size).toBe(outlines.length);
  });

  it("forgets outlines if there are too many", () => {
    const first = outline({ data: { a: "1" } });
    for (let at = 0; at < 10_000; at++) outline({ data: { [`key-${at}`]: "" } });
    expect(outline({ data: { a: "1" } })).not.toBe(first);
  });
});
