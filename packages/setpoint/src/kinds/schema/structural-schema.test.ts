import { describe, expect, it } from "vitest";
import { z } from "zod";
import { k8s } from "../k8s.js";
import { resource } from "../resource.js";
import type { Schema } from "./json-schema.js";

/** The structural form of a field with this schema. */
function structural(field: Schema): unknown {
  const isZod = "~standard" in field;
  const spec = isZod ? z.object({ field: field as z.ZodType }) : { type: "object", properties: { field } };
  return resource("test.example.com/v1/Test", { spec }).declaration.schema.properties?.spec?.properties?.field;
}

describe("the structural form of a schema", () => {
  it.each<[string, Schema, unknown]>([
    ["a text", z.string().min(1).max(9), { type: "string", minLength: 1, maxLength: 9 }],
    ["a pattern", z.string().regex(/^a\u0041$/), { type: "string", pattern: "^a\\x{0041}$" }],
    ["an integer, without the bounds of JavaScript", z.int(), { type: "integer" }],
    ["bounds", z.int().min(0).lt(10), { type: "integer", minimum: 0, maximum: 10, exclusiveMaximum: true }],
    ["a default", z.boolean().default(true), { type: "boolean", default: true }],
    ["choices", z.enum(["a", "b"]), { type: "string", enum: ["a", "b"] }],
    ["a constant", z.literal("a"), { type: "string", enum: ["a"] }],
    ["a union of constants", z.union([z.literal("a"), z.literal("b")]), { type: "string", enum: ["a", "b"] }],
    ["a nullable text", z.string().nullable(), { type: "string", nullable: true }],
    ["nullable choices", z.enum(["a.b", "c"]).nullable(), { type: "string", nullable: true, pattern: "^(a\\.b|c)$" }],
    ["a list", z.array(z.string()).min(1), { type: "array", items: { type: "string" }, minItems: 1 }],
    ["a map", z.record(z.string(), z.int()), { type: "object", additionalProperties: { type: "integer" } }],
    [
      "a map with named keys",
      z.record(z.enum(["a", "b"]), z.int()),
      { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] },
    ],
    [
      "a map whose keys match",
      z.record(z.string().regex(/^[a-z]+$/), z.string()),
      {
        type: "object",
        additionalProperties: { type: "string" },
        "x-kubernetes-validations": [
          { rule: 'self.all(key, key.matches("^[a-z]+$"))', message: "keys must match ^[a-z]+$" },
        ],
      },
    ],
    ["anything", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true }],
    ["any object", z.record(z.string(), z.unknown()), { type: "object", "x-kubernetes-preserve-unknown-fields": true }],
    [
      "a loose object",
      z.looseObject({ a: z.string() }),
      {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        "x-kubernetes-preserve-unknown-fields": true,
      },
    ],
    [
      "a strict object",
      z.strictObject({ a: z.int().optional() }),
      { type: "object", properties: { a: { type: "integer" } } },
    ],
    ["an int-or-string", z.union([z.int(), z.string()]), { "x-kubernetes-int-or-string": true }],
    ["a quantity", z.string().meta(k8s.quantity), { type: "string", pattern: k8s.quantity.pattern }],
    [
      "a list whose items a field identifies",
      z.array(z.object({ name: z.string() })).meta(k8s.listMap("name")),
      {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      },
    ],
    [
      "a set",
      { type: "array", items: { type: "string" }, uniqueItems: true },
      expect.objectContaining({ "x-kubernetes-list-type": "set" }),
    ],
    [
      "constraints that come together",
      z.string().startsWith("a").endsWith("b"),
      { type: "string", allOf: [{ pattern: "^a.*" }, { pattern: ".*b$" }] },
    ],
    [
      "texts of several formats",
      {
        anyOf: [
          { type: "string", format: "ipv4" },
          { type: "string", format: "ipv6" },
        ],
      },
      { type: "string", anyOf: [{ format: "ipv4" }, { format: "ipv6" }] },
    ],
    ["a format that servers do not know", z.string().meta({ format: "ends_with" }), { type: "string" }],
    ["a description", z.string().describe("what it is"), { type: "string", description: "what it is" }],
    [
      "an intersection",
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
      { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a", "b"] },
    ],
    [
      "a rule",
      z.object({ a: z.int().optional() }).meta(k8s.rules(k8s.rule("self.a > 0", "positive"))),
      expect.objectContaining({ "x-kubernetes-validations": [{ rule: "self.a > 0", message: "positive" }] }),
    ],
    [
      "a part that its author leaves unchecked",
      z.union([z.string(), z.boolean()]).meta(k8s.preserveUnknownFields),
      { "x-kubernetes-preserve-unknown-fields": true },
    ],
    [
      "a whole object",
      z.looseObject({}).meta(k8s.embeddedResource),
      { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    ],
  ])("of %s", (_name, schema, expected) => {
    expect(structural(schema)).toEqual(expected);
  });

  it("of a discriminated union is one object with rules for the fields of each branch", () => {
    const git = z.object({ type: z.literal("git"), url: z.string(), mode: z.enum(["shallow", "full"]).optional() });
    const inline = z.object({
      type: z.literal("inline"),
      text: z.string().optional(),
      mode: z.enum(["raw"]).optional(),
    });
    expect(structural(z.discriminatedUnion("type", [git, inline]))).toEqual({
      type: "object",
      properties: {
        type: { type: "string", enum: ["git", "inline"] },
        url: { type: "string" },
        text: { type: "string" },
        mode: { type: "string", enum: ["shallow", "full", "raw"] },
      },
      required: ["type"],
      "x-kubernetes-validations": [
        {
          rule: '!(self.type == "git") || has(self.url)',
          message: 'url is required when type is "git"',
          reason: "FieldValueRequired",
          fieldPath: ".url",
        },
        {
          rule: 'self.type == "git" || !has(self.url)',
          message: 'url may only be set when type is "git"',
          reason: "FieldValueForbidden",
          fieldPath: ".url",
        },
        {
          rule: '!(self.type == "git") || !has(self.mode) || self.mode in ["shallow", "full"]',
          message: 'mode must be "shallow" or "full" when type is "git"',
          fieldPath: ".mode",
        },
        {
          rule: '!(self.type == "inline") || !has(self.mode) || self.mode == "raw"',
          message: 'mode must be "raw" when type is "inline"',
          fieldPath: ".mode",
        },
        {
          rule: 'self.type == "inline" || !has(self.text)',
          message: 'text may only be set when type is "inline"',
          reason: "FieldValueForbidden",
          fieldPath: ".text",
        },
      ],
    });
  });

  it.each(["constructor", "toString", "__proto__"])("treats %s as an ordinary name", (name) => {
    const object = (type: string, ...others: string[]) => {
      const fields = [name, ...others].map((field) => [field, { type }]);
      return { type: "object", properties: Object.fromEntries(fields), required: [name, ...others] };
    };
    const spec = (field: Schema) =>
      resource("test.example.com/v1/Test", { spec: { type: "object", properties: { field } } });
    const plain = spec(object("string"));
    expect(plain.crd().spec.versions[0]?.schema?.openAPIV3Schema?.properties?.spec).toMatchObject({
      properties: { field: { properties: { [name]: { type: "string" } }, required: [name] } },
    });
    const problems = (field: unknown) => plain.validate({ metadata: { name: "a" }, spec: { field } } as never);
    expect(problems(JSON.parse(`{"${name}":"text"}`))).toEqual([]);
    expect(problems(JSON.parse(`{"${name}":1}`))).toHaveLength(1);
    expect(problems({})).toEqual([{ path: `spec.field.${name}`, message: "is required" }]);
    // A required name without a property is dropped, although every JavaScript object inherits one of that name.
    expect(structural({ type: "object", properties: { a: { type: "string" } }, required: [name] })).not.toHaveProperty(
      "required",
    );
    expect(structural({ allOf: [object("string"), object("string", "more")] })).toMatchObject(object("string", "more"));
    expect(() => structural({ allOf: [object("string"), object("integer")] })).toThrow("disagree");
    const choice = {
      anyOf: [{ ...object("string", "a") }, { type: "object", properties: { b: { type: "string" } }, required: ["b"] }],
    };
    const union = structural(choice) as { properties: object };
    expect(Object.keys(union.properties)).toEqual([name, "a", "b"]);
  });

  it("of other unions of objects requires all fields of one branch", () => {
    const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string(), "c-d": z.string() })]);
    expect(structural(either)).toMatchObject({
      "x-kubernetes-validations": [
        { rule: "(has(self.a)) || (has(self.b) && has(self.c__dash__d))", message: "give a, or b and c-d" },
      ],
    });
  });

  it("of a schema with references contains the referenced schemas", () => {
    const Named = z.object({ name: z.string() }).meta({ id: "Named" });
    const both = z.object({ one: Named, two: Named.optional() });
    const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    expect(structural(both)).toMatchObject({ properties: { one: named, two: named } });
  });

  it("of a recursive schema ends where its author says", () => {
    const Tree = z.object({
      name: z.string(),
      get children() {
        return z.array(Tree.meta(k8s.preserveUnknownFields)).optional();
      },
    });
    expect(structural(Tree)).toMatchObject({
      properties: { children: { items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } },
    });
  });

  it("has each rule once, also on nullable fields and intersections", () => {
    const rule = k8s.rule("self.a > 0", "positive");
    const one = z.object({ a: z.int() }).meta(k8s.rules(rule));
    const other = z.looseObject({ b: z.int() });
    for (const field of [one.nullable(), z.intersection(one, other), z.intersection(other, one).describe("both")]) {
      expect(structural(field)).toMatchObject({ "x-kubernetes-validations": [rule] });
    }
    expect(structural(one.describe("inner").nullable().describe("outer"))).toMatchObject({ description: "outer" });
  });

  it("accepts markers by path, for libraries that drop metadata", () => {
    const kind = resource("test.example.com/v1/Test", {
      spec: z.object({ groups: z.array(z.object({ ports: z.array(z.object({ port: z.int() })) })) }),
      markers: { "spec.groups[].ports": k8s.listMap("port") },
    });
    expect(kind.declaration.schema.properties?.spec).toMatchObject({
      properties: { groups: { items: { properties: { ports: { "x-kubernetes-list-type": "map" } } } } },
    });
  });
});

describe("constructs that no CustomResourceDefinition can express", () => {
  const Tree: z.ZodType = z.object({
    get children() {
      return z.array(Tree);
    },
  });
  const inner = (field: Schema) => ({ type: "object", properties: { items: { type: "array", items: field } } });

  it.each<[string, Schema, string]>([
    ["a tuple", z.tuple([z.string(), z.int()]), "spec.field: tuples cannot"],
    ["a tuple of an older draft", { type: "array", items: [{ type: "string" }] }, "spec.field: tuples cannot"],
    ["a date", z.date(), "spec.field: a Date is not JSON"],
    ["a bigint deep inside", z.array(z.object({ value: z.bigint() })), "spec.field[].value: a bigint"],
    ["a transform", z.string().transform(Number), "spec.field: a transform"],
    [
      "a codec",
      z.codec(z.string(), z.int(), { decode: Number, encode: String }),
      "spec.field: it transforms string into integer",
    ],
    ["a map of maps of dates", z.record(z.string(), z.record(z.string(), z.date())), "spec.field.*.*: a Date"],
    ["a union of scalars", z.union([z.string(), z.boolean()]), "spec.field: a union of boolean and string"],
    [
      "a union of a list and an object",
      z.union([z.array(z.int()), z.object({})]),
      "spec.field: a union of array and object",
    ],
    ["look-ahead", z.string().regex(/^(?!a)/), "spec.field: the pattern ^(?!a): look-ahead"],
    ["never", z.never(), "spec.field"],
    ["only null", z.null(), "spec.field: a value that can only be null"],
    [
      "nullable numbers to choose from",
      z.literal([1, 2]).nullable(),
      "spec.field: only an enum of texts can be nullable",
    ],
    ["a default of null", z.string().nullable().default(null), "spec.field: servers drop a default of null"],
    [
      "fields beside a schema for others",
      z.object({ a: z.string() }).catchall(z.int()),
      "spec.field: named fields beside",
    ],
    ["a schema that contains itself", Tree, "spec.field.children[]: it contains itself"],
    [
      "a schema that contains itself or null",
      { $ref: "#/properties/field", anyOf: [{ $ref: "#/properties/field" }, { type: "null" }] },
      "spec.field: it contains itself",
    ],
    ["fields by pattern", { type: "object", patternProperties: { "^a": {} } }, "spec.field: fields by pattern"],
    ["a condition", { type: "object", if: {} }, "spec.field: `if`"],
    ["a negation", inner({ type: "string", not: { enum: ["a"] } }), "spec.field.items[]: `not`"],
    ["a reference to nothing", { $ref: "#/$defs/Nothing" }, "spec.field: there is nothing at #/$defs/Nothing"],
    ["an unknown type", { type: "text" }, 'spec.field: there is no type "text"'],
    ["a set of objects", z.array(z.object({})).meta(k8s.listSet), "spec.field: only a list of scalars"],
    [
      "a list by a missing field",
      z.array(z.object({})).meta(k8s.listMap("name")),
      'spec.field[]: it has no field "name"',
    ],
    [
      "a list by an optional field",
      z.array(z.object({ name: z.string().optional() })).meta(k8s.listMap("name")),
      "spec.field[].name: it is a key of the list map",
    ],
    [
      "branches that disagree",
      z.discriminatedUnion("t", [
        z.object({ t: z.literal("a"), v: z.int() }),
        z.object({ t: z.literal("b"), v: z.string() }),
      ]),
      "spec.field.v: the branches of a union disagree",
    ],
    [
      "a default in one branch",
      z.discriminatedUnion("t", [
        z.object({ t: z.literal("a"), v: z.int().default(1) }),
        z.object({ t: z.literal("b") }),
      ]),
      "spec.field.v: a default inside one branch",
    ],
    [
      "a rule for keys that would cost too much",
      z.array(z.record(z.string().regex(/^a/), z.string())),
      "spec.field[]: a rule for the keys",
    ],
  ])("%s is an error that names the path", (_name, schema, message) => {
    expect(() => structural(schema)).toThrow(
      expect.objectContaining({ code: "SCHEMA_INEXPRESSIBLE", message: expect.stringContaining(message) }),
    );
  });

  it("a default that violates its own schema is an error that names the path", () => {
    const wrong = { type: "object", properties: { size: { type: "integer", default: "big" } } };
    expect(() => structural(wrong)).toThrow(
      expect.objectContaining({
        code: "KIND_INVALID",
        message: expect.stringContaining("spec.field.size: the default"),
      }),
    );
  });
});
