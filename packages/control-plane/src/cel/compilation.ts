import type { CheckedExpression } from "./checking/checked-expression.js";
import { check } from "./checking/checker.js";
import type { Environment } from "./checking/environment.js";
import { parse } from "./syntax/parser.js";

/** Parses and checks an expression. Throws an `IssueError` with all issues, worded like kube-apiserver's. */
export function compile(text: string, environment: Environment): CheckedExpression {
  return check(text, parse(text), environment);
}
