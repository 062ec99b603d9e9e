import { regex } from "../../schema/regex.js";
import { formatComplaint, formatKinds, walkFormat } from "../functions/text-format.js";
import { type Call, type Expression, type ListExpression, partsOf } from "../syntax/expression.js";
import type { Issue } from "../syntax/issue.js";
import { formatType, isSameType, optionalContent, type Type } from "../types/type.js";
import { parseDuration, parseTimestamp } from "../values/time.js";
import { Failure } from "../values/value.js";
import type { CheckedExpression } from "./checked-expression.js";

/** Issues with the literals of a well-typed expression. */
export function literalIssues(checked: CheckedExpression): readonly Issue[] {
  const durations: Issue[] = [];
  const timestamps: Issue[] = [];
  const patterns: Issue[] = [];
  const formats: Issue[] = [];
  const aggregates: Issue[] = [];
  const visit = (expression: Expression, isInFormat: boolean): void => {
    if (expression.kind === "call") {
      durations.push(...argumentIssues(expression, "duration", (text) => parseDuration(text) !== undefined));
      timestamps.push(...argumentIssues(expression, "timestamp", isTimestamp));
      patterns.push(...argumentIssues(expression, "matches", (text) => !("error" in regex(text))));
      formats.push(...formatIssues(checked, expression));
    } else if (!isInFormat) aggregates.push(...aggregateIssues(checked, expression));
    const isFormat = isInFormat || (expression.kind === "call" && expression.name === "format");
    for (const part of partsOf(expression)) visit(part, isFormat);
  };
  visit(checked.expression, false);
  return [...durations, ...timestamps, ...patterns, ...aggregates, ...formats];
}

function isTimestamp(text: string): boolean {
  const parsed = parseTimestamp(text);
  return parsed !== undefined && !(parsed instanceof Failure);
}

function argumentIssues({ name, args: [first] }: Call, of: string, isValid: (text: string) => boolean): Issue[] {
  if (name !== of || first?.kind !== "literal") return [];
  // `timestamp()` also accepts a number; `duration()` does not.
  const isFine = typeof first.value === "string" ? isValid(first.value) : of !== "duration";
  return isFine ? [] : [{ at: first.at, message: `invalid ${of} argument` }];
}

/** The items of a list literal have one type, as do the keys and the values of a map literal. */
function aggregateIssues(checked: CheckedExpression, expression: Expression): Issue[] {
  const typeOf = (value: Expression, isOptional: boolean): Type => {
    const type = checked.typeOf(value);
    return (isOptional ? optionalContent(type) : undefined) ?? type;
  };
  if (expression.kind === "list") {
    const { items } = expression;
    return mismatches(items.map(({ value, isOptional }) => [value, typeOf(value, isOptional)])).slice(0, 1);
  }
  if (expression.kind !== "map") return [];
  const { entries } = expression;
  return [
    ...mismatches(entries.map(({ key }) => [key, checked.typeOf(key)])),
    ...mismatches(entries.map(({ value, isOptional }) => [value, typeOf(value, isOptional)])),
  ];
}

function mismatches(typed: readonly (readonly [Expression, Type])[]): Issue[] {
  const [, first] = typed[0] ?? [];
  return typed.flatMap(([{ at }, type]) =>
    isSameType(first!, type)
      ? []
      : [{ at, message: `expected type '${formatType(first!)}' but found '${formatType(type)}'` }],
  );
}

/** Checks the clauses of a format string whose arguments are a list literal. */
function formatIssues(checked: CheckedExpression, { name, target, args, at }: Call): Issue[] {
  const [list] = args;
  if (name !== "format" || target?.kind !== "literal" || typeof target.value !== "string") return [];
  if (list?.kind !== "list") return [];
  let place = at;
  let used = 0;
  const walked = walkFormat(target.value, list.items.length, ({ letter }, index) => {
    used++;
    const wrong = wrongArgument(checked, list.items[index]!.value, formatKinds(letter), letter === "s");
    if (wrong === undefined) return "";
    place = wrong.at;
    return new Failure(formatComplaint(letter, checked.typeOf(wrong).name));
  });
  if (walked instanceof Failure) return [{ at: place, message: walked.message }];
  if (used >= list.items.length) return [];
  const counts = `expected ${used}, got ${list.items.length}`;
  return [{ at, message: `too many arguments supplied to string.format (${counts})` }];
}

function wrongArgument(
  checked: CheckedExpression,
  expression: Expression,
  kinds: readonly Type["kind"][],
  isDeep: boolean,
): Expression | undefined {
  const { kind } = checked.typeOf(expression);
  if (kind !== "dyn" && !kinds.includes(kind)) return expression;
  if (!isDeep || (expression.kind !== "list" && expression.kind !== "map")) return undefined;
  for (const part of partsOf(expression as ListExpression)) {
    const wrong = wrongArgument(checked, part, kinds, true);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
