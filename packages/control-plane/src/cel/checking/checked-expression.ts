import type { FunctionDeclaration, Overload } from "../functions/declaration.js";
import type { Call, Expression } from "../syntax/expression.js";
import type { Type } from "../types/type.js";

/** An expression in which every name has a meaning and every part a type. */
export interface CheckedExpression {
  readonly expression: Expression;
  readonly type: Type;
  typeOf(expression: Expression): Type;
  /** Which function a call means. */
  resolved(call: Call): ResolvedCall | undefined;
  /** The type that an identifier, or a chain of them, names; undefined where it names a variable. */
  namedType(expression: Expression): Type | undefined;
  /** The variable that a chain of names is: `authorizer.requestResource`; undefined for other field accesses. */
  namedVariable(expression: Expression): string | undefined;
  /** The variables of the environment that are used. */
  readonly variables: ReadonlySet<string>;
}

export interface ResolvedCall {
  readonly declaration: FunctionDeclaration;
  /** All that may apply: more than one where types are known only when it is evaluated. */
  readonly overloads: readonly Overload[];
  /** `target.name()` is a method; in `sets.contains()` the target is a part of the name. */
  readonly isMethod: boolean;
}
