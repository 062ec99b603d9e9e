import type { Range } from "../costs/range.js";
import type { Expression } from "../syntax/expression.js";
import type { Type } from "../types/type.js";
import type { CelValue } from "../values/value.js";

/** A CEL function: its overloads, its implementation, and its estimated and actual cost. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** Implements all overloads and dispatches on its arguments. Otherwise each overload has its own implementation. */
  readonly apply?: Implementation;
  /** Receives failures as arguments. Other functions are skipped if an argument fails. */
  readonly isNonStrict?: boolean;
  readonly cost?: FunctionCost;
}

export interface Overload {
  readonly id: string;
  /** Called as a method; the first parameter is the receiver. */
  readonly isMethod: boolean;
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly apply?: Implementation;
  readonly cost?: FunctionCost;
}

/** The receiver of a method is the first argument. */
export type Implementation = (...args: CelValue[]) => CelValue;

/** An undefined result defers to the next rule: overload, then function, then the default cost of one per call. */
export interface FunctionCost {
  readonly estimate?: (call: EstimatedCall) => CallEstimate | undefined;
  readonly track?: (args: readonly CelValue[], result: CelValue, overload: string) => number | undefined;
  /** Whether `track` needs the result. Otherwise the call is charged in advance. */
  readonly isOfResult?: boolean;
}

/** A call as the cost estimate sees it. */
export interface EstimatedCall {
  readonly overload: string;
  readonly target: EstimatedNode | undefined;
  readonly args: readonly EstimatedNode[];
}

export interface EstimatedNode {
  readonly expression: Expression;
  readonly type: Type;
  readonly size: Range;
  /** The items of a list; undefined for other types. */
  readonly items: { readonly type: Type; readonly size: Range } | undefined;
  /** Whether the size is known from the expression or the schema. */
  readonly isSized: boolean;
}

/** Excludes the cost of the arguments. */
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
