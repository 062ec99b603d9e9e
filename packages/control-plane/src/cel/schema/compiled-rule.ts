import type { Schema, ValidationRule } from "../../facts/schema.js";
import type { CheckedExpression } from "../checking/checked-expression.js";
import { compile } from "../compilation.js";
import { estimateCost } from "../costs/estimate.js";
import { Range } from "../costs/range.js";
import { Program } from "../evaluation/program.js";
import { kubernetesLibrary } from "../functions/library.js";
import { IssueError } from "../syntax/issue.js";
import { optionalOf, type Type } from "../types/type.js";
import { Failure } from "../values/value.js";
import { celType, type DeclaredType, declaredAt } from "./declared-type.js";
import { fieldPathIn } from "./field-path.js";

const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** A compiled rule of a schema, or the error in it. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined if there is an `error`, or no rule. */
  readonly program: Program | undefined;
  readonly error: string | undefined;
  readonly usesOldSelf: boolean;
  /** The maximum cost per value. */
  readonly maxCost: bigint;
  /** The maximum number of values of the schema in a request. */
  readonly maxCount: bigint;
  readonly message: Program | undefined;
  readonly messageError: string | undefined;
  readonly messageMaxCost: bigint;
  /** Path of the errors, relative to the value; empty for the value itself. */
  readonly fieldPath: string;
}

/** Compiles the rules of one schema, excluding those of its parts. */
export function compileRules(schema: Schema, declared: DeclaredType): readonly CompiledRule[] {
  const self = celType(declared, "selfType");
  const maxCount = BigInt(Math.trunc(MAX_REQUEST_BYTES / (declared.minBytes + 1)));
  return (schema["x-kubernetes-validations"] ?? []).map((rule) => {
    const oldSelf = rule.optionalOldSelf ? optionalOf(self) : self;
    const scope: RuleScope = { declared, self, oldSelf };
    return { ...compileRule(schema, rule, scope), rule, maxCount };
  });
}

interface RuleScope {
  readonly declared: DeclaredType;
  readonly self: Type;
  readonly oldSelf: Type;
}

function compileRule(schema: Schema, rule: ValidationRule, scope: RuleScope): Omit<CompiledRule, "rule" | "maxCount"> {
  const nothing = {
    program: undefined,
    error: undefined,
    usesOldSelf: false,
    maxCost: 0n,
    message: undefined,
    messageError: undefined,
    messageMaxCost: 0n,
    fieldPath: "",
  };
  if (rule.rule.trim() === "") return nothing;
  const compiled = compileExpression(rule.rule, scope, "bool", "cel expression must evaluate to a bool");
  if ("error" in compiled) {
    return { ...nothing, error: compiled.error, usesOldSelf: compiled.checked?.variables.has("oldSelf") ?? false };
  }
  const result = {
    ...nothing,
    program: compiled.program,
    maxCost: compiled.maxCost,
    usesOldSelf: compiled.checked.variables.has("oldSelf"),
  };
  if (rule.messageExpression) {
    const complaint = "messageExpression must evaluate to a string";
    const message = compileExpression(rule.messageExpression, scope, "string", complaint, "messageExpression ");
    if ("error" in message) return { ...result, messageError: message.error };
    return { ...result, message: message.program, messageMaxCost: message.maxCost, fieldPath: pathOf(schema, rule) };
  }
  return { ...result, fieldPath: pathOf(schema, rule) };
}

function pathOf(schema: Schema, { fieldPath }: ValidationRule): string {
  return fieldPath ? (fieldPathIn(schema, fieldPath) ?? "") : "";
}

type CompiledExpression =
  | { readonly checked: CheckedExpression; readonly program: Program; readonly maxCost: bigint }
  | { readonly error: string; readonly checked?: CheckedExpression };

function compileExpression(
  text: string,
  { declared, self, oldSelf }: RuleScope,
  kind: Type["kind"],
  complaint: string,
  prefix = "",
): CompiledExpression {
  const variables = new Map([
    ["self", self],
    ["oldSelf", oldSelf],
  ]);
  try {
    const checked = compile(text, kubernetesLibrary.environment(variables));
    if (checked.type.kind !== kind) return { error: complaint };
    const program = Program.of(checked);
    if (program instanceof Failure) {
      return { error: `${prefix === "" ? "program " : prefix}instantiation failed: ${program.message}`, checked };
    }
    const sizeOfPath = (path: readonly string[]): Range | undefined => {
      const found = declaredAt(declared, path.slice(1));
      return found && new Range(0n, BigInt(found.maxSize));
    };
    return { checked, program, maxCost: estimateCost(checked, sizeOfPath).max };
  } catch (error) {
    if (error instanceof IssueError) return { error: `${prefix}compilation failed: ${error.message}` };
    throw error;
  }
}
