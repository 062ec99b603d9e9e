import type { FunctionDeclaration, Overload } from "../functions/declaration.js";
import type { Call, Expression } from "../syntax/expression.js";
import type { Type } from "../types/type.js";

/** An expression with every name resolved and every part typed. */
export interface CheckedExpression {
  readonly expression: Expression;
  readonly type: Type;
  typeOf(expression: Expression): Type;
  /** The function that a call resolves to. */
  resolved(call: Call): ResolvedCall | undefined;
  /** The type that an identifier or a chain of names denotes; undefined if it denotes a variable. */
  namedType(expression: Expression): Type | undefined;
  /** The variable that a chain of names denotes: `authorizer.requestResource`. Undefined for other field accesses. */
  namedVariable(expression: Expression): string | undefined;
  /** The variables of the environment that the expression uses. */
  readonly variables: ReadonlySet<string>;
}

export interface ResolvedCall {
  readonly declaration: FunctionDeclaration;
  /** All applicable overloads. More than one if types are known only at evaluation. */
  readonly overloads: readonly Overload[];
  /** `target.name()` is a method. In `sets.contains()`, the target is part of the name. */
  readonly isMethod: boolean;
}
