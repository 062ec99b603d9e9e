import type { CheckedExpression } from "../checking/checked-expression.js";
import type { CelValue, Failure } from "../values/value.js";
import type { Budget } from "./budget.js";
import { Plan } from "./plan.js";

/** Gives the value of a variable; undefined for one that is not there. */
export type Variables = (name: string) => CelValue | undefined;

/** A checked expression, ready to be evaluated many times. */
export class Program {
  readonly #plan: Plan;

  private constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** What is constant is evaluated here; a failure where that has no value. */
  static of(checked: CheckedExpression): Program | Failure {
    const plan = new Plan(checked);
    return plan.failure ?? new Program(plan);
  }

  /** Throws `BudgetExceeded` where it costs more than `limit`; the budget tells what it cost. */
  evaluate(variables: Variables, budget: Budget): CelValue {
    return this.#plan.evaluate(variables, budget);
  }
}
