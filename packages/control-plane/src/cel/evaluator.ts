import { type Budget, BudgetExceeded } from "./budget.js";
import type { Comprehension, Expression } from "./expression.js";
import { callFunction, isNamespace } from "./functions.js";
import { CelError, type CelValue, isList, isMap, lookup, Optional, typeName } from "./value.js";

/** Evaluates an expression. Throws `CelError` where it has no value, `BudgetExceeded` where it costs too much. */
export function evaluate(expression: Expression, variables: ReadonlyMap<string, CelValue>, budget: Budget): CelValue {
  return new Evaluation(variables, budget).value(expression);
}

class Evaluation {
  readonly #variables: Map<string, CelValue>;
  readonly #budget: Budget;

  constructor(variables: ReadonlyMap<string, CelValue>, budget: Budget) {
    this.#variables = new Map(variables);
    this.#budget = budget;
  }

  value(expression: Expression): CelValue {
    switch (expression.kind) {
      case "literal":
        return expression.value;
      case "identifier":
        return this.#identifier(expression.name);
      case "select":
        return this.#select(expression);
      case "index":
        return this.#index(expression);
      case "call":
        return this.#call(expression);
      case "list":
        return this.#list(expression);
      case "map":
        return this.#map(expression);
      case "comprehension":
        return this.#comprehension(expression);
    }
  }

  #identifier(name: string): CelValue {
    this.#budget.spend(1);
    const value = this.#variables.get(name);
    if (value === undefined) throw new CelError(`undeclared reference to '${name}' (in container '')`);
    return value;
  }

  #select(expression: Expression & { kind: "select" }): CelValue {
    const { field, isTest, isOptional } = expression;
    const operand = this.value(expression.operand);
    this.#budget.spend(1);
    if (operand instanceof Optional) {
      const found = operand.value === undefined ? undefined : fieldOf(operand.value, field);
      return isTest ? found !== undefined : new Optional(found);
    }
    const found = fieldOf(operand, field);
    if (isTest) return found !== undefined;
    if (isOptional) return new Optional(found);
    if (found === undefined) throw new CelError(`no such key: ${field}`);
    return found;
  }

  #index(expression: Expression & { kind: "index" }): CelValue {
    const operand = this.value(expression.operand);
    const index = this.value(expression.index);
    this.#budget.spend(1);
    if (operand instanceof Optional) {
      return new Optional(operand.value === undefined ? undefined : elementAt(operand.value, index));
    }
    const found = elementAt(operand, index);
    if (expression.isOptional) return new Optional(found);
    if (found !== undefined) return found;
    throw new CelError(isList(operand) ? `index out of bounds: ${String(index)}` : `no such key: ${String(index)}`);
  }

  #call(expression: Expression & { kind: "call" }): CelValue {
    const { name, target, args } = expression;
    switch (name) {
      case "&&":
        return this.#logical(args[0]!, args[1]!, false);
      case "||":
        return this.#logical(args[0]!, args[1]!, true);
      case "?:":
        return this.value(this.#bool(this.value(args[0]!)) ? args[1]! : args[2]!);
    }
    if (name === "optMap" || name === "optFlatMap") return this.#optionalMap(expression);
    const namespace = target?.kind === "identifier" && !this.#variables.has(target.name) ? target.name : undefined;
    const values = args.map((arg) => this.value(arg));
    if (namespace !== undefined && isNamespace(namespace)) {
      return callFunction(`${namespace}.${name}`, values, this.#budget);
    }
    return callFunction(name, target === undefined ? values : [this.value(target), ...values], this.#budget);
  }

  /** One side that decides is enough, whatever the other does. */
  #logical(left: Expression, right: Expression, decisive: boolean): CelValue {
    let failure: CelError;
    try {
      if (this.#bool(this.value(left)) === decisive) return decisive;
      return this.#bool(this.value(right));
    } catch (error) {
      if (!(error instanceof CelError) || error instanceof BudgetExceeded) throw error;
      failure = error;
    }
    if (this.#attempt(right) === decisive || this.#attempt(left) === decisive) return decisive;
    throw failure;
  }

  #attempt(expression: Expression): CelValue | undefined {
    try {
      return this.value(expression);
    } catch (error) {
      if (error instanceof CelError && !(error instanceof BudgetExceeded)) return undefined;
      throw error;
    }
  }

  #bool(value: CelValue): boolean {
    if (typeof value === "boolean") return value;
    throw new CelError("no such overload");
  }

  #list(expression: Expression & { kind: "list" }): CelValue {
    this.#budget.spend(10);
    return expression.items.flatMap(({ item, isOptional }): CelValue[] => {
      const value = this.value(item);
      if (!isOptional) return [value];
      if (!(value instanceof Optional)) throw new CelError("no such overload");
      return value.value === undefined ? [] : [value.value];
    });
  }

  #map(expression: Expression & { kind: "map" }): CelValue {
    this.#budget.spend(30);
    const result = new Map<CelValue, CelValue>();
    for (const { item, isOptional } of expression.entries) {
      const key = this.value(item[0]);
      const value = this.value(item[1]);
      if (lookup(result, key) !== undefined) throw new CelError(`Failed with repeated key`);
      if (!isOptional) result.set(key, value);
      else if (value instanceof Optional && value.value !== undefined) result.set(key, value.value);
    }
    return result;
  }

  #comprehension(expression: Comprehension): CelValue {
    const range = this.value(expression.range);
    const items = isList(range) ? range : isMap(range) ? [...range.keys()] : undefined;
    if (items === undefined) throw new CelError("no such overload");
    switch (expression.macro) {
      case "all":
        return this.#decide(expression, items, false);
      case "exists":
        return this.#decide(expression, items, true);
      case "exists_one":
        return items.filter((item) => this.#bool(this.#with(expression, item, expression.condition!))).length === 1;
      case "filter":
        return items.filter((item) => this.#bool(this.#with(expression, item, expression.condition!)));
      case "map":
        return items.flatMap((item): CelValue[] => {
          const { condition, transform } = expression;
          if (condition !== undefined && !this.#bool(this.#with(expression, item, condition))) return [];
          return [this.#with(expression, item, transform!)];
        });
    }
  }

  /** `exists` and `all`: one item that decides is enough, even where others fail. */
  #decide(expression: Comprehension, items: readonly CelValue[], decisive: boolean): boolean {
    let failure: CelError | undefined;
    for (const item of items) {
      try {
        if (this.#bool(this.#with(expression, item, expression.condition!)) === decisive) return decisive;
      } catch (error) {
        if (!(error instanceof CelError) || error instanceof BudgetExceeded) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  }

  #with(expression: Comprehension, item: CelValue, body: Expression): CelValue {
    this.#budget.spend(1);
    return this.#bound(expression.variable, item, body);
  }

  #bound(variable: string, value: CelValue, body: Expression): CelValue {
    const outer = this.#variables.get(variable);
    this.#variables.set(variable, value);
    try {
      return this.value(body);
    } finally {
      if (outer === undefined) this.#variables.delete(variable);
      else this.#variables.set(variable, outer);
    }
  }

  #optionalMap(expression: Expression & { kind: "call" }): CelValue {
    const { name, target, args } = expression;
    const [variable, body] = args;
    if (target === undefined || variable?.kind !== "identifier" || body === undefined) {
      throw new CelError("no such overload");
    }
    const optional = this.value(target);
    if (!(optional instanceof Optional)) throw new CelError("no such overload");
    if (optional.value === undefined) return optional;
    const value = this.#bound(variable.name, optional.value, body);
    return name === "optMap" ? new Optional(value) : value;
  }
}

function fieldOf(operand: CelValue, field: string): CelValue | undefined {
  if (!isMap(operand)) throw new CelError(`no such overload: ${typeName(operand)}.${field}`);
  return operand.get(field);
}

function elementAt(operand: CelValue, index: CelValue): CelValue | undefined {
  if (isMap(operand)) return lookup(operand, index);
  if (!isList(operand)) throw new CelError("no such overload");
  const at = typeof index === "bigint" || typeof index === "number" ? Number(index) : Number.NaN;
  if (!Number.isInteger(at)) throw new CelError("no such overload");
  return operand[at];
}
