import type { Variables } from "../../cel/evaluation/program.js";
import { BOOL } from "../../cel/types/type.js";
import { Failure } from "../../cel/values/value.js";
import {
  AdmissionEvaluation,
  type AdmissionExpression,
  admissionExpression,
  OutOfBudget,
} from "./admission-expression.js";

/** Cost budget of all match conditions of one webhook or policy. */
const LIMIT = 2_500_000;

export type MatchResult = { readonly matches: boolean } | { readonly error: string };

/** Compiled match conditions, which must all be true. */
export class MatchConditions {
  readonly #expressions: readonly AdmissionExpression[];

  constructor(conditions: readonly { readonly expression: string }[], hasParams: boolean) {
    const scope = { hasParams, hasAuthorizer: true };
    this.#expressions = conditions.map(({ expression }) => admissionExpression(expression, scope, [BOOL]));
  }

  /** One false condition means no match, even if others fail to evaluate. */
  match(variables: Variables): MatchResult {
    const evaluation = new AdmissionEvaluation(variables, LIMIT);
    const errors: string[] = [];
    try {
      for (const value of this.#expressions.map((expression) => evaluation.value(expression))) {
        if (value === false) return { matches: false };
        if (value instanceof Failure) errors.push(value.message);
      }
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return { error: error.message };
    }
    if (errors.length === 0) return { matches: true };
    return { error: errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]` };
  }
}
