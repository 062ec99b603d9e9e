import { describe, expect, it } from "vitest";
import type { JSONSchemaProps } from "../builtin/apiextensions.k8s.io/v1.js";
import { validateValue } from "./validation.js";

const INT_OR_STRING: JSONSchemaProps = { "x-kubernetes-int-or-string": true };

describe("the problems of a value", () => {
  it.each<[string, unknown, JSONSchemaProps, string]>([
    ["null for a text", null, { type: "string" }, "must not be null"],
    ["null for an integer or a text", null, INT_OR_STRING, "must not be null"],
    ["a fraction for an integer or a text", 1.5, INT_OR_STRING, "must be an integer or a string, not 1.5"],
    ["a list for an object", [], { type: "object" }, "must be of type object, not a list"],
    [
      "a text that is too long in characters, not in UTF-16",
      "😀😀",
      { type: "string", maxLength: 1 },
      "must have at most 1 characters",
    ],
    [
      "a bound itself where it is excluded",
      1,
      { type: "number", minimum: 1, exclusiveMinimum: true },
      "must be greater than 1",
    ],
  ])("report %s", (_what, value, schema, message) => {
    expect(validateValue(value, schema, "spec.field")).toEqual([{ path: "spec.field", message }]);
  });

  it.each<[string, unknown, JSONSchemaProps]>([
    ["null where it may be", null, { ...INT_OR_STRING, nullable: true }],
    ["null for anything", null, {}],
    ["a short text of long characters", "😀", { type: "string", maxLength: 1 }],
    ["a number where only texts have a pattern", 1, { ...INT_OR_STRING, pattern: "^a" }],
  ])("are none for %s", (_what, value, schema) => {
    expect(validateValue(value, schema, "spec.field")).toEqual([]);
  });

  it("name each item and field by its path", () => {
    const schema: JSONSchemaProps = {
      type: "array",
      items: { type: "object", properties: { "a.b": INT_OR_STRING }, required: ["c"] },
    };
    expect(validateValue([{ c: 1 }, { "a.b": null }], schema, "spec.list").map(({ path }) => path)).toEqual([
      "spec.list[1].c",
      'spec.list[1]["a.b"]',
    ]);
  });
});
