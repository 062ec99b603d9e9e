import type { KubeObject } from "setpoint";
import { jsonValue } from "../../admission/expressions/json-value.js";
import type { Json } from "../../api/json.js";
import { compile } from "../../cel/compilation.js";
import { Budget, BudgetExceeded } from "../../cel/evaluation/budget.js";
import { Program } from "../../cel/evaluation/program.js";
import { kubernetesLibrary } from "../../cel/functions/library.js";
import { IssueError } from "../../cel/syntax/issue.js";
import { DYN } from "../../cel/types/type.js";
import { type CelValue, Failure } from "../../cel/values/value.js";
import { valuesAt } from "./jq-path.js";
import type { StageExpression, StageRequirement, ValueFrom } from "./stage.js";

const COST_LIMIT = 1_000_000;
/** Maximum number of cached programs. Others are compiled again. */
const MAX_PROGRAMS = 1_000;

/** Evaluates the expressions of stages. An invalid or failing expression does not hold and has no value. */
export class StageExpressions {
  /** Compiled programs by text; undefined for an invalid expression. */
  readonly #programs = new Map<string, Program | undefined>();

  holds(expression: StageExpression, object: KubeObject): boolean {
    if ("cel" in expression) return this.#evaluate(expression.cel.expression, object) === true;
    return requirementHolds("jq" in expression ? expression.jq : expression, object);
  }

  /** The text or number that the expression yields for an object; undefined if neither. */
  value(from: ValueFrom | undefined, object: KubeObject): string | number | undefined {
    if (from === undefined) return undefined;
    const path = from.jq?.expression ?? from.expressionFrom;
    const value = from.cel ? this.#evaluate(from.cel.expression, object) : path && valuesAt(object, path)[0];
    if (typeof value === "bigint") return Number(value);
    return typeof value === "string" || typeof value === "number" ? value : undefined;
  }

  #evaluate(text: string, object: KubeObject): CelValue | undefined {
    const program = this.#program(text);
    if (program === undefined) return undefined;
    const self = jsonValue(object as unknown as Json);
    try {
      return program.evaluate((name) => (name === "self" ? self : undefined), new Budget(COST_LIMIT));
    } catch (error) {
      if (error instanceof BudgetExceeded) return undefined;
      throw error;
    }
  }

  #program(text: string): Program | undefined {
    if (!this.#programs.has(text)) {
      if (this.#programs.size >= MAX_PROGRAMS) this.#programs.clear();
      this.#programs.set(text, programOf(text));
    }
    return this.#programs.get(text);
  }
}

function programOf(text: string): Program | undefined {
  try {
    const program = Program.of(compile(text, kubernetesLibrary.environment(new Map([["self", DYN]]))));
    return program instanceof Failure ? undefined : program;
  } catch (error) {
    if (error instanceof IssueError) return undefined;
    throw error;
  }
}

function requirementHolds({ key, operator, values = [] }: StageRequirement, object: KubeObject): boolean {
  const found = valuesAt(object, key).map(String);
  switch (operator) {
    case "Exists":
      return found.length > 0;
    case "DoesNotExist":
      return found.length === 0;
    case "In":
      return found.some((value) => values.includes(value));
    case "NotIn":
      return !found.some((value) => values.includes(value));
  }
}
