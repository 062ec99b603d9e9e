import type { Range } from "../costs/range.js";
import type { Expression } from "../syntax/expression.js";
import type { Type } from "../types/type.js";
import type { CelValue } from "../values/value.js";

/** A function of CEL: what it takes and gives, what it does, and what that costs, before and while it is evaluated. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** For all overloads at once: looks at its arguments itself. Where there is none, overloads have their own. */
  readonly apply?: Implementation;
  /** Gets failures as arguments instead of being passed over. */
  readonly isNonStrict?: boolean;
  readonly cost?: FunctionCost;
}

export interface Overload {
  readonly id: string;
  /** Called as a method, the first parameter being the object. */
  readonly isMethod: boolean;
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly apply?: Implementation;
  readonly cost?: FunctionCost;
}

/** The object of a method is its first argument. */
export type Implementation = (...args: CelValue[]) => CelValue;

/** Undefined results leave it to the next in line: overload, function, the general rule that a call costs one. */
export interface FunctionCost {
  readonly estimate?: (call: EstimatedCall) => CallEstimate | undefined;
  readonly track?: (args: readonly CelValue[], result: CelValue, overload: string) => number | undefined;
  /** Whether `track` looks at the result; otherwise a call is paid for before it is made. */
  readonly isOfResult?: boolean;
}

/** A call as the estimate sees it, without evaluating. */
export interface EstimatedCall {
  readonly overload: string;
  readonly target: EstimatedNode | undefined;
  readonly args: readonly EstimatedNode[];
}

export interface EstimatedNode {
  readonly expression: Expression;
  readonly type: Type;
  readonly size: Range;
  /** Of a list's items; undefined for other types. */
  readonly items: { readonly type: Type; readonly size: Range } | undefined;
  /** Whether the size is known from the expression or the schema. */
  readonly isSized: boolean;
}

/** Besides the cost of the arguments. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range;
}

export function declare(
  name: string,
  overloads: readonly Overload[],
  rest: Omit<FunctionDeclaration, "name" | "overloads"> = {},
): FunctionDeclaration {
  return { name, overloads, ...rest };
}

export function overload(
  id: string,
  parameters: readonly Type[],
  result: Type,
  apply?: Implementation,
  cost?: FunctionCost,
): Overload {
  return { id, isMethod: false, parameters, result, ...(apply && { apply }), ...(cost && { cost }) };
}

export function method(
  id: string,
  parameters: readonly Type[],
  result: Type,
  apply?: Implementation,
  cost?: FunctionCost,
): Overload {
  return { ...overload(id, parameters, result, apply, cost), isMethod: true };
}
