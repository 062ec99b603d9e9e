import { isSameJson } from "setpoint/kinds";
import { fieldErrors } from "../api/error-budget.js";
import { forbiddenField, invalidValue, required } from "../api/field-error.js";
import type { Json } from "../api/json.js";
import type { FieldError } from "../api/status-error.js";
import type { Schema } from "../facts/schema.js";
import { regex } from "./regex.js";

type Level = "root" | "item" | "field";

/** Fields that are forbidden below allOf, anyOf, oneOf and not. */
const FORBIDDEN_BELOW: readonly (readonly [field: keyof Schema, why: string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

/** Checks that a CRD's schema is structural. Error fields start with `path`, the path of the schema. */
export function validateStructural(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  checkInvariants(schema, "root", path, errors);
  checkCompleteness(schema, path, errors);
  const text = ({ field, detail }: FieldError): string => `${field}: ${detail}`;
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

function checkInvariants(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { type, items, properties = {}, additionalProperties } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isPreserving = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;
  if (type === "array" && items === undefined) errors.push(required(`${path}.items`, "must be specified"));
  if (items !== undefined) checkInvariants(items, "item", `${path}.items`, errors);
  for (const [key, property] of Object.entries(properties)) {
    checkInvariants(property, "field", `${path}.properties[${key}]`, errors);
  }
  if (additionalProperties !== undefined) {
    if (level === "root") {
      errors.push(forbiddenField(`${path}.additionalProperties`, "must not be used at the root"));
    }
    if (typeof additionalProperties === "object") {
      checkInvariants(additionalProperties, "field", `${path}.additionalProperties`, errors);
    }
  }
  if (isIntOrString && isPreserving) {
    const why = "must be false if x-kubernetes-int-or-string is true";
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, true, why));
  }
  if (isIntOrString && isEmbedded) {
    const why = "must be false if x-kubernetes-int-or-string is true";
    errors.push(invalidValue(`${path}.x-kubernetes-embedded-resource`, true, why));
  }
  checkValueValidation(schema, isIntOrStringPair(schema), isIntOrStringPair(schema.allOf?.[0]), path, errors);
  checkTypes(schema, level, path, errors);
  checkIdentity(schema, level, path, errors);
  if (isEmbedded && !isPreserving && Object.keys(properties).length === 0) {
    const why =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, why));
  }
}

function checkTypes(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { type = "" } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (isEmbedded && type !== "object") {
    const why = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why));
  } else if (
    type === "" &&
    schema["x-kubernetes-int-or-string"] !== true &&
    schema["x-kubernetes-preserve-unknown-fields"] !== true
  ) {
    const where = { root: "at the root", item: "for specified array items", field: "for specified object fields" };
    errors.push(required(`${path}.type`, `must not be empty ${where[level]}`));
  }
  if (isEmbedded && schema.additionalProperties !== undefined) {
    const why = "must not be used if x-kubernetes-embedded-resource is set";
    errors.push(forbiddenField(`${path}.additionalProperties`, why));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalidValue(`${path}.type`, type, "must be object at the root"));
  }
}

/** apiVersion, kind and metadata are implied. A schema may only restrict the name and generateName. */
function checkIdentity(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  for (const name of ["kind", "apiVersion"]) {
    const property = schema.properties?.[name];
    if (isResource && property !== undefined && property.type !== "string") {
      errors.push(invalidValue(`${path}.properties[${name}].type`, property.type ?? "", "must be string"));
    }
  }
  const metadata = schema.properties?.metadata;
  if (metadata === undefined) return;
  const at = `${path}.properties[metadata]`;
  if (isResource && metadata.type !== "object") {
    errors.push(invalidValue(`${at}.type`, metadata.type ?? "", "must be object"));
  }
  if (level === "root") {
    const { type: _type, default: _default, properties = {}, ...rest } = metadata;
    const isOnlyNames = Object.keys(properties).every((name) => name === "name" || name === "generateName");
    const meaningful = Object.values(rest).some((value) => value !== undefined && value !== false);
    if (!isOnlyNames || meaningful) {
      const why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
      errors.push(forbiddenField(at, why));
    }
  }
}

function checkValueValidation(
  schema: Schema,
  skipAnyOf: boolean,
  skipFirstAllOfAnyOf: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (!skipAnyOf) {
    for (const [index, part] of (schema.anyOf ?? []).entries())
      checkNested(part, false, `${path}.anyOf[${index}]`, errors);
  }
  for (const [index, part] of (schema.allOf ?? []).entries()) {
    checkNested(part, skipFirstAllOfAnyOf && index === 0, `${path}.allOf[${index}]`, errors);
  }
  for (const [index, part] of (schema.oneOf ?? []).entries())
    checkNested(part, false, `${path}.oneOf[${index}]`, errors);
  if (schema.not !== undefined) checkNested(schema.not, false, `${path}.not`, errors);
  if (schema.pattern) {
    const compiled = regex(schema.pattern);
    if ("error" in compiled) {
      const why = `must be a valid regular expression, but isn't: ${compiled.error}`;
      errors.push(invalidValue(`${path}.pattern`, schema.pattern, why));
    }
  }
}

function checkNested(schema: Schema, skipAnyOf: boolean, path: string, errors: FieldError[]): void {
  checkValueValidation(schema, skipAnyOf, false, path, errors);
  if (schema.items !== undefined) checkNested(schema.items, false, `${path}.items`, errors);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    checkNested(property, false, `${path}.properties[${key}]`, errors);
  }
  for (const [name, why] of FORBIDDEN_BELOW) {
    const value = schema[name];
    const isAbsent =
      value === undefined || value === false || value === "" || (Array.isArray(value) && value.length === 0);
    if (!isAbsent || (name === "additionalProperties" && value === false)) {
      errors.push(forbiddenField(`${path}.${name}`, why));
    }
  }
  if (schema.properties?.metadata !== undefined) {
    errors.push(forbiddenField(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  }
}

function isIntOrStringPair(schema: Schema | undefined): boolean {
  return isSameJson((schema?.anyOf ?? null) as Json, [{ type: "integer" }, { type: "string" }]);
}

/** Every field that a combinator at the root mentions must exist in the structure. */
function checkCompleteness(schema: Schema, path: string, errors: FieldError[]): void {
  const combinations = [
    ...(schema.allOf ?? []).map((part, index) => [part, `${path}.allOf[${index}]`] as const),
    ...(schema.anyOf ?? []).map((part, index) => [part, `${path}.anyOf[${index}]`] as const),
    ...(schema.oneOf ?? []).map((part, index) => [part, `${path}.oneOf[${index}]`] as const),
    ...(schema.not === undefined ? [] : [[schema.not, `${path}.not`] as const]),
  ];
  for (const [part, at] of combinations) checkCovered(part, schema, at, path, errors);
}

function checkCovered(
  part: Schema,
  structure: Schema | undefined,
  partPath: string,
  path: string,
  errors: FieldError[],
): void {
  if (structure === undefined) {
    errors.push(required(path, `because it is defined in ${partPath}`));
    return;
  }
  for (const list of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [index, inner] of (part[list] ?? []).entries()) {
      checkCovered(inner, structure, `${partPath}.${list}[${index}]`, path, errors);
    }
  }
  if (part.not !== undefined) checkCovered(part.not, structure, `${partPath}.not`, path, errors);
  for (const [key, property] of Object.entries(part.properties ?? {})) {
    const at = `${partPath}.properties[${key}]`;
    checkCovered(property, structure.properties?.[key], at, `${path}.properties[${key}]`, errors);
  }
  if (part.items !== undefined) {
    checkCovered(part.items, structure.items, `${partPath}.items`, `${path}.items`, errors);
  }
}
