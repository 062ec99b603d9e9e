import type { JSONSchemaProps, ValidationRule } from "../builtin/apiextensions.k8s.io/v1.js";
import type { JsonValue } from "../object.js";
import { inexpressible, type JsonSchema, UNREPRESENTABLE } from "./json-schema.js";
import { toRe2 } from "./re2.js";
import type { Place } from "./schema-place.js";

/** A structural schema under construction. */
export type SchemaDraft = { -readonly [Key in keyof JSONSchemaProps]: JSONSchemaProps[Key] };

/** Keywords that no structural schema can express. */
const FOREIGN: Readonly<Record<string, string>> = {
  prefixItems: "tuples cannot be expressed; use an object with named fields, or a list",
  contains: "`contains` cannot be expressed; write a CEL rule (k8s.rule)",
  patternProperties: "fields by pattern cannot be expressed; use a map, or a CEL rule (k8s.rule) over its keys",
  dependentRequired: "`dependentRequired` cannot be expressed; write a CEL rule (k8s.rule)",
  dependentSchemas: "`dependentSchemas` cannot be expressed; write a CEL rule (k8s.rule)",
  dependencies: "`dependencies` cannot be expressed; write a CEL rule (k8s.rule)",
  if: "`if` cannot be expressed; write a CEL rule (k8s.rule)",
  not: "`not` cannot be expressed; write a CEL rule (k8s.rule)",
};

/** Throws for what no structural schema can express. */
export function checkExpressible(schema: JsonSchema, place: Place): void {
  if (schema[UNREPRESENTABLE]) throw inexpressible(place.path, unrepresentable(String(schema[UNREPRESENTABLE])));
  for (const [keyword, why] of Object.entries(FOREIGN)) {
    if (schema[keyword] !== undefined) throw inexpressible(place.path, why);
  }
  if (Array.isArray(schema.items)) throw inexpressible(place.path, FOREIGN.prefixItems!);
}

function unrepresentable(what: string): string {
  if (what === "transform")
    return "a transform changes the value, but the server stores what was written; only validate";
  if (what === "date") return "a Date is not JSON; use a text, as z.iso.datetime() gives";
  if (what === "bigint") return "a bigint is not JSON; use an integer, or a text";
  return `a ${what} is not JSON`;
}

/** Formats that API servers know; they warn about others and do not check them. */
const FORMATS: ReadonlySet<string> = new Set([
  ...["bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5"],
  ...["isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date"],
  ...["duration", "date-time", "int32", "int64", "float", "double", "k8s-short-name", "k8s-long-name"],
]);

/** The constraints on scalars that both schema dialects have. */
export function validationsOf(schema: JsonSchema, place: Place): SchemaDraft {
  const draft: SchemaDraft = {};
  if (Array.isArray(schema.enum)) draft.enum = schema.enum as readonly JsonValue[];
  if (typeof schema.minLength === "number") draft.minLength = schema.minLength;
  if (typeof schema.maxLength === "number") draft.maxLength = schema.maxLength;
  if (typeof schema.multipleOf === "number") draft.multipleOf = schema.multipleOf;
  if (typeof schema.format === "string" && FORMATS.has(schema.format)) draft.format = schema.format;
  if (typeof schema.pattern === "string") draft.pattern = patternOf(schema.pattern, place);
  boundOf(schema, "minimum", "exclusiveMinimum", draft);
  boundOf(schema, "maximum", "exclusiveMaximum", draft);
  return draft;
}

export function patternOf(pattern: string, place: Place): string {
  const translation = toRe2(pattern);
  if ("problem" in translation) throw inexpressible(place.path, `the pattern ${pattern}: ${translation.problem}`);
  return translation.pattern;
}

/** Exclusive bounds are numbers in JSON Schema and flags here. Ignores the bounds of JavaScript's safe integers. */
function boundOf(
  schema: JsonSchema,
  inclusive: "minimum" | "maximum",
  exclusive: "exclusiveMinimum" | "exclusiveMaximum",
  draft: SchemaDraft,
): void {
  const bound = schema[inclusive];
  if (typeof schema[exclusive] === "number") {
    draft[inclusive] = schema[exclusive];
    draft[exclusive] = true;
  } else if (typeof bound === "number" && Math.abs(bound) !== Number.MAX_SAFE_INTEGER) {
    draft[inclusive] = bound;
    if (schema[exclusive] === true) draft[exclusive] = true;
  }
}

const EXTENSIONS = [
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
] as const;

export function extensionsOf(schema: JsonSchema): SchemaDraft {
  const found = EXTENSIONS.filter((keyword) => schema[keyword] !== undefined);
  return Object.fromEntries(found.map((keyword) => [keyword, schema[keyword]])) as SchemaDraft;
}

export function rulesOf(schema: JsonSchema): readonly ValidationRule[] {
  return (schema["x-kubernetes-validations"] as readonly ValidationRule[] | undefined) ?? [];
}

export function annotationsOf(schema: JsonSchema): SchemaDraft {
  const draft: SchemaDraft = {};
  if (typeof schema.title === "string") draft.title = schema.title;
  if (typeof schema.description === "string") draft.description = schema.description;
  if (schema.default !== undefined) draft.default = schema.default as JsonValue;
  return draft;
}

export function withoutAnnotations(schema: JsonSchema): JsonSchema {
  const { title: _title, description: _description, default: _default, ...rest } = schema;
  return rest;
}
