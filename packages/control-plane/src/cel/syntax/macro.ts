import type { Call, Comprehension, Expression } from "./expression.js";
import { SyntaxProblem } from "./lexer.js";

/** The name of a loop's accumulator. No expression can spell it. */
export const ACCUMULATOR = "@result";
const SORTED_INPUT = "@__sortBy_input__";

type Expander = (target: Expression, args: readonly Expression[], at: number) => Expression;

/** By name and number of arguments. */
const METHOD_MACROS: ReadonlyMap<string, Expander> = new Map<string, Expander>([
  ["all/2", (target, [variable, body], at) => all(target, oneVariable(variable!), body!, at)],
  ["all/3", (target, [first, second, body], at) => all(target, twoVariables(first!, second!), body!, at)],
  ["exists/2", (target, [variable, body], at) => exists(target, oneVariable(variable!), body!, at)],
  ["exists/3", (target, [first, second, body], at) => exists(target, twoVariables(first!, second!), body!, at)],
  ["exists_one/2", (target, [variable, body], at) => existsOne(target, oneVariable(variable!), body!, at)],
  ["exists_one/3", (target, [first, second, body], at) => existsOne(target, twoVariables(first!, second!), body!, at)],
  ["existsOne/3", (target, [first, second, body], at) => existsOne(target, twoVariables(first!, second!), body!, at)],
  ["map/2", (target, [variable, body], at) => mapped(target, mapVariable(variable!), undefined, body!, at)],
  ["map/3", (target, [variable, filter, body], at) => mapped(target, mapVariable(variable!), filter, body!, at)],
  ["filter/2", (target, [variable, filter], at) => mapped(target, mapVariable(variable!), filter, variable!, at)],
  ["transformList/3", (target, [a, b, body], at) => mapped(target, twoVariables(a!, b!), undefined, body!, at)],
  ["transformList/4", (target, [a, b, filter, body], at) => mapped(target, twoVariables(a!, b!), filter, body!, at)],
  ["transformMap/3", (target, [a, b, body], at) => transformed(target, twoVariables(a!, b!), undefined, body!, at)],
  [
    "transformMap/4",
    (target, [a, b, filter, body], at) => transformed(target, twoVariables(a!, b!), filter, body!, at),
  ],
  ["transformMapEntry/3", (target, [a, b, body], at) => entries(target, twoVariables(a!, b!), undefined, body!, at)],
  [
    "transformMapEntry/4",
    (target, [a, b, filter, body], at) => entries(target, twoVariables(a!, b!), filter, body!, at),
  ],
  ["optMap/2", (target, [variable, body], at) => optionalMap("optMap", target, variable!, body!, at)],
  ["optFlatMap/2", (target, [variable, body], at) => optionalMap("optFlatMap", target, variable!, body!, at)],
  ["sortBy/2", sortedBy],
]);

/** The expansion of a method call; undefined if it is not a macro. */
export function expandMethod(
  name: string,
  target: Expression,
  args: readonly Expression[],
  at: number,
): Expression | undefined {
  return METHOD_MACROS.get(`${name}/${args.length}`)?.(target, args, at);
}

/** Expands `has(a.b)`; undefined for other functions. */
export function expandFunction(name: string, args: readonly Expression[], at: number): Expression | undefined {
  const [argument] = args;
  if (name !== "has" || args.length !== 1 || argument === undefined) return undefined;
  if (argument.kind !== "select") throw new SyntaxProblem("invalid argument to has() macro", argument.at);
  return { ...argument, isTest: true, at };
}

type Variables = readonly [first: string, second: string | undefined];

function oneVariable(expression: Expression): Variables {
  return [nameOf(expression, "argument must be a simple name"), undefined];
}

function mapVariable(expression: Expression): Variables {
  return [nameOf(expression, "argument is not an identifier"), undefined];
}

function twoVariables(first: Expression, second: Expression): Variables {
  const names = [first, second].map((each) => nameOf(each, "argument must be a simple name"));
  if (names[0] === names[1]) throw new SyntaxProblem(`duplicate variable name: ${names[0]}`, second.at);
  return [names[0]!, names[1]];
}

function nameOf(expression: Expression, complaint: string): string {
  if (expression.kind !== "identifier") throw new SyntaxProblem(complaint, expression.at);
  if (expression.name === "__result__") {
    throw new SyntaxProblem("iteration variable overwrites accumulator variable", expression.at);
  }
  return expression.name;
}

function loop(
  range: Expression,
  [variable, secondVariable]: Variables,
  parts: Pick<Comprehension, "initial" | "condition" | "step" | "result">,
  at: number,
): Comprehension {
  return { kind: "comprehension", at, range, variable, secondVariable, accumulator: ACCUMULATOR, ...parts };
}

function all(target: Expression, variables: Variables, body: Expression, at: number): Expression {
  return loop(
    target,
    variables,
    {
      initial: literal(true, at),
      condition: call("@not_strictly_false", [accumulated(at)], at),
      step: call("_&&_", [accumulated(at), body], at),
      result: accumulated(at),
    },
    at,
  );
}

function exists(target: Expression, variables: Variables, body: Expression, at: number): Expression {
  return loop(
    target,
    variables,
    {
      initial: literal(false, at),
      condition: call("@not_strictly_false", [call("!_", [accumulated(at)], at)], at),
      step: call("_||_", [accumulated(at), body], at),
      result: accumulated(at),
    },
    at,
  );
}

function existsOne(target: Expression, variables: Variables, body: Expression, at: number): Expression {
  const more = call("_+_", [accumulated(at), literal(1n, at)], at);
  return loop(
    target,
    variables,
    {
      initial: literal(0n, at),
      condition: literal(true, at),
      step: call("_?_:_", [body, more, accumulated(at)], at),
      result: call("_==_", [accumulated(at), literal(1n, at)], at),
    },
    at,
  );
}

/** A loop that adds something for each item that passes the filter. */
function collected(
  target: Expression,
  variables: Variables,
  initial: Expression,
  filter: Expression | undefined,
  step: Expression,
  at: number,
): Expression {
  return loop(
    target,
    variables,
    {
      initial,
      condition: literal(true, at),
      step: filter === undefined ? step : call("_?_:_", [filter, step, accumulated(at)], at),
      result: accumulated(at),
    },
    at,
  );
}

function mapped(
  target: Expression,
  variables: Variables,
  filter: Expression | undefined,
  body: Expression,
  at: number,
): Expression {
  const item: Expression = { kind: "list", at, items: [{ value: body, isOptional: false }] };
  const step = call("_+_", [accumulated(at), item], at);
  return collected(target, variables, { kind: "list", at, items: [] }, filter, step, at);
}

function transformed(
  target: Expression,
  variables: Variables,
  filter: Expression | undefined,
  body: Expression,
  at: number,
): Expression {
  const step = call("cel.@mapInsert", [accumulated(at), identifier(variables[0], at), body], at);
  return collected(target, variables, { kind: "map", at, entries: [] }, filter, step, at);
}

function entries(
  target: Expression,
  variables: Variables,
  filter: Expression | undefined,
  body: Expression,
  at: number,
): Expression {
  const step = call("cel.@mapInsert", [accumulated(at), body], at);
  return collected(target, variables, { kind: "map", at, entries: [] }, filter, step, at);
}

function optionalMap(
  macro: "optMap" | "optFlatMap",
  target: Expression,
  variable: Expression,
  body: Expression,
  at: number,
): Expression {
  if (variable.kind !== "identifier") {
    throw new SyntaxProblem(`${macro}() variable name must be a simple identifier`, variable.at);
  }
  const value = method("value", copied(target), [], at);
  const result = bound(variable.name, value, body, at);
  return call(
    "_?_:_",
    [
      method("hasValue", target, [], at),
      macro === "optMap" ? call("optional.of", [result], at) : result,
      call("optional.none", [], at),
    ],
    at,
  );
}

function sortedBy(target: Expression, args: readonly Expression[], at: number): Expression {
  if (target.kind === "literal" || target.kind === "map" || target.kind === "struct") {
    const complaint = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
    throw new SyntaxProblem(complaint, target.at);
  }
  const keys = mapped(identifier(SORTED_INPUT, at), mapVariable(args[0]!), undefined, args[1]!, at);
  const sorted = method("@sortByAssociatedKeys", identifier(SORTED_INPUT, at), [keys], at);
  return bound(SORTED_INPUT, target, sorted, at);
}

/** Binds a variable for one expression, as a loop over an empty list. */
function bound(name: string, value: Expression, result: Expression, at: number): Comprehension {
  return {
    kind: "comprehension",
    at,
    range: { kind: "list", at, items: [] },
    variable: "#unused",
    secondVariable: undefined,
    accumulator: name,
    initial: value,
    condition: literal(false, at),
    step: identifier(name, at),
    result,
  };
}

/** Whether a comprehension is a loop over an empty list that only binds a value. */
export function isBinding({ range, condition, accumulator }: Comprehension): boolean {
  const isEmpty = range.kind === "list" && range.items.length === 0;
  return isEmpty && condition.kind === "literal" && condition.value === false && accumulator !== "__result__";
}

/** A deep copy with new nodes, because nodes are keys for types and sizes. */
function copied(expression: Expression): Expression {
  switch (expression.kind) {
    case "literal":
    case "identifier":
      return { ...expression };
    case "select":
      return { ...expression, operand: copied(expression.operand) };
    case "call": {
      const { target, args } = expression;
      return { ...expression, target: target && copied(target), args: args.map(copied) };
    }
    case "list":
      return { ...expression, items: expression.items.map((item) => ({ ...item, value: copied(item.value) })) };
    case "map":
      return {
        ...expression,
        entries: expression.entries.map((entry) => ({ ...entry, key: copied(entry.key), value: copied(entry.value) })),
      };
    case "struct":
      return { ...expression, fields: expression.fields.map((field) => ({ ...field, value: copied(field.value) })) };
    case "comprehension": {
      const { range, initial, condition, step, result } = expression;
      return {
        ...expression,
        range: copied(range),
        initial: copied(initial),
        condition: copied(condition),
        step: copied(step),
        result: copied(result),
      };
    }
  }
}

function accumulated(at: number): Expression {
  return identifier(ACCUMULATOR, at);
}

function identifier(name: string, at: number): Expression {
  return { kind: "identifier", at, name };
}

function literal(value: boolean | bigint, at: number): Expression {
  return { kind: "literal", at, value };
}

function call(name: string, args: readonly Expression[], at: number): Call {
  return { kind: "call", at, name, target: undefined, args };
}

function method(name: string, target: Expression, args: readonly Expression[], at: number): Call {
  return { kind: "call", at, name, target, args };
}
