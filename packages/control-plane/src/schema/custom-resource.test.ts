import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { loadFacts } from "../facts/facts.js";
import type { Schema } from "../facts/schema.js";
import { coerceCustomResource, completeSchema, validateCustomResource, validateStatus } from "./custom-resource.js";
import { applyDefaults } from "./defaulting.js";
import { validateStructural } from "./structural.js";

const facts = await loadFacts();
const objectMeta = facts.messageNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")!;

const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1 },
        color: { type: "string", enum: ["red", "blue"], default: "red" },
        note: { type: "string", nullable: true },
        box: { type: "object", default: {}, properties: { lid: { type: "boolean", default: true } } },
        tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        free: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "object", properties: {} } },
        },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        pattern: { type: "string", pattern: "^(a+)+$" },
      },
    },
    status: { type: "object", properties: { ready: { type: "integer" } } },
  },
};

function thing(spec: Json, rest: JsonObject = {}): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "x" }, spec, ...rest };
}

function sentences(object: JsonObject, old?: JsonObject): string[] {
  return validateCustomResource(schema, object, old).map(({ field, detail }) => `${field}: ${detail}`);
}

describe("reading a custom resource", () => {
  it("drops unknown fields and reports them", () => {
    const object = thing({ size: 1, zzz: 1, free: { any: 1, known: { q: 1 } } }, { extra: 1 });
    const { object: read, unknown } = coerceCustomResource(schema, object, objectMeta);
    expect(read.spec).toEqual({ size: 1, free: { any: 1, known: {} } });
    expect(unknown).toEqual(["extra", "spec.free.known.q", "spec.zzz"]);
  });

  it("decodes metadata as ObjectMeta, also of embedded resources", () => {
    const template = { apiVersion: "v1", kind: "Pod", metadata: { labels: { a: "b" }, odd: 1 }, spec: { q: 1 } };
    const object = { ...thing({ size: 1, template }), metadata: { name: "x", odd: 1 } };
    const { object: read, unknown } = coerceCustomResource(schema, object, objectMeta);
    expect(read).toMatchObject({ metadata: { name: "x" }, spec: { template: { metadata: { labels: { a: "b" } } } } });
    expect(unknown).toEqual(["metadata.odd", "spec.template.metadata.odd"]);
    expect(() => coerceCustomResource(schema, { ...object, metadata: { labels: { a: 1 } } }, objectMeta)).toThrow(
      "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
    );
  });

  it("drops nulls that are neither allowed nor defaulted", () => {
    const { object } = coerceCustomResource(schema, thing({ size: null, note: null, color: null }), objectMeta);
    expect(object.spec).toEqual({ note: null, color: null });
    expect(applyDefaults(schema, object).spec).toEqual({ note: null, color: "red", box: { lid: true } });
  });

  it("shares unchanged parts", () => {
    const object = thing({ size: 1, color: "red", box: { lid: true } });
    expect(coerceCustomResource(schema, object, objectMeta).object.spec).toBe(object.spec);
    expect(applyDefaults(schema, object)).toBe(object);
  });
});

describe("checking a custom resource", () => {
  it.each<[string, Json, string[]]>([
    [
      "a wrong type",
      { size: "1" },
      ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
    ],
    ["a missing field", {}, ["spec.size: Required value"]],
    [
      "a value too small",
      { size: 0 },
      ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"],
    ],
    [
      "a value that is not allowed",
      { size: 1, color: "green" },
      ['spec.color: Unsupported value: "green": supported values: "red", "blue"'],
    ],
    ["a repeated member", { size: 1, tags: ["a", "b", "a"] }, ['spec.tags[2]: Duplicate value: "a"']],
    [
      "an embedded resource without identity",
      { size: 1, template: {} },
      ["spec.template.apiVersion: Required value", "spec.template.kind: Required value"],
    ],
    [
      "an embedded resource with invalid metadata",
      {
        size: 1,
        template: { apiVersion: "v1", kind: "Pod", metadata: { name: "X_", labels: { a: "b c" } } },
      },
      [expect.stringMatching(/^spec\.template\.metadata\.labels: Invalid value: "b c": /)],
    ],
  ])("finds %s", (_name, spec, expected) => {
    expect(sentences(thing(spec))).toEqual(expected);
  });

  it("divides integers by integers only", () => {
    const half = { type: "object", properties: { n: { type: "number", multipleOf: 0.5 } } } as const;
    const found = (n: number) => validateCustomResource(half, { n }).map(({ detail }) => detail);
    expect(found(1.5)).toEqual([]);
    expect(found(2)).toEqual(["Invalid value: 0: factor MultipleOf declared for n must be positive: 0"]);
  });

  it("ignores on update what was invalid before", () => {
    const old = thing({ size: 0, color: "green" });
    expect(sentences(thing({ size: 0, color: "green", note: "n" }), old)).toEqual([]);
    expect(sentences(thing({ size: 0, color: "grey" }), old)).toHaveLength(1);
  });

  it("names fields of a status starting at the status", () => {
    const errors = validateStatus(schema, thing({}, { status: { ready: "x" } }), thing({}));
    expect(errors).toMatchObject([
      { field: "status.ready", detail: 'Invalid value: "string": ready in body must be of type integer: "string"' },
    ]);
  });

  it("matches a hostile pattern in linear time", () => {
    expect(sentences(thing({ size: 1, pattern: `${"a".repeat(50_000)}!` }))).toHaveLength(1);
  });
});

describe("a CRD's schema", () => {
  it("must be structural", () => {
    const crooked: Schema = {
      type: "object",
      properties: {
        a: {},
        b: { type: "array" },
        c: { type: "string", anyOf: [{ type: "string" }] },
        d: { type: "string", pattern: "(" },
      },
    };
    expect(validateStructural(crooked, "s").map(({ field, detail }) => `${field}: ${detail}`)).toEqual([
      "s.properties[a].type: Required value: must not be empty for specified object fields",
      "s.properties[b].items: Required value: must be specified",
      "s.properties[c].anyOf[0].type: Forbidden: must be empty to be structural",
      expect.stringContaining('s.properties[d].pattern: Invalid value: "(": must be a valid regular expression'),
    ]);
    expect(validateStructural(schema, "s")).toEqual([]);
  });

  it("is completed with the metadata of every object, once", () => {
    const metadata: Schema = { type: "object" };
    const complete = completeSchema(schema, metadata);
    expect(complete.properties).toMatchObject({ apiVersion: { type: "string" }, metadata });
    const embedded = complete.properties!.spec!.properties!.template!.properties!.metadata;
    expect(embedded).toEqual({ type: "object", "x-kubernetes-preserve-unknown-fields": false });
    expect(embedded).toBe(complete.properties!.metadata);
    expect(completeSchema(schema, metadata)).toBe(complete);
  });
});
