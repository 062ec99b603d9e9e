import { isSetpointError } from "../../errors/error.js";
import type { JSONSchemaProps, ValidationRule } from "../builtin/apiextensions.k8s.io/v1.js";
import { ownField } from "../own-field.js";
import { inexpressible, type JsonSchema } from "./json-schema.js";
import {
  annotationsOf,
  checkExpressible,
  extensionsOf,
  patternOf,
  rulesOf,
  type SchemaDraft,
  validationsOf,
  withoutAnnotations,
} from "./schema-keywords.js";
import { fieldStep, isOpaque, type Place, resolve } from "./schema-place.js";
import { unionOf } from "./schema-union.js";

/** A schema in the form of CustomResourceDefinitions: every value has one type, and all fields are declared in one place. */
export type StructuralSchema = JSONSchemaProps;

/**
 * The structural form of a JSON Schema. Throws `SCHEMA_INEXPRESSIBLE` with the path if there is none: the server would
 * refuse the schema, or accept other values.
 */
export function toStructural(given: unknown, place: Place): StructuralSchema {
  const { schema, place: here } = resolve(given, place);
  if (!isOpaque(schema)) return convert(schema, here);
  try {
    return convert(schema, here);
  } catch (error) {
    if (!isSetpointError(error, "SCHEMA_INEXPRESSIBLE")) throw error;
    return {
      ...annotationsOf(schema),
      ...(schema.type === "object" ? { type: "object" } : {}),
      ...extensionsOf(schema),
    };
  }
}

function convert(schema: JsonSchema, place: Place): StructuralSchema {
  checkExpressible(schema, place);
  const { bare, isNullable } = withoutNull(schema, place);
  const core = coreOf(bare, place);
  const annotations = annotationsOf(schema);
  // Annotations come first for readability, and again last, because a union's own text takes precedence over that of
  // its branch.
  const draft: SchemaDraft = { ...annotations, ...core, ...annotations };
  if (isNullable) makeNullable(draft, place);
  const rules = distinctRules([...(core["x-kubernetes-validations"] ?? []), ...rulesOf(schema)]);
  Object.assign(draft, extensionsOf(schema));
  if (rules.length > 0) draft["x-kubernetes-validations"] = rules;
  checkListType(draft, place);
  return draft;
}

const distinctRules = (rules: readonly ValidationRule[]): readonly ValidationRule[] => [
  ...new Map(rules.map((rule) => [rule.rule, rule])).values(),
];

/** Servers refuse null for an enum that contains null. A pattern expresses the same and does not apply to null. */
function makeNullable(draft: SchemaDraft, place: Place): void {
  draft.nullable = true;
  if (!draft.enum) return;
  if (draft.type !== "string") throw inexpressible(place.path, "only an enum of texts can be nullable");
  const choices = draft.enum.map((value) => String(value).replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  draft.pattern = `^(${choices.join("|")})$`;
  delete draft.enum;
}

function withoutNull(schema: JsonSchema, place: Place): { bare: JsonSchema; isNullable: boolean } {
  let isNullable = schema.nullable === true;
  const bare: Record<string, unknown> = { ...schema };
  if (Array.isArray(bare.type) && bare.type.includes("null")) {
    isNullable = true;
    const types = bare.type.filter((type) => type !== "null");
    bare.type = types.length === 1 ? types[0] : types;
  }
  for (const junction of ["anyOf", "oneOf"]) {
    const branches = bare[junction];
    if (!Array.isArray(branches)) continue;
    const rest = branches.filter((branch) => (branch as JsonSchema).type !== "null");
    if (rest.length < branches.length) isNullable = true;
    bare[junction] = rest;
  }
  if (Array.isArray(bare.enum) && bare.enum.includes(null)) {
    isNullable = true;
    bare.enum = bare.enum.filter((value) => value !== null);
  }
  const isOnlyNull =
    bare.type === "null" || bare.const === null || (isNullable && Array.isArray(bare.type) && !bare.type.length);
  if (isOnlyNull) throw inexpressible(place.path, "a value that can only be null cannot be expressed");
  return { bare, isNullable };
}

/** The schema without annotations, null and extensions. */
function coreOf(schema: JsonSchema, place: Place): SchemaDraft {
  const branches = (schema.oneOf ?? schema.anyOf) as readonly unknown[] | undefined;
  const inBranch = { ...place, isBranch: true };
  if (schema["x-kubernetes-int-or-string"] === true) return validationsOf(schema, place);
  if (branches?.length === 1) {
    const { schema: only, place: there } = resolve(branches[0], inBranch);
    return { ...validationsOf(schema, place), ...convert(only, there) };
  }
  if (branches) {
    const isExclusive = schema.oneOf !== undefined;
    return unionOf(
      branches.map((branch) => toStructural(branch, inBranch)),
      place.path,
      isExclusive,
    );
  }
  if (Array.isArray(schema.allOf)) return intersectionOf(schema, schema.allOf, place);
  if (Array.isArray(schema.type)) {
    const types = schema.type as readonly string[];
    return unionOf(
      types.map((type) => toStructural({ ...withoutAnnotations(schema), type }, inBranch)),
      place.path,
      false,
    );
  }
  if (schema.const !== undefined) return coreOf({ ...schema, const: undefined, enum: [schema.const] }, place);
  const type = (schema.type as string | undefined) ?? impliedType(schema);
  switch (type) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
      return { type, ...validationsOf(schema, place) };
    case "array":
      return listOf(schema, place);
    case "object":
      return objectOf(schema, place);
    case undefined:
      return { "x-kubernetes-preserve-unknown-fields": true };
    default:
      throw inexpressible(place.path, `there is no type "${type}"`);
  }
}

function impliedType(schema: JsonSchema): string | undefined {
  if (Array.isArray(schema.enum)) {
    const types = new Set(schema.enum.map((value) => (Array.isArray(value) ? "array" : typeof value)));
    return types.size === 1 ? [...types][0] : undefined;
  }
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return "object";
  return schema.items === undefined ? undefined : "array";
}

/** Merges objects into one; keeps constraints without a type. */
function intersectionOf(schema: JsonSchema, parts: readonly unknown[], place: Place): SchemaDraft {
  const inBranch = { ...place, isBranch: true };
  const resolved = parts.map((part) => resolve(part, inBranch).schema);
  const base: JsonSchema = { ...schema, allOf: undefined };
  const baseType = base.type ?? impliedType(base);
  if (resolved.every((part) => baseType !== undefined && baseType !== "object" && isConstraint(part))) {
    return { ...coreOf(base, place), allOf: resolved.map((part) => validationsOf(part, place)) };
  }
  const all = baseType === undefined ? resolved : [base, ...resolved];
  const merged: Record<string, unknown> = {};
  for (const part of all) {
    for (const [keyword, value] of Object.entries(part)) {
      // Unknown fields are pruned, not refused, because another part may declare them.
      if (value === undefined || (keyword === "additionalProperties" && value === false)) continue;
      if (keyword === "properties") merged.properties = mergeFields(merged.properties, value, place);
      else if (keyword === "required")
        merged.required = [...((merged.required as string[]) ?? []), ...(value as string[])];
      else if (merged[keyword] === undefined || JSON.stringify(merged[keyword]) === JSON.stringify(value)) {
        merged[keyword] = value;
      } else if (keyword !== "description" && keyword !== "title") {
        throw inexpressible(place.path, `the parts of an intersection disagree about \`${keyword}\``);
      }
    }
  }
  return convert(merged, place);
}

const isConstraint = (part: JsonSchema): boolean => part.properties === undefined && part.items === undefined;

function mergeFields(into: unknown, from: unknown, place: Place): Record<string, unknown> {
  const fields = new Map(Object.entries((into as JsonSchema | undefined) ?? {}));
  for (const [name, field] of Object.entries(from as JsonSchema)) {
    const known = fields.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(field)) {
      throw inexpressible(`${place.path}${fieldStep(name)}`, "the parts of an intersection disagree about it");
    }
    fields.set(name, field);
  }
  return Object.fromEntries(fields);
}

function listOf(schema: JsonSchema, place: Place): SchemaDraft {
  const inside = { ...place, path: `${place.path}[]`, depth: place.depth + 1, isBranch: false };
  const draft: SchemaDraft = { type: "array", items: toStructural(schema.items, inside) };
  if (typeof schema.minItems === "number") draft.minItems = schema.minItems;
  if (typeof schema.maxItems === "number") draft.maxItems = schema.maxItems;
  if (schema.uniqueItems === true) draft["x-kubernetes-list-type"] = "set";
  return draft;
}

function objectOf(schema: JsonSchema, place: Place): SchemaDraft {
  const draft: SchemaDraft = { type: "object" };
  if (typeof schema.minProperties === "number") draft.minProperties = schema.minProperties;
  if (typeof schema.maxProperties === "number") draft.maxProperties = schema.maxProperties;
  const names = schema.propertyNames as JsonSchema | undefined;
  const others = schema.additionalProperties;
  const hasOthers = typeof others === "object" && others !== null && Object.keys(others).length > 0;
  const fields = schema.properties as JsonSchema | undefined;
  if (fields === undefined && Array.isArray(names?.enum)) {
    return { ...draft, ...fieldsOf(Object.fromEntries(names.enum.map((name) => [name, others])), schema, place) };
  }
  if (fields !== undefined) {
    if (hasOthers) throw inexpressible(place.path, "named fields beside a schema for all others cannot be expressed");
    Object.assign(draft, fieldsOf(fields, schema, place));
  } else if (hasOthers) {
    const inside = { ...place, path: `${place.path}.*`, depth: place.depth + 1, isBranch: false };
    draft.additionalProperties = toStructural(others, inside);
  }
  const isOpen = others === true || (typeof others === "object" && !hasOthers);
  if (isOpen || (fields === undefined && others === undefined)) draft["x-kubernetes-preserve-unknown-fields"] = true;
  const rules = keyRules(names, draft, place);
  return rules.length > 0 ? { ...draft, "x-kubernetes-validations": rules } : draft;
}

function fieldsOf(fields: JsonSchema, schema: JsonSchema, place: Place): SchemaDraft {
  const properties = Object.entries(fields).map(([name, field]) => {
    const inside = { ...place, path: `${place.path}${fieldStep(name)}`, isBranch: false };
    return [name, toStructural(field, inside)] as const;
  });
  const required = new Set(
    (schema.required as readonly string[] | undefined)?.filter((name) => Object.hasOwn(fields, name)),
  );
  return {
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
}

/** The pattern of map keys as a CEL rule, because structural schemas have no keyword for it. */
function keyRules(names: JsonSchema | undefined, draft: SchemaDraft, place: Place): ValidationRule[] {
  const conditions: string[] = [];
  if (typeof names?.pattern === "string")
    conditions.push(`key.matches(${JSON.stringify(patternOf(names.pattern, place))})`);
  if (typeof names?.minLength === "number") conditions.push(`key.size() >= ${names.minLength}`);
  if (typeof names?.maxLength === "number") conditions.push(`key.size() <= ${names.maxLength}`);
  if (conditions.length === 0) return [];
  if (place.depth > 0 && draft.maxProperties === undefined) {
    throw inexpressible(
      place.path,
      "a rule for the keys of a map inside a list or a map costs too much without maxProperties",
    );
  }
  const what = names?.pattern === undefined ? "have the right length" : `match ${names.pattern}`;
  return [{ rule: `self.all(key, ${conditions.join(" && ")})`, message: `keys must ${what}` }];
}

/** Server-side apply must be able to identify the items of a set or a list map. */
function checkListType(draft: SchemaDraft, place: Place): void {
  const type = draft["x-kubernetes-list-type"];
  if (type === undefined) return;
  if (draft.type !== "array") throw inexpressible(place.path, `only a list can be marked as ${type}`);
  const items = draft.items as StructuralSchema;
  if (type === "set" && (items.type === undefined || items.type === "object" || items.type === "array")) {
    throw inexpressible(place.path, "only a list of scalars can be a set; use k8s.listMap for objects");
  }
  if (type !== "map") return;
  for (const key of draft["x-kubernetes-list-map-keys"] ?? []) {
    const field = ownField(items.properties, key);
    if (!field) throw inexpressible(`${place.path}[]`, `it has no field "${key}", which is a key of the list map`);
    if (field.default === undefined && !items.required?.includes(key)) {
      throw inexpressible(
        `${place.path}[].${key}`,
        "it is a key of the list map, so it must be required or have a default",
      );
    }
  }
}
