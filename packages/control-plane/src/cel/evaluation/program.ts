import type { CheckedExpression } from "../checking/checked-expression.js";
import type { CelValue, Failure } from "../values/value.js";
import type { Budget } from "./budget.js";
import { Plan } from "./plan.js";

/** Returns the value of a variable; undefined if it does not exist. */
export type Variables = (name: string) => CelValue | undefined;

/** A checked expression, ready for repeated evaluation. */
export class Program {
  readonly #plan: Plan;

  private constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** Evaluates constants. Returns a failure if a constant has no value. */
  static of(checked: CheckedExpression): Program | Failure {
    const plan = new Plan(checked);
    return plan.failure ?? new Program(plan);
  }

  /** Throws `BudgetExceeded` if the cost exceeds the limit. The budget records the cost. */
  evaluate(variables: Variables, budget: Budget): CelValue {
    return this.#plan.evaluate(variables, budget);
  }
}
