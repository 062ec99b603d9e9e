import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedPaths, diffToMergePatch, isEqual, mergePatch, splitPath, valueAt, withoutPath } from "./field-paths.js";

describe("changedPaths", () => {
  it("names the differing fields, as deep as both sides go", () => {
    const before = { spec: { replicas: 1, image: "a", ports: [{ port: 1 }] }, metadata: { labels: { "a.b/c": "1" } } };
    const after = { spec: { replicas: 2, ports: [{ port: 2 }], paused: true }, metadata: { labels: { "a.b/c": "2" } } };
    expect(changedPaths(before, after)).toEqual([
      "spec.replicas",
      "spec.image",
      "spec.ports[0].port",
      "spec.paused",
      "metadata.labels[a.b/c]",
    ]);
  });

  it("is empty exactly if values are equal as JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        expect(changedPaths(left, right).length === 0).toBe(isEqual(left, right));
        expect(isEqual(left, JSON.parse(JSON.stringify(left)))).toBe(true);
      }),
    );
  });
});

describe("merge patches", () => {
  it("turn one value into another", () => {
    const withoutNulls = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("null"));
    fc.assert(
      fc.property(withoutNulls, withoutNulls, (source, target) => {
        expect(isEqual(mergePatch(source, diffToMergePatch(source, target)), target)).toBe(true);
      }),
    );
  });

  it.each(["constructor", "valueOf", "__proto__"])("treat %s as an ordinary key", (word) => {
    const named = JSON.parse(`{"${word}":"mine"}`);
    expect(isEqual(named, {})).toBe(false);
    expect(isEqual({}, named)).toBe(false);
    expect(changedPaths({}, named)).toEqual([word]);
    expect(diffToMergePatch({}, named)).toEqual(named);
    expect(Object.entries(mergePatch({}, named) as object)).toEqual([[word, "mine"]]);
    expect(mergePatch(named, diffToMergePatch(named, {}))).toEqual({});
    expect(valueAt({}, [word])).toBeUndefined();
    expect(valueAt(named, [word])).toBe("mine");
    expect(withoutPath(named, [word])).toEqual({});
  });

  it("ignore undefined and remove null", () => {
    expect(mergePatch({ a: 1, b: 2, c: { d: 1, e: 2 } }, { a: undefined, b: null, c: { e: 3 } })).toEqual({
      a: 1,
      c: { d: 1, e: 3 },
    });
  });
});

describe("paths", () => {
  it("read and remove a value", () => {
    const object = { metadata: { annotations: { "example.com/a.b": "1", x: "2" } } };
    const steps = splitPath("metadata.annotations[example.com/a.b]");
    expect(steps).toEqual(["metadata", "annotations", "example.com/a.b"]);
    expect(valueAt(object, steps)).toBe("1");
    expect(withoutPath(object, steps)).toEqual({ metadata: { annotations: { x: "2" } } });
    expect(withoutPath(object, ["spec", "x"])).toBe(object);
  });
});
