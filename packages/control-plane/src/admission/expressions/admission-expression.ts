import { compile } from "../../cel/compilation.js";
import { Budget, BudgetExceeded } from "../../cel/evaluation/budget.js";
import { Program, type Variables } from "../../cel/evaluation/program.js";
import { kubernetesLibrary, type Library } from "../../cel/functions/library.js";
import { IssueError } from "../../cel/syntax/issue.js";
import { DYN, type Type } from "../../cel/types/type.js";
import { type CelValue, Failure } from "../../cel/values/value.js";
import { NAMESPACE, REQUEST, variablesType } from "./admission-types.js";
import { AUTHORIZER, authorization, RESOURCE_CHECK } from "./authorizer.js";
import { patchFunctions, patchType } from "./patch-types.js";

const CALL_LIMIT = 1_000_000;

/** A compiled CEL expression about a write, or its compilation error. */
export interface AdmissionExpression {
  readonly text: string;
  readonly program: Program | undefined;
  readonly error: string | undefined;
  readonly type: Type;
}

/** The variables of an expression besides the request and its objects. */
export interface AdmissionScope {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether the expression may construct objects and JSON patches. */
  readonly hasPatchTypes?: boolean;
  /** Types of the objects and parameters. If undefined, they can have any type. */
  readonly types?: { readonly object: Type; readonly params: Type };
  /** Types of the fields of `variables`. If undefined, the expression cannot use `variables`. */
  readonly variables?: ReadonlyMap<string, Type>;
}

const admissionLibrary: Library = kubernetesLibrary.with(authorization, () => undefined);
const mutationLibrary: Library = admissionLibrary.with(patchFunctions, patchType);

/** Compiles an expression. Its type must be one of `results`, or any type if `results` is empty. */
export function admissionExpression(
  text: string,
  scope: AdmissionScope,
  results: readonly Type[] = [],
): AdmissionExpression {
  const variables = new Map<string, Type>([
    ["object", scope.types?.object ?? DYN],
    ["oldObject", scope.types?.object ?? DYN],
    ["request", REQUEST],
    ["namespaceObject", NAMESPACE],
    ...(scope.hasParams ? [["params", scope.types?.params ?? DYN] as const] : []),
    ...(scope.hasAuthorizer
      ? [["authorizer", AUTHORIZER] as const, ["authorizer.requestResource", RESOURCE_CHECK] as const]
      : []),
    ...(scope.variables ? [["variables", variablesType(scope.variables)] as const] : []),
  ]);
  const refused = (error: string): AdmissionExpression => ({ text, program: undefined, error, type: DYN });
  try {
    const library = scope.hasPatchTypes ? mutationLibrary : admissionLibrary;
    const checked = compile(text, library.environment(variables));
    const { type } = checked;
    if (results.length > 0 && !results.some((result) => shownType(result) === shownType(type))) {
      const names = results.map(shownType);
      const wanted = names.length === 1 ? names[0] : `one of [${names.join(" ")}]`;
      return refused(`must evaluate to ${wanted} but got ${shownType(type)}`);
    }
    const program = Program.of(checked);
    if (program instanceof Failure) return refused(`program instantiation failed: ${program.message}`);
    return { text, program, error: undefined, type };
  } catch (error) {
    if (error instanceof IssueError) return refused(`compilation failed: ${error.message}`);
    throw error;
  }
}

function shownType({ name, parameters }: Type): string {
  return parameters.length === 0 ? name : `${name}(${parameters.map(shownType).join(", ")})`;
}

/** Thrown when all expressions together exceed their cost budget. */
export class OutOfBudget extends Error {
  constructor() {
    super("validation failed due to running out of cost budget, no further validation rules will be run");
  }
}

/** Evaluates expressions with one shared cost budget. */
export class AdmissionEvaluation {
  readonly #variables: Variables;
  #left: number;

  constructor(variables: Variables, limit: number) {
    this.#variables = variables;
    this.#left = limit;
  }

  get left(): number {
    return this.#left;
  }

  /** The value, or a failure in the real server's wording. */
  value(expression: AdmissionExpression): CelValue {
    const { program, error, text } = expression;
    if (program === undefined) return new Failure(`compilation error: ${error ?? ""}`);
    const budget = new Budget(CALL_LIMIT);
    let result: CelValue;
    try {
      result = program.evaluate(this.#variables, budget);
    } catch (thrown) {
      if (!(thrown instanceof BudgetExceeded)) throw thrown;
      result = new Failure(thrown.message);
    }
    this.spend(budget.spent);
    return result instanceof Failure
      ? new Failure(`expression '${text}' resulted in error: ${result.message}`)
      : result;
  }

  spend(cost: number): void {
    if (cost > this.#left) throw new OutOfBudget();
    this.#left -= cost;
  }
}
