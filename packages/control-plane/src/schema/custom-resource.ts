import type { ObjectMeta } from "setpoint";
import { pathSegmentName } from "setpoint/kinds";
import { addErrors, BoundedTexts, fieldErrors } from "../api/error-budget.js";
import { invalidValue, placed, required } from "../api/field-error.js";
import {
  isArray,
  isObject,
  type Json,
  type JsonObject,
  type MutableJsonObject,
  setField,
  withField,
} from "../api/json.js";
import { perObject } from "../api/memoized.js";
import { validateObjectMeta } from "../api/metadata/object-meta-validation.js";
import type { FieldError } from "../api/status-error.js";
import type { Message } from "../facts/message.js";
import type { Schema } from "../facts/schema.js";
import { pruneNulls } from "./defaulting.js";
import { DecodingError, decodePart } from "./go-decoding.js";
import { validateListTypes } from "./list-type.js";
import { type Pruned, prune } from "./pruning.js";
import { validate } from "./validation.js";

/**
 * Decodes a custom resource as kube-apiserver does. Metadata becomes an ObjectMeta. Unknown fields are dropped (and
 * reported), as are nulls that the schema neither allows nor defaults. Throws `DecodingError` if metadata is invalid.
 */
export function coerceCustomResource(schema: Schema | undefined, object: JsonObject, objectMeta: Message): Pruned {
  const { metadata } = object;
  const unknown = new BoundedTexts();
  let result = object;
  if (metadata !== undefined) {
    const decoded = decodeMetadata(metadata, objectMeta);
    for (const path of decoded.unknown) unknown.add(`metadata.${path}`);
    result = withField(result, "metadata", decoded.object);
  }
  const pruned = prune(schema, result);
  for (const path of pruned.unknown) unknown.add(path);
  result = pruneNulls(schema, pruned.object);
  if (schema !== undefined) result = coerceEmbedded(schema, result, objectMeta, "", unknown, true) as JsonObject;
  return { object: result, unknown: unknown.texts };
}

/**
 * Validates a custom resource against its schema: values, embedded resources, sets and list maps. With `old`,
 * tolerates errors in unchanged parts.
 */
export function validateCustomResource(schema: Schema, object: JsonObject, old?: JsonObject): FieldError[] {
  const errors = validate(schema, object, old === undefined ? {} : { old });
  validateEmbedded(schema, object, "", errors, true);
  if (old === undefined || validateListTypes(schema, old).length === 0) {
    addErrors(errors, validateListTypes(schema, object));
  }
  return errors;
}

/** Validates a write to `/status`: only the status. Error messages name fields relative to the status. */
export function validateStatus(schema: Schema, object: JsonObject, old: JsonObject): FieldError[] {
  const part = schema.properties?.status;
  const errors: FieldError[] = fieldErrors();
  if (part !== undefined && object.status !== undefined) {
    addErrors(errors, validate(part, object.status, { old: old.status, prefix: "status" }));
  }
  const repeated = validateListTypes(schema, object);
  if (repeated.length > 0 && validateListTypes(schema, old).length === 0) addErrors(errors, repeated);
  return errors;
}

const completeWith = perObject((objectMeta: Schema) =>
  perObject((schema: Schema): Schema => completeObject(schema, objectMeta)),
);

/** Adds the fields of every object to a custom resource's schema: apiVersion, kind and the built-in ObjectMeta. */
export function completeSchema(schema: Schema, objectMeta: Schema): Schema {
  return completeWith(objectMeta)(schema);
}

function completeObject(schema: Schema, objectMeta: Schema): Schema {
  const metadata = closed(objectMeta);
  const identity = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata } as const;
  const complete = completeParts(schema, objectMeta);
  return { ...complete, properties: { ...complete.properties, ...identity } };
}

/** Metadata has no unknown fields, even below `x-kubernetes-preserve-unknown-fields`. */
const closed = perObject(
  (objectMeta: Schema): Schema => ({ ...objectMeta, "x-kubernetes-preserve-unknown-fields": false }),
);

/** Embedded resources have an ObjectMeta too. */
function completeParts(schema: Schema, objectMeta: Schema): Schema {
  const complete = (part: Schema): Schema =>
    part["x-kubernetes-embedded-resource"] ? completeObject(part, objectMeta) : completeParts(part, objectMeta);
  return {
    ...schema,
    ...(schema.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(schema.properties).map(([key, property]) => [key, complete(property)]),
          ),
        }),
    ...(schema.items === undefined ? {} : { items: complete(schema.items) }),
    ...(typeof schema.additionalProperties === "object"
      ? { additionalProperties: complete(schema.additionalProperties) }
      : {}),
  };
}

function decodeMetadata(metadata: Json, objectMeta: Message): Pruned {
  if (metadata === null) return { object: {}, unknown: [] };
  if (!isObject(metadata)) {
    const found = isArray(metadata) ? "array" : typeof metadata === "boolean" ? "bool" : typeof metadata;
    throw new DecodingError(`json: cannot unmarshal ${found} into Go value of type v1.ObjectMeta`);
  }
  return decodePart(objectMeta, metadata);
}

function coerceEmbedded(
  schema: Schema,
  value: Json,
  objectMeta: Message,
  path: string,
  unknown: BoundedTexts,
  isRoot: boolean,
): Json {
  if (isArray(value)) {
    const { items } = schema;
    if (items === undefined || !embeds(items)) return value;
    let result: Json[] | undefined;
    for (const [index, item] of value.entries()) {
      const coerced = coerceEmbedded(items, item, objectMeta, `${path}[${index}]`, unknown, false);
      if (coerced !== item) (result ??= [...value])[index] = coerced;
    }
    return result ?? value;
  }
  if (!isObject(value) || !embeds(schema)) return value;
  let result: MutableJsonObject | undefined;
  if (schema["x-kubernetes-embedded-resource"] && !isRoot && value.metadata !== undefined) {
    const decoded = decodeMetadata(value.metadata, objectMeta);
    for (const name of decoded.unknown) unknown.add(`${path}.metadata.${name}`);
    result = { ...value, metadata: decoded.object };
  }
  for (const key of Object.keys(value)) {
    const child = childOf(schema, key);
    if (child === undefined) continue;
    const at = path === "" ? key : `${path}.${key}`;
    const before = (result ?? value)[key]!;
    const coerced = coerceEmbedded(child, before, objectMeta, at, unknown, false);
    if (coerced !== before) setField((result ??= { ...value }), key, coerced);
  }
  return result ?? value;
}

/** Whether the schema has an embedded resource at any depth. */
const embeds = perObject((schema: Schema): boolean => {
  const { properties = {}, items, additionalProperties } = schema;
  const parts = [...Object.values(properties), items, additionalProperties];
  return (
    schema["x-kubernetes-embedded-resource"] === true || parts.some((part) => typeof part === "object" && embeds(part))
  );
});

function validateEmbedded(schema: Schema, value: Json, path: string, errors: FieldError[], isRoot: boolean): void {
  if (!embeds(schema)) return;
  if (isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (schema.items !== undefined) validateEmbedded(schema.items, item, `${path}[${index}]`, errors, false);
    }
    return;
  }
  if (!isObject(value)) return;
  if (schema["x-kubernetes-embedded-resource"] && !isRoot) {
    validateIdentity(value, path, errors);
    addErrors(errors, embeddedMetadata(value, path));
  }
  for (const key of Object.keys(value)) {
    const isProperty = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const child = childOf(schema, key);
    if (child === undefined) continue;
    const at = isProperty ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`;
    validateEmbedded(child, value[key]!, at, errors, false);
  }
}

function validateIdentity(resource: JsonObject, path: string, errors: FieldError[]): void {
  for (const name of ["apiVersion", "kind"]) {
    if (!Object.hasOwn(resource, name)) errors.push(required(`${path}.${name}`));
  }
  for (const name of ["apiVersion", "kind"]) {
    if (!Object.hasOwn(resource, name)) continue;
    const value = resource[name]!;
    const at = `${path}.${name}`;
    if (typeof value !== "string") errors.push(invalidValue(at, value, "must be a string"));
    else if (value === "") errors.push(invalidValue(at, value, "must not be empty"));
    else if (name === "apiVersion" && value.split("/").length > 2) {
      errors.push(invalidValue(at, value, `unexpected GroupVersion string: ${value}`));
    } else if (name === "kind" && !/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(value.toLowerCase())) {
      const rule =
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
      errors.push(invalidValue(at, value, `may have mixed case, but should otherwise match: ${rule}`));
    }
  }
}

/** Validates the metadata of an embedded resource like any other metadata, except that it needs no name. */
function embeddedMetadata({ metadata }: JsonObject, path: string): FieldError[] {
  if (!isObject(metadata)) return [];
  const named = { name: "unnamed", ...metadata } as unknown as ObjectMeta;
  const errors = validateObjectMeta({ metadata: named }, Boolean(named.namespace), pathSegmentName);
  return errors.map((error) => placed(error, `${path}.${error.field}`));
}

function childOf(schema: Schema, key: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
