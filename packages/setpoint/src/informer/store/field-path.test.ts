import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../kinds/object.js";
import { FieldPath } from "./field-path.js";

const textIn = (path: FieldPath, json: string): string | undefined => {
  const bytes = Buffer.from(json);
  return path.textIn(Buffer.concat([bytes, Buffer.from('"x":"y"}')]), bytes.length);
};

describe("field path", () => {
  it("reads the same from an object and from its JSON", () => {
    const key = fc.oneof(fc.constantFrom("a", "b", 'q"', "\u00e9", "back\\slash", "__proto__"), fc.string());
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: "small" }, leaf, fc.dictionary(key, tie("tree")), fc.array(tie("tree"))),
    }));
    const path = fc.array(
      key.filter((text) => !text.includes(".")),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(fc.dictionary(key, tree), path, (object, segments) => {
        const json = JSON.stringify(object);
        const parsed = JSON.parse(json) as KubeObject;
        const field = FieldPath.ofField(segments.join("."));
        expect(textIn(field, json)).toBe(field.textOf(parsed));
      }),
      { numRuns: 2000 },
    );
  });

  it("reads a label whose name contains dots", () => {
    const json = '{"metadata":{"labels":{"a":"1","app.kubernetes.io/name":"web"}}}';
    expect(textIn(FieldPath.ofLabel("app.kubernetes.io/name"), json)).toBe("web");
    expect(textIn(FieldPath.ofLabel("app"), json)).toBeUndefined();
  });

  it("finds a key that a server wrote with escapes", () => {
    expect(textIn(FieldPath.ofField("spec.a<b"), '{"spec":{"a\\u003cb":"x\\u003ey"}}')).toBe("x>y");
  });

  it("returns no text for a list, an object or null", () => {
    for (const value of ["[1]", "{}", "null"]) {
      expect(textIn(FieldPath.ofField("spec.a"), `{"spec":{"a":${value},"b":1}}`)).toBeUndefined();
    }
  });
});
