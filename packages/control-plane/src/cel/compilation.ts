import type { CheckedExpression } from "./checking/checked-expression.js";
import { check } from "./checking/checker.js";
import type { Environment } from "./checking/environment.js";
import { parse } from "./syntax/parser.js";

/** Parses and checks an expression. Throws `IssueError`, whose message is the real server's, with all that is wrong. */
export function compile(text: string, environment: Environment): CheckedExpression {
  return check(text, parse(text), environment);
}
