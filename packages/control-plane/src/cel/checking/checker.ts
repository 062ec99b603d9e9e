import type { FunctionDeclaration, Overload } from "../functions/declaration.js";
import {
  type Call,
  type Comprehension,
  type Expression,
  type ListExpression,
  type MapExpression,
  qualifiedName,
  type Select,
  type StructExpression,
} from "../syntax/expression.js";
import { type Issue, IssueError } from "../syntax/issue.js";
import { moreGeneral, Substitution } from "../types/substitution.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  formatSignature,
  formatType,
  INT,
  isSameType,
  listOf,
  mapOf,
  NULL,
  optionalContent,
  optionalOf,
  parameter,
  STRING,
  type Type,
  typeOf,
  UINT,
} from "../types/type.js";
import { type CelValue, Uint } from "../values/value.js";
import type { CheckedExpression, ResolvedCall } from "./checked-expression.js";
import type { Environment } from "./environment.js";
import { literalIssues } from "./literal-issues.js";

/** Type-checks an expression. Throws an `IssueError` with all issues. */
export function check(text: string, expression: Expression, environment: Environment): CheckedExpression {
  const checker = new Checker(environment);
  checker.visit(expression);
  if (checker.issues.length > 0) throw new IssueError(text, checker.issues);
  const checked = checker.result(expression);
  const issues = literalIssues(checked);
  if (issues.length > 0) throw new IssueError(text, issues);
  return checked;
}

/** Loop variables, innermost first. */
interface Scope {
  readonly name: string;
  readonly type: Type;
  readonly outer: Scope | undefined;
}

class Checker {
  readonly issues: Issue[] = [];
  readonly #environment: Environment;
  readonly #types = new Map<Expression, Type>();
  readonly #calls = new Map<Call, ResolvedCall>();
  readonly #named = new Map<Expression, Type>();
  readonly #chains = new Map<Expression, string>();
  readonly #variables = new Set<string>();
  readonly #substitution = new Substitution();
  #scope: Scope | undefined;
  #freshCount = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  result(expression: Expression): CheckedExpression {
    const types = new Map([...this.#types].map(([part, type]) => [part, this.#substitution.apply(type, true)]));
    const typeOfPart = (part: Expression): Type => types.get(part) ?? DYN;
    return {
      expression,
      type: typeOfPart(expression),
      typeOf: typeOfPart,
      resolved: (call) => this.#calls.get(call),
      namedType: (part) => this.#named.get(part),
      namedVariable: (part) => this.#chains.get(part),
      variables: this.#variables,
    };
  }

  visit(expression: Expression): Type {
    const type = this.#typeOf(expression);
    this.#types.set(expression, type);
    return type;
  }

  #typeOf(expression: Expression): Type {
    switch (expression.kind) {
      case "literal":
        return literalType(expression.value);
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

  #identifier(expression: Expression, name: string): Type {
    return this.#lookup(expression, name) ?? this.#refuse(expression, undeclared(name));
  }

  /** The type of a variable, or the type that a name denotes. */
  #lookup(expression: Expression, name: string): Type | undefined {
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer) if (scope.name === name) return scope.type;
    const variable = this.#environment.variable(name);
    if (variable !== undefined) {
      this.#variables.add(name);
      return variable;
    }
    const type = this.#environment.type(name);
    if (type === undefined) return undefined;
    this.#named.set(expression, type);
    return typeOf(type);
  }

  #select(expression: Select): Type {
    const name = qualifiedName(expression);
    const named = name === undefined ? undefined : this.#lookup(expression, name);
    if (named !== undefined) {
      if (!this.#named.has(expression)) this.#chains.set(expression, name!);
      return named;
    }
    const type = this.#field(expression, expression.operand, expression.field, false);
    return expression.isTest ? BOOL : this.#substitution.apply(type);
  }

  #field(expression: Expression, operand: Expression, field: string, isOptional: boolean): Type {
    const operandType = this.#substitution.apply(this.visit(operand));
    const content = optionalContent(operandType);
    const type = this.#fieldOf(expression, content ?? operandType, field);
    return content !== undefined || isOptional ? optionalOf(type) : type;
  }

  #fieldOf(expression: Expression, type: Type, field: string): Type {
    switch (type.kind) {
      case "map":
        return type.parameters[1]!;
      case "struct":
        return type.field?.(field) ?? this.#refuse(expression, `undefined field '${field}'`);
      case "parameter":
        this.#substitution.matches(DYN, type);
        return DYN;
      case "dyn":
      case "error":
        return DYN;
      default:
        this.#refuse(expression, `type '${formatType(type)}' does not support field selection`);
        return DYN;
    }
  }

  #call(expression: Call): Type {
    const { name, target, args } = expression;
    if (name === "_?._") return this.#optionalSelect(expression);
    for (const arg of args) this.visit(arg);
    if (target === undefined) {
      const declaration = this.#environment.function(name);
      if (declaration === undefined) return this.#refuse(expression, undeclared(name));
      return this.#resolve(expression, declaration, args, false);
    }
    const prefix = qualifiedName(target);
    const namespaced = prefix === undefined ? undefined : this.#environment.function(`${prefix}.${name}`);
    if (namespaced !== undefined) return this.#resolve(expression, namespaced, args, false);
    this.visit(target);
    const declaration = this.#environment.function(name);
    if (declaration === undefined) return this.#refuse(expression, undeclared(name));
    return this.#resolve(expression, declaration, [target, ...args], true);
  }

  #optionalSelect(expression: Call): Type {
    const [operand, field] = expression.args;
    this.#types.set(field!, STRING);
    const name = (field as { value: string }).value;
    const declaration = this.#environment.function("_?._")!;
    this.#calls.set(expression, { declaration, overloads: declaration.overloads, isMethod: false });
    return this.#substitution.apply(this.#field(expression, operand!, name, true));
  }

  #resolve(call: Call, declaration: FunctionDeclaration, args: readonly Expression[], isMethod: boolean): Type {
    const types = args.map((arg) => this.#types.get(arg)!);
    if (declaration.name === "_&&_" || declaration.name === "_||_") return this.#logical(call, declaration, types);
    const matching: Overload[] = [];
    let result: Type | undefined;
    for (const overload of declaration.overloads) {
      if (overload.isMethod !== isMethod) continue;
      const fresh = this.#instantiated([overload.result, ...overload.parameters]);
      if (!this.#substitution.matchesAll(types, fresh.slice(1))) continue;
      matching.push(overload);
      const type = this.#substitution.apply(fresh[0]!);
      if (result === undefined) result = type;
      else if (result.kind !== "dyn" && !isSameType(type, result)) result = DYN;
    }
    if (result === undefined) {
      const signature = formatSignature(
        types.map((type) => this.#substitution.apply(type, true)),
        isMethod,
      );
      return this.#refuse(call, `found no matching overload for '${declaration.name}' applied to '${signature}'`);
    }
    this.#calls.set(call, { declaration, overloads: matching, isMethod });
    return result;
  }

  #logical(call: Call, declaration: FunctionDeclaration, types: readonly Type[]): Type {
    let isWrong = false;
    for (const [index, type] of types.entries()) {
      if (this.#substitution.matches(type, BOOL)) continue;
      isWrong = true;
      this.#mismatch(call.args[index]!, BOOL, type);
    }
    if (isWrong) return ERROR;
    this.#calls.set(call, { declaration, overloads: declaration.overloads, isMethod: false });
    return BOOL;
  }

  /** Replaces each type parameter of a signature by a fresh one. */
  #instantiated(types: readonly Type[]): readonly Type[] {
    const fresh = new Map<string, Type>();
    const replace = (type: Type): Type => {
      if (type.kind === "parameter") {
        const known = fresh.get(type.name) ?? this.#fresh();
        fresh.set(type.name, known);
        return known;
      }
      return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(replace) };
    };
    return types.map(replace);
  }

  #fresh(): Type {
    return parameter(`_var${this.#freshCount++}`);
  }

  #list({ items }: ListExpression): Type {
    let joined: Type | undefined;
    for (const { value, isOptional } of items) joined = this.#join(joined, this.#item(value, isOptional));
    return listOf(joined ?? this.#fresh());
  }

  #map({ entries }: MapExpression): Type {
    let keys: Type | undefined;
    let values: Type | undefined;
    for (const { key, value, isOptional } of entries) {
      keys = this.#join(keys, this.visit(key));
      values = this.#join(values, this.#item(value, isOptional));
    }
    return mapOf(keys ?? this.#fresh(), values ?? this.#fresh());
  }

  /** The type of an item; for an optional item, the type of its content. */
  #item(value: Expression, isOptional: boolean): Type {
    const type = this.visit(value);
    if (!isOptional) return type;
    const content = optionalContent(type);
    if (content === undefined && type.kind !== "dyn") this.#mismatch(value, optionalOf(type), type);
    return content ?? type;
  }

  #join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    return this.#substitution.matches(previous, current) ? moreGeneral(previous, current) : DYN;
  }

  #struct(expression: StructExpression): Type {
    const type = this.#environment.type(expression.name);
    if (type === undefined) return this.#refuse(expression, undeclared(expression.name));
    if (type.kind !== "struct") {
      return this.#refuse(expression, `'${formatType(type)}' is not a message type`);
    }
    for (const { name, value, isOptional, at } of expression.fields) {
      const valueType = this.#item(value, isOptional);
      const fieldType = type.field?.(name);
      if (fieldType === undefined) this.issues.push({ at, message: `undefined field '${name}'` });
      else if (!this.#substitution.matches(fieldType, valueType)) {
        const types = `'${formatType(fieldType)}' but provided type is '${formatType(valueType)}'`;
        this.issues.push({ at, message: `expected type of field '${name}' is ${types}` });
      }
    }
    return type;
  }

  #comprehension(expression: Comprehension): Type {
    const { range, initial, condition, step, result, variable, secondVariable, accumulator } = expression;
    this.visit(range);
    const accumulated = this.visit(initial);
    const rangeType = this.#substitution.apply(this.#types.get(range)!);
    const outer = this.#scope;
    this.#scope = { name: accumulator, type: accumulated, outer };
    const inner = this.#scope;
    const [first, second] = this.#rangeVariables(range, rangeType, secondVariable !== undefined);
    this.#scope = { name: variable, type: first, outer: inner };
    if (secondVariable !== undefined) this.#scope = { name: secondVariable, type: second, outer: this.#scope };
    this.#expect(condition, this.visit(condition), BOOL);
    this.#expect(step, this.visit(step), accumulated);
    this.#scope = inner;
    const type = this.visit(result);
    this.#scope = outer;
    return this.#substitution.apply(type);
  }

  #rangeVariables(range: Expression, type: Type, isTwo: boolean): readonly [Type, Type] {
    switch (type.kind) {
      case "list":
        return isTwo ? [INT, type.parameters[0]!] : [type.parameters[0]!, DYN];
      case "map":
        return [type.parameters[0]!, type.parameters[1]!];
      case "dyn":
      case "error":
      case "parameter":
        this.#substitution.matches(DYN, type);
        return [DYN, DYN];
      default: {
        const allowed = "(must be list, map, or dynamic)";
        this.#refuse(range, `expression of type '${formatType(type)}' cannot be range of a comprehension ${allowed}`);
        return [ERROR, ERROR];
      }
    }
  }

  #expect(expression: Expression, type: Type, wanted: Type): void {
    if (!this.#substitution.matches(wanted, type)) this.#mismatch(expression, wanted, type);
  }

  #mismatch(expression: Expression, wanted: Type, found: Type): void {
    this.#refuse(expression, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
  }

  #refuse({ at }: Expression, message: string): Type {
    this.issues.push({ at, message });
    return ERROR;
  }
}

function literalType(value: CelValue): Type {
  if (value === null) return NULL;
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "bigint":
      return INT;
    case "number":
      return DOUBLE;
    case "string":
      return STRING;
    default:
      return value instanceof Uint ? UINT : BYTES;
  }
}

function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}
