import type { Schema } from "../../facts/schema.js";
import { type CompiledRule, compileRules } from "./compiled-rule.js";
import { type DeclaredType, declaredType, withObjectMeta } from "./declared-type.js";
import { escapedName } from "./field-name.js";

/** The rules of a schema and its parts; only parts with rules. */
export interface RuleTree {
  readonly schema: Schema;
  /** The schema of values in expressions: resources include their metadata. */
  readonly valueSchema: Schema;
  readonly rules: readonly CompiledRule[];
  readonly items: RuleTree | undefined;
  readonly additional: RuleTree | undefined;
  readonly properties: ReadonlyMap<string, RuleTree>;
  /** Rules in `allOf`, on the same value. */
  readonly allOf: readonly RuleTree[];
}

/** Compiles the rules of a resource's schema; undefined if there are none. */
export function ruleTree(schema: Schema): RuleTree | undefined {
  if (!hasRules(schema)) return undefined;
  return treeOf(schema, schema, true, declaredType(schema, true));
}

function hasRules(schema: Schema): boolean {
  const { properties = {}, items, additionalProperties, allOf = [] } = schema;
  const parts = [...Object.values(properties), items, additionalProperties, ...allOf];
  return (
    (schema["x-kubernetes-validations"]?.length ?? 0) > 0 ||
    parts.some((part) => typeof part === "object" && hasRules(part))
  );
}

function isEmbedded(schema: Schema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

/** `ruled` has the rules, `schema` the types. They differ for parts of an `allOf`. */
function treeOf(
  ruled: Schema,
  schema: Schema,
  isResource: boolean,
  declared: DeclaredType | undefined,
): RuleTree | undefined {
  if (declared === undefined) return undefined;
  const validations = ruled["x-kubernetes-validations"];
  const rules =
    validations === undefined ? [] : compileRules({ ...schema, "x-kubernetes-validations": validations }, declared);
  const items =
    ruled.items && schema.items && treeOf(ruled.items, schema.items, isEmbedded(schema.items), declared.element);
  const additional =
    typeof ruled.additionalProperties === "object" && typeof schema.additionalProperties === "object"
      ? treeOf(
          ruled.additionalProperties,
          schema.additionalProperties,
          isEmbedded(schema.additionalProperties),
          declared.element,
        )
      : undefined;
  const properties = propertiesOf(ruled, schema, declared);
  const allOf = (ruled.allOf ?? []).flatMap((part) => treeOf(part, schema, isResource, declared) ?? []);
  const isEmpty =
    rules.length === 0 && !items && additional === undefined && properties.size === 0 && allOf.length === 0;
  if (isEmpty) return undefined;
  const valueSchema = isResource ? withObjectMeta(schema) : schema;
  return { schema, valueSchema, rules, items, additional, properties, allOf };
}

function propertiesOf(ruled: Schema, schema: Schema, declared: DeclaredType): ReadonlyMap<string, RuleTree> {
  const trees = new Map<string, RuleTree>();
  for (const [name, property] of Object.entries(ruled.properties ?? {})) {
    const typed = schema.properties?.[name];
    if (typed === undefined) continue;
    const escaped = escapedName(name);
    const type = escaped === undefined ? declaredType(typed, isEmbedded(typed)) : declared.fields?.get(escaped);
    const tree = treeOf(property, typed, isEmbedded(typed), type);
    if (tree !== undefined) trees.set(name, tree);
  }
  return trees;
}
