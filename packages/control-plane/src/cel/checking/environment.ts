import type { FunctionDeclaration } from "../functions/declaration.js";
import type { Type } from "../types/type.js";

/** The names that an expression may use. */
export interface Environment {
  variable(name: string): Type | undefined;
  function(name: string): FunctionDeclaration | undefined;
  /** The type that a name denotes, such as `int` in `type(x) == int`, or a name before braces. */
  type(name: string): Type | undefined;
}
