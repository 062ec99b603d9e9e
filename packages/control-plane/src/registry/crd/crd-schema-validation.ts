import { isSameJson } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { forbiddenField, invalidValue, notSupported, placed, required } from "../../api/field-error.js";
import { isObject, type Json } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { ruleIssues, ruleTextIssues } from "../../cel/schema/rule-issues.js";
import type { Schema } from "../../facts/schema.js";
import { prune } from "../../schema/pruning.js";
import { validateStructural } from "../../schema/structural.js";
import { validate } from "../../schema/validation.js";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const ALLOWED_AT_ROOT = [
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "enum",
  "items",
  "properties",
  "externalDocs",
  "example",
];
const UNSUPPORTED = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];

/** Validates a CRD schema: it is structural, its defaults are valid, and it uses only supported fields. */
export function validateCrdSchema(schema: Schema, path: string, hasStatus: boolean): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  if (hasStatus) errors.push(...validateRoot(schema, path));
  if (schema.nullable) errors.push(forbiddenField(`${path}.nullable`, "nullable cannot be true at the root"));
  const isPlain = !namesDialect(schema);
  if (isPlain) {
    const structural = validateStructural(schema, path);
    errors.push(...(structural.length > 0 ? structural : validateDefaults(schema, path)));
  }
  errors.push(...validateNode(schema, path));
  if (errors.length > 0) return errors;
  return isPlain
    ? [...ruleIssues(schema, path)]
    : [invalidValue(path, "", "OpenAPIV3Schema 'schema' is not supported")];
}

/**
 * Whether a schema or one of its parts sets `$schema`. The real server then skips the structural checks and rejects the
 * schema.
 */
function namesDialect(schema: Schema): boolean {
  const { $schema, not, allOf = [], oneOf = [], anyOf = [] } = schema as Schema & { readonly $schema?: string };
  const parts = [...partsOf(schema, "").map(([part]) => part), ...allOf, ...oneOf, ...anyOf, ...(not ? [not] : [])];
  return ($schema ?? "") !== "" || parts.some(namesDialect);
}

/** With a status subresource the server extracts the status schema from the root; other root fields would be lost. */
function validateRoot(schema: Schema, path: string): readonly FieldError[] {
  if (schema.type !== undefined && schema.type !== "object") {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidValue(`${path}.type`, schema.type, detail)];
  }
  const known = (key: string): boolean => ALLOWED_AT_ROOT.includes(key) || key.startsWith("x-kubernetes-");
  if (Object.keys(schema).every(known)) return [];
  const names = ALLOWED_AT_ROOT.map((name) => name.charAt(0).toUpperCase() + name.slice(1)).join(" ");
  const detail = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidValue(path, schema, detail)];
}

/** A default must be valid under its own schema, and pruning must not change it. */
function validateDefaults(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  if (schema.default !== undefined) {
    const value = schema.default as Json;
    const field = `${path}.default`;
    for (const error of validate(schema, value)) {
      errors.push(placed(error, error.field === "<nil>" ? field : `${field}.${error.field}`));
    }
    if (isObject(value) && !isSameJson(prune(schema, value).object, value)) {
      errors.push(invalidValue(field, value, "must not have unknown fields"));
    }
  }
  for (const [part, at] of partsOf(schema, path)) errors.push(...validateDefaults(part, at));
  return errors;
}

/** The parts of a schema that describe values, with their paths. */
function partsOf(schema: Schema, path: string): readonly (readonly [Schema, string])[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    ...(typeof additionalProperties === "object"
      ? [[additionalProperties, `${path}.additionalProperties`] as const]
      : []),
    ...Object.entries(properties).map(([name, part]) => [part, `${path}.properties[${name}]`] as const),
    ...(items === undefined ? [] : [[items, `${path}.items`] as const]),
  ];
}

function validateNode(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const { type } = schema;
  if (type && !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES));
  for (const key of UNSUPPORTED) {
    if (Object.hasOwn(schema, key)) errors.push(forbiddenField(`${path}.${key}`, `${key} is not supported`));
  }
  if (schema.uniqueItems) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbiddenField(`${path}.uniqueItems`, detail));
  }
  const { additionalProperties, properties = {} } = schema;
  const isMap = additionalProperties !== undefined && additionalProperties !== true;
  if (isMap && Object.keys(properties).length > 0) {
    const detail = "additionalProperties and properties are mutual exclusive";
    errors.push(forbiddenField(`${path}.additionalProperties`, detail));
  }
  for (const [part, at] of partsOf(schema, path)) errors.push(...validateNode(part, at));
  if (schema.not) errors.push(...validateNode(schema.not, `${path}.not`));
  for (const key of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [index, part] of (schema[key] ?? []).entries()) {
      errors.push(...validateNode(part, `${path}.${key}[${index}]`));
    }
  }
  errors.push(...validateExtensions(schema, path), ...validateListMap(schema, path), ...ruleTextIssues(schema, path));
  return errors;
}

function validateExtensions(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const { type, items } = schema;
  const mapType = schema["x-kubernetes-map-type"] as string | undefined;
  const listType = schema["x-kubernetes-list-type"] as string | undefined;
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  const mustBe = (wanted: string, extension: string): void => {
    const detail = `must be ${wanted} if ${extension} is specified`;
    errors.push(type ? invalidValue(`${path}.type`, type, detail) : required(`${path}.type`, detail));
  };
  if (mapType !== undefined && type !== "object") mustBe("object", "x-kubernetes-map-type");
  if (mapType !== undefined && mapType !== "atomic" && mapType !== "granular") {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  if (listType !== undefined && type !== "array") mustBe("array", "x-kubernetes-list-type");
  else if (listType === "set" && items !== undefined) errors.push(...validateSetItems(items, `${path}.items`));
  if (listType !== undefined && !["atomic", "set", "map"].includes(listType)) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  }
  return errors;
}

function validateSetItems(items: Schema, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalidValue(`${path}.x-kubernetes-list-type`, listType, detail)];
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    return [invalidValue(`${path}.x-kubernetes-map-type`, listType ?? null, detail)];
  }
  return [];
}

function validateListMap(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const keysField = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(field, detail) : invalidValue(field, listType, detail));
  }
  if (listType !== "map") return errors;
  if (keys.length === 0) errors.push(required(keysField, "must not be empty if x-kubernetes-list-type is map"));
  const { items } = schema;
  if (items === undefined) {
    errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
    return errors;
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalidValue(`${path}.items.type`, items.type ?? "", detail));
    return errors;
  }
  keys.forEach((key, index) => {
    const property = items.properties?.[key];
    if (property === undefined) {
      errors.push(invalidValue(keysField, keys, "entries must all be names of item properties"));
    } else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidValue(`${path}.items.properties[${key}].type`, items.type, detail));
    } else errors.push(...validateKey(items, key, property, path));
    if (keys.indexOf(key) < index) errors.push(invalidValue(keysField, keys, "must not contain duplicate entries"));
  });
  if (items.nullable) {
    errors.push(forbiddenField(`${path}.items.nullable`, "cannot be nullable when x-kubernetes-list-type is map"));
  }
  return errors;
}

function validateKey(items: Schema, key: string, property: Schema, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const field = `${path}.items.properties[${key}]`;
  const isRequired = items.required?.includes(key) ?? false;
  if (!isRequired && property.default === undefined) {
    const detail =
      "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
    errors.push(required(`${field}.default`, detail));
  }
  if (property.nullable) {
    const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
    errors.push(forbiddenField(`${field}.nullable`, detail));
  }
  return errors;
}
