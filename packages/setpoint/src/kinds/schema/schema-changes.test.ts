import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../object.js";
import { ownField } from "../own-field.js";
import type { JsonSchema } from "./json-schema.js";
import { randomSchema, valueFor } from "./random-schema.testing.js";
import { compareSchemas } from "./schema-changes.js";
import { type StructuralSchema, toStructural } from "./structural-schema.js";
import { validateValue } from "./validation.js";

const structural = (root: JsonSchema) =>
  toStructural(root, { path: "spec", root, refs: [], depth: 0, markers: {}, markersMet: new Set(), isBranch: false });

/** Two schemas, often similar, so that one may accept everything that the other does. */
const pair = randomSchema.chain((before) =>
  fc.tuple(fc.constant(before), fc.oneof(fc.constant(before), randomSchema, loosened(before))),
);

/** The schema without some of its keywords. */
function loosened(schema: JsonSchema): fc.Arbitrary<JsonSchema> {
  return fc
    .subarray(Object.keys(schema).filter((keyword) => !/^(type|items|properties|anyOf)$/.test(keyword)))
    .map((gone) => Object.fromEntries(Object.entries(schema).filter(([keyword]) => !gone.includes(keyword))));
}

/** The part of a value that a server keeps: it drops undeclared fields before validation. */
function kept(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  if (schema === undefined || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => kept(item, schema.items as StructuralSchema | undefined));
  const { properties, additionalProperties, "x-kubernetes-preserve-unknown-fields": isOpen } = schema;
  const others = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const declared = ownField(properties, name) ?? others;
    return declared || isOpen ? [[name, kept(field as JsonValue, declared)] as const] : [];
  });
  return Object.fromEntries(fields);
}

describe("comparing schemas", () => {
  it("finds nothing between equal ones", () => {
    fc.assert(
      fc.property(randomSchema, (schema) => {
        expect(compareSchemas(structural(schema), structural(schema))).toEqual([]);
      }),
    );
  });

  it("reports something whenever a value that was valid no longer is", () => {
    const scenario = pair.chain(([before, after]) =>
      fc.tuple(fc.constant(before), fc.constant(after), valueFor(before)),
    );
    fc.assert(
      fc.property(scenario, ([before, after, written]) => {
        const [old, now] = [structural(before), structural(after)];
        const value = kept(written, old);
        const fitted = validateValue(value, old, "spec").length === 0;
        const fits = validateValue(value, now, "spec").length === 0;
        if (fitted && !fits) expect(compareSchemas(old, now)).not.toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});
