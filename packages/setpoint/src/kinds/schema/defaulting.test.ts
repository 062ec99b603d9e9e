import { describe, expect, it } from "vitest";
import { withDefaults } from "./defaulting.js";

describe("defaulting", () => {
  const schema = {
    type: "object",
    properties: {
      size: { type: "integer", default: 1 },
      maybe: { type: "string", nullable: true, default: "x" },
      nested: { type: "object", default: {}, properties: { deep: { type: "string", default: "d" } } },
      optional: { type: "object", properties: { deep: { type: "string", default: "d" } } },
      list: { type: "array", items: { type: "object", properties: { on: { type: "boolean", default: true } } } },
      map: {
        type: "object",
        additionalProperties: { type: "object", properties: { n: { type: "integer", default: 0 } } },
      },
    },
  };

  it("fills gaps, also within present values and within other defaults", () => {
    expect(withDefaults({ list: [{}, { on: false }], map: { a: {} } }, schema)).toEqual({
      size: 1,
      maybe: "x",
      nested: { deep: "d" },
      list: [{ on: true }, { on: false }],
      map: { a: { n: 0 } },
    });
  });

  it("replaces null only if null is not allowed", () => {
    expect(withDefaults({ size: null, maybe: null }, schema)).toMatchObject({ size: 1, maybe: null });
  });

  it.each(["constructor", "toString", "__proto__"])("treats %s as an ordinary name", (name) => {
    const named = JSON.parse(`{"${name}":"given"}`);
    const field = { type: "string", default: "filled" };
    const declared = { type: "object", properties: { [name]: field } };
    expect(Object.entries(withDefaults({}, declared) as object)).toEqual([[name, "filled"]]);
    expect(withDefaults(named, declared)).toBe(named);
    const map = { type: "object", additionalProperties: { type: "object", properties: { n: { default: 0 } } } };
    const filled = withDefaults(JSON.parse(`{"${name}":{}}`), map) as object;
    expect(Object.entries(filled)).toEqual([[name, { n: 0 }]]);
    expect(withDefaults({}, { type: "object", properties: {} })).toEqual({});
  });

  it("drops a null that is neither allowed nor replaced, except in lists", () => {
    const nulls = { optional: null, list: [null], map: { a: null, b: {} }, unknown: null };
    expect(withDefaults(nulls, schema)).toEqual({
      size: 1,
      maybe: "x",
      nested: { deep: "d" },
      list: [null],
      map: { b: { n: 0 } },
      unknown: null,
    });
  });

  it("changes neither its input nor the schema's defaults, and shares parts without gaps", () => {
    const input = Object.freeze({ size: 2, maybe: "y", nested: Object.freeze({ deep: "e" }) });
    expect(withDefaults(input, schema)).toBe(input);
    const first = withDefaults({}, schema) as { nested: { deep: string } };
    first.nested.deep = "changed";
    expect(withDefaults({}, schema)).toMatchObject({ nested: { deep: "d" } });
  });
});
