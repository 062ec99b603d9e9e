import type { CelValue } from "../values/value.js";

/** A parsed expression. `at` is its position in the text: that of an operator's sign, or of a call's parenthesis. */
export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListExpression
  | MapExpression
  | StructExpression
  | Comprehension;

export interface Literal {
  readonly kind: "literal";
  readonly at: number;
  readonly value: CelValue;
}

export interface Identifier {
  readonly kind: "identifier";
  readonly at: number;
  readonly name: string;
}

/** `operand.field`; with `isTest`, `has(operand.field)`. */
export interface Select {
  readonly kind: "select";
  readonly at: number;
  readonly operand: Expression;
  readonly field: string;
  readonly isTest: boolean;
}

/** A function, a method of `target`, or an operator: `_+_`. */
export interface Call {
  readonly kind: "call";
  readonly at: number;
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

export interface ListExpression {
  readonly kind: "list";
  readonly at: number;
  readonly items: readonly ListItem[];
}

/** An absent optional item is left out. */
export interface ListItem {
  readonly value: Expression;
  readonly isOptional: boolean;
}

export interface MapExpression {
  readonly kind: "map";
  readonly at: number;
  readonly entries: readonly MapEntry[];
}

export interface MapEntry extends ListItem {
  readonly key: Expression;
}

/** `Name{field: value}`. */
export interface StructExpression {
  readonly kind: "struct";
  readonly at: number;
  readonly name: string;
  readonly fields: readonly StructField[];
}

export interface StructField extends ListItem {
  readonly name: string;
  readonly at: number;
}

/** The expansion of a macro: a loop over a list or map with an accumulator. */
export interface Comprehension {
  readonly kind: "comprehension";
  readonly at: number;
  readonly range: Expression;
  readonly variable: string;
  /** If present, `variable` is the index or key, and this is the item. */
  readonly secondVariable: string | undefined;
  readonly accumulator: string;
  readonly initial: Expression;
  /** The loop continues while this is not false. */
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** The parts of an expression, in evaluation order. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "literal":
    case "identifier":
      return [];
    case "select":
      return [expression.operand];
    case "call":
      return expression.target === undefined ? expression.args : [expression.target, ...expression.args];
    case "list":
      return expression.items.map(({ value }) => value);
    case "map":
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return expression.fields.map(({ value }) => value);
    case "comprehension": {
      const { range, initial, condition, step, result } = expression;
      return [range, initial, condition, step, result];
    }
  }
}

/** `a.b.c` as one name; undefined for other expressions. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === "identifier") return expression.name;
  if (expression.kind !== "select" || expression.isTest) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}
