import type { Schema } from "../../facts/schema.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  struct,
  TIMESTAMP,
  type Type,
} from "../types/type.js";
import { escapedName } from "./field-name.js";

const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
/** The longest text in a request: the whole request except the quotes. */
const MAX_TEXT_LENGTH = MAX_REQUEST_BYTES - 2;

/** A schema as expressions see it: types and maximum sizes. */
export interface DeclaredType {
  /** By escaped name. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
  readonly key?: DeclaredType;
  readonly element?: DeclaredType;
  /** The type, unless it is a list, map or object. */
  readonly simple?: Type;
  /** Maximum number of characters, bytes, items or entries. */
  readonly maxSize: number;
  /** The minimum JSON size of a value in bytes. */
  readonly minBytes: number;
}

const TEXT: DeclaredType = { simple: STRING, maxSize: 0, minBytes: 2 };

/** Undefined for a schema that expressions cannot access. A resource always has its names, whatever the schema says. */
export function declaredType(schema: Schema, isResource: boolean): DeclaredType | undefined {
  if (schema["x-kubernetes-int-or-string"]) {
    return { simple: DYN, maxSize: maxTextLength(schema, MAX_TEXT_LENGTH), minBytes: 1 };
  }
  const complete = isResource ? withObjectMeta(schema) : schema;
  switch (complete.type) {
    case "array":
      return declaredList(complete);
    case "object":
      return declaredObject(complete);
    case "string":
      return declaredText(complete);
    case "boolean":
      return { simple: BOOL, maxSize: 0, minBytes: 4 };
    case "number":
      return { simple: DOUBLE, maxSize: 0, minBytes: 1 };
    case "integer":
      return { simple: INT, maxSize: 0, minBytes: 1 };
    default:
      return undefined;
  }
}

const META: Schema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};

/** Adds the fields that every resource has and that expressions may use. */
export function withObjectMeta(schema: Schema): Schema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const { name, generateName } = metadata?.properties ?? {};
  const isComplete =
    [kind, apiVersion, name, generateName].every((part) => part?.type === "string") && metadata?.type === "object";
  if (isComplete) return schema;
  const properties = { ...schema.properties, kind: { type: "string" }, apiVersion: { type: "string" }, metadata: META };
  return { ...schema, properties } as Schema;
}

function isEmbedded(schema: Schema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

function declaredList({ items, maxItems }: Schema): DeclaredType | undefined {
  const element = items && declaredType(items, isEmbedded(items));
  if (element === undefined) return undefined;
  const maxSize = maxItems ?? Math.trunc((MAX_REQUEST_BYTES - 2) / (element.minBytes + 1));
  return { element, maxSize: Math.max(0, maxSize), minBytes: 2 };
}

function declaredObject(schema: Schema): DeclaredType | undefined {
  const { additionalProperties, maxProperties, properties = {}, required = [] } = schema;
  if (typeof additionalProperties === "object") {
    const element = declaredType(additionalProperties, isEmbedded(additionalProperties));
    if (element === undefined) return undefined;
    const maxSize = maxProperties ?? Math.trunc((MAX_REQUEST_BYTES - 2) / (element.minBytes + 6));
    return { key: TEXT, element, maxSize: Math.max(0, maxSize), minBytes: 2 };
  }
  const fields = new Map<string, DeclaredType>();
  let minBytes = 2;
  for (const [name, property] of Object.entries(properties)) {
    const declared = declaredType(property, isEmbedded(property));
    if (declared === undefined) continue;
    const escaped = escapedName(name);
    if (escaped !== undefined) fields.set(escaped, declared);
    const isNeeded = required.includes(name) && property.default === undefined;
    if (isNeeded) minBytes += Buffer.byteLength(name) + declared.minBytes + 4;
  }
  return { fields, maxSize: 0, minBytes };
}

function declaredText(schema: Schema): DeclaredType {
  switch (schema.format) {
    case "byte":
      return { simple: BYTES, maxSize: Math.max(0, schema.maxLength ?? MAX_TEXT_LENGTH), minBytes: 2 };
    case "duration":
      return { simple: DURATION, maxSize: 32, minBytes: 3 };
    case "date":
      return { simple: TIMESTAMP, maxSize: 12, minBytes: 12 };
    case "date-time":
      return { simple: TIMESTAMP, maxSize: 32, minBytes: 21 };
  }
  const choices = (schema.enum ?? []).map((value) => (typeof value === "string" ? Buffer.byteLength(value) : 0));
  const longest = choices.length > 0 ? Math.max(...choices) : MAX_TEXT_LENGTH;
  return { simple: STRING, maxSize: maxTextLength(schema, longest), minBytes: 2 };
}

/** A character takes up to four bytes. */
function maxTextLength({ maxLength }: Schema, otherwise: number): number {
  return maxLength === undefined ? otherwise : Math.max(0, maxLength) * 4;
}

/** The CEL type. Object types are named by their path below `name`. */
export function celType({ simple, fields, element, key }: DeclaredType, name: string): Type {
  if (simple !== undefined) return simple;
  if (fields !== undefined) {
    const types = new Map<string, Type>();
    return struct(name, (field) => {
      // A field named like a keyword also works unescaped.
      const declared = fields.get(field) ?? fields.get(escapedName(field) ?? "");
      if (declared === undefined) return undefined;
      const known = types.get(field) ?? celType(declared, `${name}.${field}`);
      types.set(field, known);
      return known;
    });
  }
  return key === undefined
    ? listOf(celType(element!, `${name}.@idx`))
    : mapOf(STRING, celType(element!, `${name}.@elem`));
}

/** The type at a path of fields, as cost estimates name them. */
export function declaredAt(root: DeclaredType, path: readonly string[]): DeclaredType | undefined {
  let current: DeclaredType | undefined = root;
  for (const name of path) {
    if (name === "@items" || name === "@values") current = current.element;
    else current = name === "@keys" ? current.key : current.fields?.get(name);
    if (current === undefined) return undefined;
  }
  return current;
}
