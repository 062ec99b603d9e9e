import { regex } from "../../schema/regex.js";
import type { CheckedExpression, ResolvedCall } from "../checking/checked-expression.js";
import type { FunctionCost, Overload } from "../functions/declaration.js";
import type {
  Call,
  Comprehension,
  Expression,
  ListExpression,
  MapExpression,
  Select,
  StructExpression,
} from "../syntax/expression.js";
import { EntryMap, GrowingList, ListValue, MapValue, StructValue } from "../values/collection.js";
import { type CelValue, Failure, NO_SUCH_OVERLOAD, Optional, TypeValue } from "../values/value.js";
import { goTypeName, isOfType, isPlain, typeName } from "../values/value-type.js";
import type { Budget } from "./budget.js";
import type { Variables } from "./program.js";
import {
  badQualifier,
  elementOf,
  fieldOf,
  hasField,
  isQualifier,
  optionalElement,
  optionalField,
} from "./selection.js";

/** Functions whose calls with a literal are evaluated at compile time. */
const FOLDED: ReadonlySet<string> = new Set("bool bytes double duration dyn int string timestamp type uint".split(" "));
/** Functions whose second argument is a regular expression. */
const PATTERNED: ReadonlySet<string> = new Set(["matches", "find", "findAll"]);
const LIST_COST = 10;
const MAP_COST = 30;
const STRUCT_COST = 40;

/** The state of one evaluation: variables, loop variables in numbered slots, and the budget. */
interface Frame {
  readonly variables: Variables;
  readonly slots: (CelValue | undefined)[];
  readonly budget: Budget;
}

/** One node of the plan. A constant costs nothing. */
interface Step {
  readonly run: Run;
  readonly constant?: CelValue;
  /** The same step as part of a longer access path, which pays for the whole path. */
  readonly bare?: Run;
}

type Run = (frame: Frame) => CelValue;

/** An expression as nested functions, with every name resolved. */
export class Plan {
  /** Why a constant could not be evaluated. */
  failure: Failure | undefined;
  readonly #checked: CheckedExpression;
  readonly #root: Step;
  readonly #scopes: { readonly name: string; readonly slot: number }[] = [];
  #slotCount = 0;

  constructor(checked: CheckedExpression) {
    this.#checked = checked;
    this.#root = this.#step(checked.expression);
  }

  evaluate(variables: Variables, budget: Budget): CelValue {
    return this.#root.run({ variables, slots: new Array(this.#slotCount), budget });
  }

  #step(expression: Expression): Step {
    switch (expression.kind) {
      case "literal":
        return constant(expression.value);
      case "identifier":
        return this.#identifier(expression, expression.name);
      case "select":
        return this.#select(expression);
      case "call":
        return this.#call(expression);
      case "list":
        return this.#list(expression);
      case "map":
        return this.#map(expression);
      case "struct":
        return this.#struct(expression);
      case "comprehension":
        return this.#comprehension(expression);
    }
  }

  #identifier(expression: Expression, name: string): Step {
    const type = this.#checked.namedType(expression);
    if (type !== undefined) return constant(new TypeValue(type.name));
    const scope = this.#scopes.findLast((each) => each.name === name);
    if (scope !== undefined) return paid(({ slots }) => slots[scope.slot]!);
    return paid(({ variables }) => {
      const value = variables(name);
      return value === undefined ? new Failure(`no such attribute(s): ${name}`) : value;
    });
  }

  #select(expression: Select): Step {
    const type = this.#checked.namedType(expression);
    if (type !== undefined) return constant(new TypeValue(type.name));
    const chain = this.#checked.namedVariable(expression);
    if (chain !== undefined) return this.#identifier(expression, chain);
    const { field, isTest } = expression;
    const operand = this.#step(expression.operand);
    const access = operand.bare ?? operand.run;
    const bare: Run = (frame) => {
      const value = access(frame);
      frame.budget.spend(1);
      return value instanceof Failure ? value : fieldOf(value, field);
    };
    if (!isTest) return paid(bare);
    return {
      run: (frame) => {
        const value = access(frame);
        frame.budget.spend(1);
        return value instanceof Failure ? value : hasField(value, field);
      },
    };
  }

  #call(expression: Call): Step {
    const resolved = this.#checked.resolved(expression);
    if (resolved === undefined) return constant(new Failure("no such overload"));
    const { declaration, isMethod } = resolved;
    const { target, args } = expression;
    const operands = isMethod ? [target!, ...args] : args;
    switch (declaration.name) {
      case "_&&_":
        return this.#logical(operands, false);
      case "_||_":
        return this.#logical(operands, true);
      case "_?_:_":
        return this.#conditional(operands);
      case "_[_]":
        return this.#selection(operands, elementOf);
      case "_[?_]":
        return this.#selection(operands, optionalElement);
      case "_?._":
        return this.#selection(operands, (operand, field) => optionalField(operand, field as string));
      case "or":
        return this.#alternative(operands, (optional) => optional);
      case "orValue":
        return this.#alternative(operands, (optional) => optional.value!);
    }
    return this.#function(resolved, operands);
  }

  #function(resolved: ResolvedCall, operands: readonly Expression[]): Step {
    const { declaration } = resolved;
    const steps = operands.map((operand) => this.#step(operand));
    const apply = implementationOf(resolved);
    const [first] = steps;
    if (FOLDED.has(declaration.name) && steps.length === 1 && first!.constant !== undefined) {
      return this.#folded(apply([first!.constant]));
    }
    if (PATTERNED.has(declaration.name) && typeof steps[1]!.constant === "string") {
      const pattern = regex(steps[1]!.constant);
      if ("error" in pattern) this.failure ??= new Failure(pattern.error);
    }
    const isMembership = declaration.name === "@in" && resolved.overloads.every(({ id }) => id === "in_list");
    if (isMembership && isPrimitiveList(steps[1]!.constant)) {
      const list = steps[1]!.constant as ListValue;
      // An empty list contains nothing, even if the item fails to evaluate.
      if (list.items.length === 0) return constant(false);
      return {
        run: (frame) => {
          const item = first!.run(frame);
          return item instanceof Failure ? item : apply([item, list]);
        },
      };
    }
    const charge = chargeOf(resolved);
    const isNonStrict = declaration.isNonStrict === true;
    return {
      run: (frame) => {
        const values: CelValue[] = [];
        for (const step of steps) {
          const value = step.run(frame);
          if (value instanceof Failure && !isNonStrict) return value;
          values.push(value);
        }
        return charge(frame.budget, values, apply);
      },
    };
  }

  #folded(value: CelValue): Step {
    if (value instanceof Failure) this.failure ??= value;
    return constant(value);
  }

  /** One decisive operand is enough, even if the other fails. */
  #logical(operands: readonly Expression[], decisive: boolean): Step {
    const [left, right] = operands.map((operand) => this.#step(operand)) as [Step, Step];
    return {
      run: (frame) => {
        const first = left.run(frame);
        if (first === decisive) return decisive;
        const second = right.run(frame);
        if (second === decisive) return decisive;
        if (typeof first !== "boolean") return first instanceof Failure ? first : NO_SUCH_OVERLOAD;
        if (typeof second !== "boolean") return second instanceof Failure ? second : NO_SUCH_OVERLOAD;
        return second;
      },
    };
  }

  #conditional(operands: readonly Expression[]): Step {
    const [condition, yes, no] = operands.map((operand) => this.#step(operand)) as [Step, Step, Step];
    const [whenTrue, whenFalse] = [yes.bare ?? yes.run, no.bare ?? no.run];
    const run: Run = (frame) => {
      const value = condition.run(frame);
      if (value === true) return whenTrue(frame);
      if (value === false) return whenFalse(frame);
      return value instanceof Failure ? value : NO_SUCH_OVERLOAD;
    };
    return { run, bare: run };
  }

  #selection(operands: readonly Expression[], read: (operand: CelValue, index: CelValue) => CelValue): Step {
    const [operand, index] = operands.map((each) => this.#step(each)) as [Step, Step];
    const [access, keyed] = [operand.bare ?? operand.run, index.bare ?? index.run];
    if (index.constant !== undefined && !isQualifier(index.constant)) this.failure ??= badQualifier(index.constant);
    return paid((frame) => {
      const value = access(frame);
      if (value instanceof Failure) return value;
      const key = keyed(frame);
      if (key instanceof Failure) return key;
      if (!isQualifier(key)) return badQualifier(key);
      const found = read(value, key);
      if (found !== Optional.none) frame.budget.spend(1);
      return found;
    });
  }

  #alternative(operands: readonly Expression[], taken: (optional: Optional) => CelValue): Step {
    const [left, right] = operands.map((operand) => this.#step(operand)) as [Step, Step];
    return {
      run: (frame) => {
        const value = left.run(frame);
        if (!(value instanceof Optional)) return value instanceof Failure ? value : NO_SUCH_OVERLOAD;
        return value.value === undefined ? right.run(frame) : taken(value);
      },
    };
  }

  #list({ items }: ListExpression): Step {
    const steps = items.map(({ value, isOptional }) => ({ step: this.#step(value), isOptional }));
    if (steps.every(({ step, isOptional }) => step.constant !== undefined && !isOptional)) {
      return constant(new ListValue(steps.map(({ step }) => step.constant!)));
    }
    return {
      run: (frame) => {
        const values: CelValue[] = [];
        for (const { step, isOptional } of steps) {
          const value = step.run(frame);
          if (value instanceof Failure) return value;
          if (!isOptional) values.push(value);
          else if (!(value instanceof Optional)) return badOptional(value);
          else if (value.value !== undefined) values.push(value.value);
        }
        frame.budget.spend(LIST_COST);
        return new ListValue(values);
      },
    };
  }

  #map({ entries }: MapExpression): Step {
    const steps = entries.map(({ key, value, isOptional }) => ({
      key: this.#step(key),
      value: this.#step(value),
      isOptional,
    }));
    const isConstant = steps.every(({ key, value, isOptional }) => {
      return key.constant !== undefined && value.constant !== undefined && !isOptional;
    });
    if (isConstant) return this.#folded(EntryMap.of(steps.map(({ key, value }) => [key.constant!, value.constant!])));
    return {
      run: (frame) => {
        const made: [CelValue, CelValue][] = [];
        for (const { key, value, isOptional } of steps) {
          const name = key.run(frame);
          if (name instanceof Failure) return name;
          const item = value.run(frame);
          if (item instanceof Failure) return item;
          if (!isOptional) made.push([name, item]);
          else if (!(item instanceof Optional)) return badOptional(item);
          else if (item.value !== undefined) made.push([name, item.value]);
        }
        frame.budget.spend(MAP_COST);
        return EntryMap.of(made);
      },
    };
  }

  #struct({ name, fields }: StructExpression): Step {
    const steps = fields.map((field) => ({ ...field, step: this.#step(field.value) }));
    return {
      run: (frame) => {
        const made: [string, CelValue][] = [];
        for (const { name: field, step, isOptional } of steps) {
          const value = step.run(frame);
          if (value instanceof Failure) return value;
          if (!isOptional) made.push([field, value]);
          else if (!(value instanceof Optional)) return badOptional(value);
          else if (value.value !== undefined) made.push([field, value.value]);
        }
        frame.budget.spend(STRUCT_COST);
        return new StructValue(name, made);
      },
    };
  }

  #comprehension(expression: Comprehension): Step {
    const { range, initial, condition, step, result, variable, secondVariable, accumulator } = expression;
    const rangeStep = this.#step(range);
    const initialStep = this.#step(initial);
    const depth = this.#scopes.length;
    const carried = this.#bind(accumulator);
    const first = this.#bind(variable);
    const second = secondVariable === undefined ? undefined : this.#bind(secondVariable);
    const conditionStep = this.#step(condition);
    const bodyStep = this.#step(step);
    this.#scopes.length = depth + 1;
    const resultStep = this.#step(result);
    this.#scopes.length = depth;
    const start = growing(initial) ?? initialStep.run;
    return {
      run: (frame) => {
        const { slots } = frame;
        const over = rangeStep.run(frame);
        if (over instanceof Failure) return over;
        const keys = over instanceof MapValue ? over.keys : undefined;
        if (keys === undefined && !(over instanceof ListValue)) {
          return new Failure(`got '${goTypeName(over)}', expected iterable type`);
        }
        const items = keys ?? (over as ListValue).items;
        slots[carried] = start(frame);
        for (const [index, item] of items.entries()) {
          if (second === undefined) slots[first] = item;
          else {
            slots[first] = keys === undefined ? BigInt(index) : item;
            slots[second] = keys === undefined ? item : (over as MapValue).get(item)!;
          }
          if (conditionStep.run(frame) === false) break;
          slots[carried] = bodyStep.run(frame);
        }
        const built = slots[carried];
        if (built instanceof GrowingList) slots[carried] = built.finished();
        return resultStep.run(frame);
      },
    };
  }

  #bind(name: string): number {
    const slot = this.#slotCount++;
    this.#scopes.push({ name, slot });
    return slot;
  }
}

function constant(value: CelValue): Step {
  return { run: () => value, constant: value };
}

/** An access path costs one, in addition to its parts. */
function paid(bare: Run): Step {
  const run: Run = (frame) => {
    frame.budget.spend(1);
    return bare(frame);
  };
  return { run, bare };
}

/** A loop accumulator that starts empty grows in place. */
function growing(initial: Expression): ((frame: Frame) => CelValue) | undefined {
  if (initial.kind === "list" && initial.items.length === 0) return () => new GrowingList();
  if (initial.kind === "map" && initial.entries.length === 0) return () => EntryMap.of([]);
  return undefined;
}

function isPrimitiveList(value: CelValue | undefined): boolean {
  return value instanceof ListValue && value.items.every(isPlain);
}

function badOptional(value: CelValue): Failure {
  return new Failure(`cannot initialize optional entry from non-optional value ${String(value)}`);
}

type Apply = (args: readonly CelValue[]) => CelValue;

function implementationOf({ declaration, overloads }: ResolvedCall): Apply {
  const { apply, name } = declaration;
  if (apply !== undefined) return (args) => apply(...args);
  return (args) => {
    const fitting = overloads.find(({ parameters }) => fits(args, parameters));
    if (fitting?.apply !== undefined) return fitting.apply(...args);
    return new Failure(`no such overload: ${name}(${args.map(typeName).join(", ")})`);
  };
}

function fits(args: readonly CelValue[], parameters: Overload["parameters"]): boolean {
  return args.length === parameters.length && args.every((arg, index) => isOfType(arg, parameters[index]!));
}

type Charge = (budget: Budget, args: readonly CelValue[], apply: Apply) => CelValue;

/** Charges for a call: in advance, unless the cost depends on the result. */
function chargeOf({ declaration, overloads }: ResolvedCall): Charge {
  const id = overloads.length === 1 ? overloads[0]!.id : "";
  const own = overloads.length === 1 ? overloads[0]!.cost : undefined;
  const costs = [own, declaration.cost].filter((cost): cost is FunctionCost => cost?.track !== undefined);
  const costOf = (args: readonly CelValue[], result: CelValue): number => {
    for (const { track } of costs) {
      const cost = track!(args, result, id);
      if (cost !== undefined) return cost;
    }
    return 1;
  };
  if (costs.some(({ isOfResult }) => isOfResult)) {
    return (budget, args, apply) => {
      const result = apply(args);
      budget.spend(costOf(args, result));
      return result;
    };
  }
  return (budget, args, apply) => {
    budget.spend(costOf(args, null));
    return apply(args);
  };
}
