import { ownField } from "../own-field.js";
import { celName } from "../schema/cel.js";
import type { StructuralSchema } from "../schema/structural-schema.js";

/** A type of CEL; `A` and other single capitals stand for any type. */
export interface RuleType {
  readonly name: string;
  readonly of: readonly RuleType[];
  /** Of an object: what fields it has, besides those of every resource where it is one. */
  readonly schema?: StructuralSchema;
  readonly isResource?: boolean;
}

export const plain = (name: string, ...of: readonly RuleType[]): RuleType => ({ name, of });

export const DYN = plain("dyn");

const NAME: StructuralSchema = { type: "string" };

/** What every resource has and rules may use. */
const RESOURCE: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: NAME,
  kind: NAME,
  metadata: { type: "object", properties: { name: NAME, generateName: NAME } },
};

const FORMATS: Readonly<Record<string, string>> = {
  byte: "bytes",
  duration: "duration",
  date: "timestamp",
  "date-time": "timestamp",
};
const SCALARS: Readonly<Record<string, string>> = { boolean: "bool", number: "double", integer: "int" };

/** The type of what a schema describes; undefined where rules cannot see it. */
export function typeOfSchema(schema: StructuralSchema, isResource = false): RuleType | undefined {
  if (schema["x-kubernetes-int-or-string"]) return DYN;
  const part = (of: StructuralSchema): RuleType | undefined =>
    typeOfSchema(of, of["x-kubernetes-embedded-resource"] === true);
  switch (schema.type) {
    case "array": {
      const item = schema.items && part(schema.items as StructuralSchema);
      return item && plain("list", item);
    }
    case "object": {
      const { additionalProperties } = schema;
      if (typeof additionalProperties === "object") {
        const value = part(additionalProperties);
        return value && plain("map", plain("string"), value);
      }
      return { name: "object", of: [], schema, isResource };
    }
    case "string":
      return plain(FORMATS[schema.format ?? ""] ?? "string");
    default:
      return ownField(SCALARS, schema.type ?? "") ? plain(SCALARS[schema.type!]!) : undefined;
  }
}

/** The type of a field; undefined where there is no such field. What is no object has none. */
export function fieldType({ name, of, schema, isResource }: RuleType, field: string): RuleType | undefined {
  if (name === "dyn") return DYN;
  if (name === "map") return of[1];
  if (name === "optional_type") {
    const inner = fieldType(of[0]!, field);
    return inner && plain(name, inner);
  }
  for (const [key, part] of Object.entries({ ...schema?.properties, ...(isResource ? RESOURCE : {}) })) {
    if (key !== field && celName(key) !== field) continue;
    return typeOfSchema(part, part["x-kubernetes-embedded-resource"] === true);
  }
  return undefined;
}

/** Values that are never null, whatever their schema says. */
const SCALAR = /^(bool|u?int|double|string|bytes)$/;

/** Whether a value of one type may be where the other is expected; binds what stands for any type. */
export function fits(wanted: RuleType, given: RuleType, bound: Map<string, RuleType>): boolean {
  if (/^[A-Z]$/.test(wanted.name)) {
    const known = bound.get(wanted.name);
    if (known && known.name !== "dyn" && known.name !== "null") return fits(known, given, bound);
    bound.set(wanted.name, given);
    return !known || fits(given, known, bound);
  }
  const [name, other] = [wanted.name, given.name];
  if (name === "dyn" || other === "dyn") return true;
  if (name === "null" || other === "null") return !SCALAR.test(name) && !SCALAR.test(other);
  if (name !== other || (wanted.schema && given.schema && wanted.schema !== given.schema)) return false;
  return wanted.of.every((part, at) => !given.of[at] || fits(part, given.of[at], bound));
}

/** The type with what was bound in place of its capitals. */
export function bindType(type: RuleType, bound: ReadonlyMap<string, RuleType>): RuleType {
  if (/^[A-Z]$/.test(type.name)) return bound.get(type.name) ?? DYN;
  return type.of.length > 0 ? { ...type, of: type.of.map((part) => bindType(part, bound)) } : type;
}

export function typeText({ name, of }: RuleType): string {
  return of.length > 0 ? `${name}(${of.map(typeText).join(", ")})` : name;
}
