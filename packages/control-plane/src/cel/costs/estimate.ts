import type { CheckedExpression } from "../checking/checked-expression.js";
import type { CallEstimate, EstimatedCall, EstimatedNode, Overload } from "../functions/declaration.js";
import { type Call, type Comprehension, type Expression, qualifiedName, type Select } from "../syntax/expression.js";
import { ACCUMULATOR, isBinding } from "../syntax/macro.js";
import { optionalContent, type Type } from "../types/type.js";
import { Bytes, type CelValue } from "../values/value.js";
import { characterCount } from "../values/value-type.js";
import { Range } from "./range.js";

const LIST_COST = Range.exactly(10);
const MAP_COST = Range.exactly(30);
const STRUCT_COST = Range.exactly(40);

/** The maximum size of the value at a path of fields; undefined if unknown. */
export type SizeOfPath = (path: readonly string[]) => Range | undefined;

/** The minimum and maximum cost of evaluating an expression. */
export function estimateCost(checked: CheckedExpression, sizeOfPath: SizeOfPath): Range {
  return new Estimate(checked, sizeOfPath).cost(checked.expression);
}

/** The sizes of the entries of a list or map. */
interface EntrySizes {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface LocalVariable {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

/** Walks an expression in evaluation order, with sizes in place of values. */
class Estimate {
  readonly #checked: CheckedExpression;
  readonly #sizeOfPath: SizeOfPath;
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entries = new Map<Expression, EntrySizes>();
  readonly #locals = new Map<string, LocalVariable[]>();

  constructor(checked: CheckedExpression, sizeOfPath: SizeOfPath) {
    this.#checked = checked;
    this.#sizeOfPath = sizeOfPath;
  }

  cost(expression: Expression): Range {
    switch (expression.kind) {
      case "literal":
        return Range.zero;
      case "identifier":
        this.#paths.set(expression, this.#local(expression.name)?.path ?? [expression.name]);
        return Range.one;
      case "select":
        return this.#select(expression);
      case "call":
        return this.#call(expression);
      case "list": {
        const values = expression.items.map(({ value }) => value);
        const cost = this.#sum(values);
        const value = this.#unionOfSizes(values);
        this.#entries.set(expression, { container: "list", key: Range.one, value });
        return cost.plus(LIST_COST);
      }
      case "map": {
        const cost = this.#sum(expression.entries.flatMap(({ key, value }) => [key, value]));
        const key = this.#unionOfSizes(expression.entries.map((entry) => entry.key));
        const value = this.#unionOfSizes(expression.entries.map((entry) => entry.value));
        this.#entries.set(expression, { container: "map", key, value });
        return cost.plus(MAP_COST);
      }
      case "struct":
        return this.#sum(expression.fields.map(({ value }) => value)).plus(STRUCT_COST);
      case "comprehension":
        return isBinding(expression) ? this.#binding(expression) : this.#comprehension(expression);
    }
  }

  #sum(expressions: readonly Expression[]): Range {
    return expressions.reduce((total, each) => total.plus(this.cost(each)), Range.zero);
  }

  #unionOfSizes(expressions: readonly Expression[]): Range {
    if (expressions.length === 0) return Range.zero;
    return expressions.reduce((union, each) => union.union(this.#sizeOrUnknown(each)), Range.none);
  }

  #select(expression: Select): Range {
    const { operand, field, isTest } = expression;
    if (this.#checked.namedType(expression) !== undefined) {
      this.#paths.set(expression, [qualifiedName(expression)!]);
      return Range.one;
    }
    const cost = this.cost(operand);
    if (isTest) return cost;
    this.#paths.set(expression, [...this.#pathOf(operand), field]);
    const { kind } = this.#checked.typeOf(operand);
    return kind === "map" || kind === "struct" || kind === "parameter" ? cost.plus(Range.one) : cost;
  }

  #call(expression: Call): Range {
    const { name, target, args } = expression;
    if (name === "dyn" && target === undefined) {
      const cost = this.cost(args[0]!).plus(Range.one);
      this.#copySizes(expression, args[0]!);
      return cost;
    }
    const argCosts = args.map((arg) => this.cost(arg));
    const argNodes = args.map((arg) => this.#node(arg));
    const resolved = this.#checked.resolved(expression);
    if (resolved === undefined) return Range.zero;
    const isMethod = resolved.isMethod && target !== undefined;
    const targetCost = isMethod ? this.cost(target) : Range.zero;
    const targetNode = isMethod ? this.#node(target) : undefined;
    let cost = Range.none;
    let size: Range | undefined;
    for (const overload of resolved.overloads) {
      const call = { overload: overload.id, target: targetNode, args: argNodes };
      const estimate = this.#overload(expression, overload, call, argCosts);
      cost = cost.union(estimate.cost);
      if (estimate.size !== undefined) size = size?.union(estimate.size) ?? estimate.size;
      if (overload.id === "index_list" || overload.id === "index_map") {
        size = this.#entriesOf(args[0]!)?.value;
        const part = overload.id === "index_list" ? "@items" : "@values";
        this.#paths.set(expression, [...this.#pathOf(args[0]!), part]);
      }
      size ??= this.#size(expression);
    }
    if (size !== undefined) this.#sizes.set(expression, size);
    return targetCost.plus(cost);
  }

  #overload(expression: Call, overload: Overload, call: EstimatedCall, argCosts: readonly Range[]): CallEstimate {
    const argCost = argCosts.reduce((total, each) => total.plus(each), Range.zero);
    const { declaration } = this.#checked.resolved(expression)!;
    const own = overload.cost?.estimate?.(call) ?? declaration.cost?.estimate?.(call);
    if (overload.id === "add_list" || overload.id === "add_string" || overload.id === "add_bytes") {
      const [left, right] = expression.args.map((arg) => this.#entriesOf(arg));
      if (left !== undefined && right !== undefined) this.#entries.set(expression, unionOfEntries(left, right));
    }
    if (own !== undefined) return { ...own, cost: own.cost.plus(argCost) };
    const [first, second, third] = argCosts;
    switch (overload.id) {
      case "logical_and":
      case "logical_or":
        return { cost: new Range(first!.min, first!.plus(second!).max) };
      case "conditional": {
        const [, yes, no] = expression.args;
        const [left, right] = [this.#entriesOf(yes!), this.#entriesOf(no!)];
        if (left !== undefined && right !== undefined) this.#entries.set(expression, unionOfEntries(left, right));
        const size = this.#sizeOrUnknown(yes!).union(this.#sizeOrUnknown(no!));
        return { cost: first!.plus(second!.union(third!)), size };
      }
      default:
        return { cost: argCost.plus(Range.one) };
    }
  }

  #comprehension(expression: Comprehension): Range {
    const { range, initial, condition, step, result, accumulator, variable, secondVariable } = expression;
    let cost = this.cost(range).plus(this.cost(initial));
    this.#push(accumulator, {
      path: this.#pathOf(initial),
      size: this.#size(initial),
      entries: this.#entriesOf(initial),
    });
    if (secondVariable === undefined) {
      this.#push(variable, this.#rangeVariable(range, this.#containerOf(range) === "list" ? "value" : "key"));
    } else {
      this.#push(variable, this.#rangeVariable(range, "key"));
      this.#push(secondVariable, this.#rangeVariable(range, "value"));
    }
    const each = this.cost(condition).plus(this.cost(step));
    this.#pop(variable);
    if (secondVariable !== undefined) this.#pop(secondVariable);
    cost = cost.plus(this.cost(result));
    this.#pop(accumulator);
    const count = this.#sizeOrUnknown(range);
    if (initial.kind === "literal") this.#setSize(expression, this.#size(initial));
    else if (initial.kind === "list" || initial.kind === "map") {
      this.#setSize(expression, count);
      const entries = this.#entriesOf(step);
      if (entries !== undefined) this.#entries.set(expression, entries);
    }
    return cost.plus(count.times(each));
  }

  #binding(expression: Comprehension): Range {
    const { range, initial, result, accumulator } = expression;
    const cost = this.cost(range).plus(this.cost(initial));
    const entries = this.#entriesOf(initial);
    this.#push(accumulator, { path: this.#pathOf(initial), size: this.#size(initial), entries });
    const total = cost.plus(this.cost(result));
    this.#copySizes(expression, result);
    this.#pop(accumulator);
    return total;
  }

  #containerOf(range: Expression): Type["kind"] {
    return this.#entriesOf(range)?.container ?? this.#checked.typeOf(range).kind;
  }

  #rangeVariable(range: Expression, part: "key" | "value"): LocalVariable {
    const isList = this.#containerOf(range) === "list";
    const name = part === "key" ? (isList ? "@indices" : "@keys") : isList ? "@items" : "@values";
    return { path: [...this.#pathOf(range), name], size: this.#entriesOf(range)?.[part], entries: undefined };
  }

  #push(name: string, variable: LocalVariable): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), variable]);
  }

  #pop(name: string): void {
    this.#locals.set(name, this.#locals.get(name)!.slice(0, -1));
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #pathOf(expression: Expression): readonly string[] {
    const local = expression.kind === "identifier" ? this.#local(expression.name) : undefined;
    return local?.path ?? this.#paths.get(expression) ?? [];
  }

  #node(expression: Expression): EstimatedNode {
    const own = this.#pathOf(expression);
    const path = own[0] === ACCUMULATOR ? [] : own;
    const type = this.#checked.typeOf(expression);
    const size = this.#size(expression);
    const item = type.kind === "list" || type.kind === "map" || type.kind === "opaque" ? type.parameters[0] : undefined;
    const itemSize = path.length === 0 ? undefined : this.#sizeOfPath([...path, "@items"]);
    return {
      expression,
      type,
      size: size ?? (path.length === 0 ? undefined : this.#sizeOfPath(path)) ?? Range.unknown,
      isSized: size !== undefined,
      items: item && { type: item, size: itemSize ?? Range.unknown },
    };
  }

  #copySizes(to: Expression, from: Expression): void {
    this.#setSize(to, this.#size(from));
    const entries = this.#entriesOf(from);
    if (entries !== undefined) this.#entries.set(to, entries);
  }

  #setSize(expression: Expression, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expression, size);
  }

  #sizeOrUnknown(expression: Expression): Range {
    return this.#size(expression) ?? Range.unknown;
  }

  #size(expression: Expression): Range | undefined {
    const known = this.#sizes.get(expression) ?? literalSize(expression);
    if (known !== undefined) return known;
    const path = this.#pathOf(expression);
    const estimated = path.length === 0 ? undefined : this.#sizeOfPath(path);
    if (estimated !== undefined) {
      this.#sizes.set(expression, estimated);
      return estimated;
    }
    if (isOfFixedSize(this.#checked.typeOf(expression))) return Range.one;
    return expression.kind === "identifier" ? this.#local(expression.name)?.size : undefined;
  }

  #entriesOf(expression: Expression): EntrySizes | undefined {
    const known = this.#entries.get(expression);
    if (known !== undefined || expression.kind !== "identifier") return known;
    return this.#local(expression.name)?.entries;
  }
}

function unionOfEntries(a: EntrySizes, b: EntrySizes): EntrySizes {
  return { container: a.container, key: a.key.union(b.key), value: a.value.union(b.value) };
}

function literalSize(expression: Expression): Range | undefined {
  switch (expression.kind) {
    case "literal":
      return Range.exactly(sizeOfLiteral(expression.value));
    case "list":
      return Range.exactly(expression.items.length);
    case "map":
      return Range.exactly(expression.entries.length);
    default:
      return undefined;
  }
}

function sizeOfLiteral(value: CelValue): number {
  if (typeof value === "string") return characterCount(value);
  return value instanceof Bytes ? value.value.length : 1;
}

function isOfFixedSize(type: Type): boolean {
  const content = optionalContent(type);
  return FIXED.includes(type.kind) || (content !== undefined && isOfFixedSize(content));
}

const FIXED: readonly Type["kind"][] = ["bool", "double", "duration", "int", "timestamp", "uint"];
