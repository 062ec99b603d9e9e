import type { ValidationRule } from "../builtin/apiextensions.k8s.io/v1.js";
import { invalidKind } from "../declaration.js";
import { fieldStep } from "../schema/schema-place.js";
import type { StructuralSchema } from "../schema/structural-schema.js";
import { RuleCompiler } from "./rule-compiler.js";
import { type Overload, ruleFunctions } from "./rule-functions.js";
import { RuleProblem } from "./rule-tokens.js";
import { plain, type RuleType, typeOfSchema } from "./rule-type.js";

/**
 * Compiles the CEL rules of a schema and its parts. Throws `KIND_INVALID` for the first one that no server would take: the
 * message names the field, the rule and the place in it, as `line:column`.
 */
export function checkRules(kind: string, schema: StructuralSchema): void {
  let functions: ReadonlyMap<string, readonly Overload[]> | undefined;
  const visit = (part: StructuralSchema, path: string, isResource: boolean): void => {
    for (const rule of part["x-kubernetes-validations"] ?? []) {
      functions ??= ruleFunctions();
      const self = typeOfSchema(part, isResource);
      if (self) checkRule(`${kind}${path}`, rule, self, functions);
    }
    const inner = (next: StructuralSchema, step: string): void =>
      visit(next, `${path}${step}`, next["x-kubernetes-embedded-resource"] === true);
    for (const [name, field] of Object.entries(part.properties ?? {})) inner(field, fieldStep(name));
    if (part.items) inner(part.items as StructuralSchema, "[]");
    if (typeof part.additionalProperties === "object") inner(part.additionalProperties, ".*");
  };
  visit(schema, "", true);
}

function checkRule(
  where: string,
  { rule, messageExpression, optionalOldSelf }: ValidationRule,
  self: RuleType,
  functions: ReadonlyMap<string, readonly Overload[]>,
): void {
  const variables = { self, oldSelf: optionalOldSelf ? plain("optional_type", self) : self };
  for (const [what, text, wanted] of [
    ["rule", rule, "bool"],
    ["messageExpression", messageExpression, "string"],
  ] as const) {
    if (text === undefined || (what === "messageExpression" && text === "")) continue;
    try {
      const { name } = new RuleCompiler(text, functions, variables).compile();
      if (name !== wanted && name !== "dyn") throw new RuleProblem(`it gives ${name}, not ${wanted}`, 0);
    } catch (error) {
      if (!(error instanceof RuleProblem)) throw error;
      const why = `the ${what} ${JSON.stringify(text)} is wrong at ${placeOf(text, error.at)}: ${error.message}`;
      throw invalidKind(where, why);
    }
  }
}

/** Line and column, both from one. */
function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split("\n");
  return `${lines.length}:${[...lines.at(-1)!].length + 1}`;
}
