import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { applyServerSide, trackUpdate, type WriteContext } from "../apply/field-manager.js";
import { mergePatch } from "../apply/merge-patch.js";
import { strategicPatch } from "../apply/strategic-patch.js";
import { loadFacts } from "../facts/facts.js";
import type { Schema } from "../facts/schema.js";
import { coerceCustomResource, validateCustomResource } from "./custom-resource.js";
import { applyDefaults } from "./defaulting.js";
import { checkDepth, MAX_DEPTH } from "./depth.js";

const schema: Schema = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

function nested(depth: number): Json {
  return JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`) as Json;
}

describe("deep nesting", () => {
  it("is refused beyond the limit", () => {
    expect(() => checkDepth(nested(MAX_DEPTH + 1))).toThrow("exceeded max depth");
    expect(() => checkDepth(nested(MAX_DEPTH))).not.toThrow();
  });

  it("up to the limit passes through every step of a write", async () => {
    const facts = await loadFacts();
    const objectMeta = facts.messageNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")!;
    const object: JsonObject = { apiVersion: "v1", kind: "T", metadata: { name: "x" }, spec: nested(MAX_DEPTH - 1) };
    const context: WriteContext = {
      apiVersion: "v1",
      kind: "T",
      subresource: "",
      manager: "a",
      nowMs: 0,
      message: undefined,
      schemaOf: () => schema,
    };
    const { object: read } = coerceCustomResource(schema, object, objectMeta);
    expect(validateCustomResource(schema, applyDefaults(schema, read))).toEqual([]);
    const live = trackUpdate(context, undefined, read);
    const applied = applyServerSide(context, live, { ...object, spec: nested(MAX_DEPTH - 2) }, { force: true });
    expect(JSON.stringify(applied.metadata)).toContain("Apply");
    expect(() => mergePatch(live, { spec: nested(MAX_DEPTH - 1) })).not.toThrow();
    expect(() => strategicPatch(schema, live, { spec: nested(MAX_DEPTH - 1) })).not.toThrow();
  });
});
