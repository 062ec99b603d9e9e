import type { ValidationRule } from "../builtin/apiextensions.k8s.io/v1.js";
import type { JsonValue } from "../object.js";
import { ownField } from "../own-field.js";
import { isSameJson } from "../same-json.js";
import { celField, celFieldPath, celOneOf } from "./cel.js";
import { inexpressible } from "./json-schema.js";
import type { SchemaDraft } from "./schema-keywords.js";
import type { StructuralSchema } from "./structural-schema.js";

/**
 * One structural schema for several branches: a value has one type, and all fields are declared in one place. Objects
 * are merged into one, with rules for which fields belong together; `isExclusive` for unions whose branches exclude
 * each other.
 */
export function unionOf(branches: readonly StructuralSchema[], path: string, isExclusive: boolean): SchemaDraft {
  const distinct = branches.filter((branch, at) => branches.findIndex((other) => isSameJson(other, branch)) === at);
  const only = distinct.length === 1 ? distinct[0] : undefined;
  if (only) return { ...only };
  const nullable = distinct.some((branch) => branch.nullable) ? { nullable: true } : {};
  const types = [...new Set(distinct.map((branch) => typeName(branch)))].sort();
  if (types.length === 1 && types[0] === "object") return { ...nullable, ...objectUnion(distinct, path, isExclusive) };
  if (types.length === 1 && isScalar(types[0]!)) return { ...nullable, ...scalarUnion(distinct) };
  if (types.every((type) => type === "integer" || type === "string" || type === "int-or-string")) {
    return { ...nullable, ...intOrString(distinct, path) };
  }
  const named = types.length === 1 ? `different kinds of ${types[0]}` : types.join(" and ");
  throw inexpressible(
    path,
    `a union of ${named} cannot be expressed (only integer with string); mark it k8s.preserveUnknownFields to leave it unchecked`,
  );
}

const isScalar = (type: string): boolean => ["string", "number", "integer", "boolean"].includes(type);

function typeName(schema: StructuralSchema): string {
  return schema["x-kubernetes-int-or-string"] ? "int-or-string" : (schema.type ?? "anything");
}

function scalarUnion(branches: readonly StructuralSchema[]): SchemaDraft {
  const type = branches[0]!.type!;
  if (branches.every((branch) => branch.enum)) {
    return { type, enum: [...new Set(branches.flatMap((branch) => branch.enum ?? []))] };
  }
  const constraints = branches.map(
    ({ type: _type, nullable: _nullable, description: _text, title: _title, ...rest }) => rest,
  );
  return constraints.some((rest) => Object.keys(rest).length === 0) ? { type } : { type, anyOf: constraints };
}

/** Constraints on strings do not apply to numbers and vice versa, so those of both branches can be combined. */
function intOrString(branches: readonly StructuralSchema[], path: string): SchemaDraft {
  const draft: SchemaDraft = { "x-kubernetes-int-or-string": true };
  for (const { type: _type, ...branch } of branches) {
    if (branch.enum) throw inexpressible(path, "choices cannot be expressed in a union of integer and string");
    Object.assign(draft, branch);
  }
  return draft;
}

function objectUnion(branches: readonly StructuralSchema[], path: string, isExclusive: boolean): SchemaDraft {
  for (const branch of branches) {
    if (branch.additionalProperties)
      throw inexpressible(path, "a union of a map with other objects cannot be expressed");
  }
  const discriminator = discriminatorOf(branches);
  const names = [...new Set(branches.flatMap((branch) => Object.keys(branch.properties ?? {})))];
  const properties = Object.fromEntries(
    names.map((name) => [name, mergeField(name, branches, name === discriminator, `${path}.${name}`)]),
  );
  const required = names.filter((name) => branches.every((branch) => branch.required?.includes(name)));
  const rules =
    discriminator === undefined
      ? choiceRules(branches, path, isExclusive)
      : discriminatedRules(discriminator, names, branches, path);
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(branches.some((branch) => branch["x-kubernetes-preserve-unknown-fields"])
      ? { "x-kubernetes-preserve-unknown-fields": true }
      : {}),
    ...(rules.length > 0 ? { "x-kubernetes-validations": rules } : {}),
  };
}

/** A field that every branch requires, with values that no two branches share. */
function discriminatorOf(branches: readonly StructuralSchema[]): string | undefined {
  return Object.keys(branches[0]!.properties ?? {}).find((name) => {
    const choices = branches.map((branch) =>
      branch.required?.includes(name) ? ownField(branch.properties, name)?.enum : undefined,
    );
    const all = choices.flatMap((values) => values ?? []);
    return choices.every((values) => values !== undefined) && new Set(all).size === all.length;
  });
}

function mergeField(
  name: string,
  branches: readonly StructuralSchema[],
  isDiscriminator: boolean,
  path: string,
): StructuralSchema {
  const fields = branches.flatMap((branch) => ownField(branch.properties, name) ?? []);
  const first = fields[0]!;
  if (fields.length < branches.length && first.default !== undefined) {
    throw inexpressible(path, "a default inside one branch of a union would be given to the others too");
  }
  const { description: _description, ...bare } = first;
  const isAlike = fields.every(({ description: _text, ...other }) => isSameJson(other, bare));
  if (isAlike) return first;
  const isChoice = fields.every((field) => field.enum && field.type === first.type);
  if (!isChoice) throw inexpressible(path, "the branches of a union disagree about it");
  const choices = [...new Set(fields.flatMap((field) => field.enum as readonly JsonValue[]))];
  return isDiscriminator ? { type: first.type, enum: choices } : { ...bare, enum: choices };
}

function discriminatedRules(
  discriminator: string,
  names: readonly string[],
  branches: readonly StructuralSchema[],
  path: string,
): ValidationRule[] {
  const subject = celField(discriminator, path);
  const valuesOf = (some: readonly StructuralSchema[]) =>
    some.flatMap((branch) => ownField(branch.properties, discriminator)?.enum ?? []);
  const when = (values: readonly unknown[]) =>
    `${discriminator} is ${values.map((value) => JSON.stringify(value)).join(" or ")}`;
  const rules: ValidationRule[] = [];
  for (const name of names) {
    if (name === discriminator) continue;
    const field = celField(name, path);
    const having = branches.filter((branch) => ownField(branch.properties, name));
    const requiring = branches.filter((branch) => branch.required?.includes(name));
    if (requiring.length > 0 && requiring.length < branches.length) {
      const values = valuesOf(requiring);
      rules.push({
        rule: `!(${celOneOf(subject, values)}) || has(${field})`,
        message: `${name} is required when ${when(values)}`,
        reason: "FieldValueRequired",
        fieldPath: celFieldPath(name),
      });
    }
    if (having.length < branches.length) {
      const values = valuesOf(having);
      rules.push({
        rule: `${celOneOf(subject, values)} || !has(${field})`,
        message: `${name} may only be set when ${when(values)}`,
        reason: "FieldValueForbidden",
        fieldPath: celFieldPath(name),
      });
    }
    rules.push(...narrowedRules(name, field, having));
  }
  for (const branch of branches) {
    for (const rule of branch["x-kubernetes-validations"] ?? []) {
      rules.push({ ...rule, rule: `!(${celOneOf(subject, valuesOf([branch]))}) || (${rule.rule})` });
    }
  }
  return rules;

  /** Rules for a field whose choices differ between branches. */
  function narrowedRules(name: string, field: string, having: readonly StructuralSchema[]): ValidationRule[] {
    const choices = having.map((branch) => ownField(branch.properties, name)?.enum);
    if (choices.every((values) => isSameJson(values, choices[0]))) return [];
    return having.map((branch, at) => ({
      rule: `!(${celOneOf(subject, valuesOf([branch]))}) || !has(${field}) || ${celOneOf(field, choices[at]!)}`,
      message: `${name} must be ${choices[at]!.map((value) => JSON.stringify(value)).join(" or ")} when ${when(valuesOf([branch]))}`,
      fieldPath: celFieldPath(name),
    }));
  }
}

/** One of the branches must have all its required fields and, if branches exclude each other, no field of the others. */
function choiceRules(branches: readonly StructuralSchema[], path: string, isExclusive: boolean): ValidationRule[] {
  if (branches.some((branch) => branch["x-kubernetes-validations"])) {
    throw inexpressible(path, "rules in the branches of a union need a discriminator field");
  }
  const names = new Set(branches.flatMap((branch) => Object.keys(branch.properties ?? {})));
  const common = [...names].filter((name) => branches.every((branch) => branch.required?.includes(name)));
  const conditions = branches.map((branch) => {
    const present = (branch.required ?? []).filter((name) => !common.includes(name));
    const absent = isExclusive ? [...names].filter((name) => !ownField(branch.properties, name)) : [];
    const parts = [
      ...present.map((name) => `has(${celField(name, path)})`),
      ...absent.map((name) => `!has(${celField(name, path)})`),
    ];
    return parts.length > 0 ? parts.join(" && ") : "true";
  });
  if (conditions.includes("true")) return [];
  const described = branches.map((branch) =>
    (branch.required ?? []).filter((name) => !common.includes(name)).join(" and "),
  );
  return [
    { rule: conditions.map((condition) => `(${condition})`).join(" || "), message: `give ${described.join(", or ")}` },
  ];
}
