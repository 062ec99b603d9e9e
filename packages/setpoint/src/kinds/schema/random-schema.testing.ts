import fc from "fast-check";
import type { JsonValue } from "../object.js";
import type { JsonSchema } from "./json-schema.js";

const small = fc.integer({ min: -2, max: 4 });
const letters = fc.constantFrom("", "a", "b", "ab", "abc", "é", "A-1");
const names = fc.constantFrom("a", "b", "c", "with-dash", "namespace", "constructor", "__proto__");

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

/** Drops keywords that are undefined. */
function compact(schema: Record<string, unknown>): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

const text = fc
  .record({
    type: fc.constant("string"),
    minLength: optional(fc.integer({ min: 0, max: 2 })),
    maxLength: optional(fc.integer({ min: 0, max: 3 })),
    pattern: optional(fc.constantFrom("^a", "b$", "^[a-z]*$", "^[A-Z]-\\d$", "^\\u0061")),
    enum: optional(fc.uniqueArray(letters, { minLength: 1, maxLength: 3 })),
  })
  .map(compact);

const number = fc
  .record({
    type: fc.constantFrom("integer", "number"),
    minimum: optional(small),
    maximum: optional(small),
    exclusiveMinimum: optional(small),
    multipleOf: optional(fc.constantFrom(1, 2, 3)),
  })
  .map(compact);

const flag = fc.constant<JsonSchema>({ type: "boolean" });
const intOrString = fc.constant<JsonSchema>({ anyOf: [{ type: "integer" }, { type: "string" }] });
const anything = fc.constant<JsonSchema>({});

/** JSON Schemas that have a structural form, in small sizes so that values meet their bounds. */
export const randomSchema: fc.Arbitrary<JsonSchema> = fc.letrec<{ any: JsonSchema; scalar: JsonSchema }>((tie) => ({
  scalar: fc.oneof(text, number, flag, intOrString),
  any: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    { arbitrary: tie("scalar"), weight: 4 },
    { arbitrary: anything, weight: 1 },
    {
      arbitrary: text.map((schema) => ({ ...schema, type: ["string", "null"] })),
      weight: 1,
    },
    {
      arbitrary: fc
        .record({
          type: fc.constant("array"),
          items: tie("any"),
          minItems: optional(fc.integer({ min: 0, max: 1 })),
          maxItems: optional(fc.integer({ min: 1, max: 2 })),
        })
        .map(compact),
      weight: 2,
    },
    {
      arbitrary: fc.record({ type: fc.constant("array"), items: flag, uniqueItems: fc.constant(true) }),
      weight: 1,
    },
    {
      arbitrary: fc
        .record({
          type: fc.constant("object"),
          additionalProperties: tie("any"),
          maxProperties: optional(fc.integer({ min: 0, max: 2 })),
        })
        .map((schema) => compact({ ...schema, additionalProperties: withContent(schema.additionalProperties) })),
      weight: 1,
    },
    {
      arbitrary: fc
        .tuple(
          fc.dictionary(names, tie("any"), { minKeys: 1, maxKeys: 3 }),
          fc.subarray(["a", "b", "c", "constructor"]),
        )
        .map(([properties, required]) => ({ type: "object", properties, required })),
      weight: 3,
    },
  ),
})).any;

/** A map to any value is an open object, which is another schema. */
const withContent = (schema: JsonSchema): JsonSchema =>
  Object.keys(schema).length === 0 ? { type: "boolean" } : schema;

/** Values that may or may not match the schemas above. */
export const randomValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    { arbitrary: letters, weight: 3 },
    { arbitrary: small, weight: 3 },
    { arbitrary: fc.constantFrom<JsonValue>(true, false, null, 1.5), weight: 2 },
    { arbitrary: fc.array(tie("value"), { maxLength: 3 }), weight: 2 },
    { arbitrary: fc.dictionary(names, tie("value"), { maxKeys: 3 }), weight: 3 },
  ),
})).value;

/** Values close to a schema: mostly of its type, so that its constraints decide. */
export function valueFor(schema: JsonSchema): fc.Arbitrary<JsonValue> {
  const near = nearly(schema);
  return fc.oneof({ arbitrary: near, weight: 9 }, { arbitrary: randomValue, weight: 1 });
}

function nearly(schema: JsonSchema): fc.Arbitrary<JsonValue> {
  if (Array.isArray(schema.type)) return fc.oneof(letters, fc.constant(null));
  if (Array.isArray(schema.anyOf)) return fc.oneof(letters, small);
  switch (schema.type) {
    case "string":
      return letters;
    case "integer":
      return small;
    case "number":
      return fc.oneof(small, fc.constantFrom(0.5, 1.5));
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valueFor(schema.items as JsonSchema), { maxLength: 3 });
    case "object": {
      const others = schema.additionalProperties as JsonSchema | undefined;
      if (others) return fc.dictionary(names, valueFor(others), { maxKeys: 3 });
      const fields = Object.entries(schema.properties as Record<string, JsonSchema>);
      const record = Object.fromEntries(fields.map(([name, field]) => [name, valueFor(field)]));
      return fc.record(record, { requiredKeys: [] }) as fc.Arbitrary<JsonValue>;
    }
    default:
      return randomValue;
  }
}
