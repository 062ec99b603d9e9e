import type { JSONSchemaProps } from "../builtin/apiextensions.k8s.io/v1.js";
import { ownField } from "../own-field.js";
import { isSameJson } from "../same-json.js";
import { fieldStep } from "./schema-place.js";

/** An invalid field of an object. */
export interface FieldProblem {
  /** `spec.ports[0].name`. */
  readonly path: string;
  readonly message: string;
}

/**
 * What an API server would refuse in a value: types, required fields, bounds, patterns, choices, list types. Only
 * servers check CEL rules. Unknown fields are fine: servers drop them.
 */
export function validateValue(value: unknown, schema: JSONSchemaProps, path: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  validate(value, schema, path, problems);
  return problems;
}

function validate(value: unknown, schema: JSONSchemaProps, path: string, problems: FieldProblem[]): void {
  const report = (message: string): void => {
    problems.push({ path, message });
  };
  if (value === null) {
    const isTyped = schema.type !== undefined || schema["x-kubernetes-int-or-string"];
    if (!schema.nullable && isTyped) report("must not be null");
    return;
  }
  if (!hasType(value, schema)) {
    report(`must be ${typeText(schema)}, not ${describe(value)}`);
    return;
  }
  for (const message of constraintsBroken(value, schema)) report(message);
  if (Array.isArray(value)) validateList(value, schema, path, problems);
  else if (typeof value === "object") validateObject(value as Record<string, unknown>, schema, path, problems);
  for (const part of schema.allOf ?? []) for (const message of constraintsBroken(value, part)) report(message);
  if (schema.anyOf && !schema.anyOf.some((part) => constraintsBroken(value, part).length === 0)) {
    report("must have one of the forms that the schema lists");
  }
}

function hasType(value: unknown, schema: JSONSchemaProps): boolean {
  if (schema["x-kubernetes-int-or-string"]) return typeof value === "string" || Number.isInteger(value);
  switch (schema.type) {
    case undefined:
      return value !== undefined;
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && !Array.isArray(value);
    default:
      return typeof value === schema.type; // the names of scalar types are those of typeof
  }
}

const typeText = (schema: JSONSchemaProps): string =>
  schema["x-kubernetes-int-or-string"] ? "an integer or a string" : `of type ${schema.type ?? "JSON"}`;

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return JSON.stringify(value) ?? String(value);
}

/** The constraints that a value of the right type violates. String constraints do not apply to numbers. */
function constraintsBroken(value: unknown, schema: JSONSchemaProps): string[] {
  const broken: string[] = [];
  if (schema.enum && !schema.enum.some((choice) => isSameJson(choice, value))) {
    broken.push(`must be one of ${schema.enum.map((choice) => JSON.stringify(choice)).join(", ")}`);
  }
  if (typeof value === "string") {
    const length = [...value].length;
    if (length < (schema.minLength ?? 0)) broken.push(`must have at least ${schema.minLength} characters`);
    if (length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) {
      broken.push(`must have at most ${schema.maxLength} characters`);
    }
    if (schema.pattern !== undefined && !toRegExp(schema.pattern).test(value))
      broken.push(`must match ${schema.pattern}`);
  }
  if (typeof value === "number") broken.push(...boundsBroken(value, schema));
  return broken;
}

function boundsBroken(value: number, schema: JSONSchemaProps): string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const broken: string[] = [];
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    broken.push(`must be ${exclusiveMinimum ? "greater than" : "at least"} ${minimum}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    broken.push(`must be ${exclusiveMaximum ? "less than" : "at most"} ${maximum}`);
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf))
    broken.push(`must be a multiple of ${multipleOf}`);
  return broken;
}

/** RE2's `\x{…}` is JavaScript's `\u{…}`; otherwise patterns that pass `toRe2` mean the same in both. */
function toRegExp(pattern: string): RegExp {
  const translated = pattern.replace(/\\x\{/g, "\\u{");
  try {
    return new RegExp(translated, "u");
  } catch {
    return new RegExp(translated);
  }
}

function validateList(list: readonly unknown[], schema: JSONSchemaProps, path: string, problems: FieldProblem[]): void {
  const { minItems, maxItems } = schema;
  if (list.length < (minItems ?? 0)) problems.push({ path, message: `must have at least ${minItems} items` });
  if (list.length > (maxItems ?? Number.POSITIVE_INFINITY)) {
    problems.push({ path, message: `must have at most ${maxItems} items` });
  }
  const items = schema.items as JSONSchemaProps | undefined;
  if (items) list.forEach((item, at) => void validate(item, items, `${path}[${at}]`, problems));
  const identify = identityOf(schema);
  if (!identify) return;
  const seen = new Set<string>();
  list.forEach((item, at) => {
    const identity = identify(item);
    if (seen.has(identity)) problems.push({ path: `${path}[${at}]`, message: "is there already" });
    seen.add(identity);
  });
}

/** Identifies the items of a set or a list map; undefined for other lists. */
function identityOf(schema: JSONSchemaProps): ((item: unknown) => string) | undefined {
  if (schema["x-kubernetes-list-type"] === "set") return (item) => JSON.stringify(item);
  if (schema["x-kubernetes-list-type"] !== "map") return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return (item) => JSON.stringify(keys.map((key) => ownField((item ?? {}) as Record<string, unknown>, key) ?? null));
}

function validateObject(
  object: Record<string, unknown>,
  schema: JSONSchemaProps,
  path: string,
  problems: FieldProblem[],
): void {
  const present = Object.keys(object).filter((name) => object[name] !== undefined);
  const embedded = schema["x-kubernetes-embedded-resource"] ? ["apiVersion", "kind"] : [];
  for (const name of [...(schema.required ?? []), ...embedded]) {
    if (!present.includes(name)) problems.push({ path: `${path}${fieldStep(name)}`, message: "is required" });
  }
  if (present.length < (schema.minProperties ?? 0)) {
    problems.push({ path, message: `must have at least ${schema.minProperties} fields` });
  }
  if (present.length > (schema.maxProperties ?? Number.POSITIVE_INFINITY)) {
    problems.push({ path, message: `must have at most ${schema.maxProperties} fields` });
  }
  const others = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  for (const name of present) {
    const declared = ownField(schema.properties, name) ?? others;
    if (declared) validate(object[name], declared, `${path}${fieldStep(name)}`, problems);
  }
}
