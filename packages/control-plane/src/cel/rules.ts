import { duplicate, forbiddenField, invalidValue, required } from "../registry/field-error.js";
import type { FieldError } from "../registry/status-error.js";
import { deepEqual, field, isArray, isObject, type Json, type JsonObject } from "../schema/json.js";
import type { Schema, ValidationRule } from "../schema/schema.js";
import { Budget, BudgetExceeded } from "./budget.js";
import { evaluate } from "./evaluator.js";
import type { Expression } from "./expression.js";
import { parse } from "./parser.js";
import { SchemaValues } from "./schema-value.js";
import { CelError, type CelValue, Optional } from "./value.js";

const CALL_LIMIT = 1_000_000;
const OBJECT_LIMIT = 10_000_000;
const BLOCKING: ReadonlySet<FieldError["type"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/**
 * Checks the `x-kubernetes-validations` of a custom resource's schema. With `old`, rules that name `oldSelf` are checked
 * where there is an old value to compare with, and others are forgiven where nothing changed. Where the object has
 * `errors` already that make rules meaningless, one more error says that they were not checked.
 */
export function validateRules(
  schema: Schema,
  object: JsonObject,
  old: JsonObject | undefined,
  errors: readonly FieldError[] = [],
  warn: (message: string) => void = () => {},
): FieldError[] {
  if (!hasRules(schema)) return [];
  if (errors.some(({ type }) => BLOCKING.has(type))) {
    const why =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    return [invalidValue("<nil>", null, why)];
  }
  const check = new RuleCheck(warn);
  check.node(schema, object, old, "", true);
  return check.errors;
}

const ruled = new WeakMap<Schema, boolean>();

/** Whether there is a rule here or below. */
function hasRules(schema: Schema): boolean {
  let found = ruled.get(schema);
  if (found === undefined) {
    const { properties = {}, items, additionalProperties } = schema;
    const parts = [...Object.values(properties), items, additionalProperties];
    found =
      (schema["x-kubernetes-validations"]?.length ?? 0) > 0 ||
      parts.some((part) => typeof part === "object" && hasRules(part));
    ruled.set(schema, found);
  }
  return found;
}

interface CompiledRule {
  readonly expression: Expression;
  readonly message: Expression | undefined;
  readonly usesOldSelf: boolean;
}

const compiledRules = new WeakMap<ValidationRule, CompiledRule>();

function compiled(rule: ValidationRule): CompiledRule {
  let result = compiledRules.get(rule);
  if (result === undefined) {
    const expression = parse(rule.rule);
    const message = rule.messageExpression ? parse(rule.messageExpression) : undefined;
    result = { expression, message, usesOldSelf: /\boldSelf\b/.test(rule.rule) };
    compiledRules.set(rule, result);
  }
  return result;
}

class RuleCheck {
  readonly errors: FieldError[] = [];
  readonly #values = new SchemaValues();
  readonly #oldValues = new SchemaValues();
  readonly #warn: (message: string) => void;
  #left = OBJECT_LIMIT;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  node(schema: Schema, value: Json, old: Json | undefined, path: string, isRoot = false): void {
    if (!hasRules(schema) || this.#left < 0) return;
    for (const rule of schema["x-kubernetes-validations"] ?? []) {
      if (value !== null) this.#rule(rule, schema, value, old ?? undefined, path, isRoot);
      if (this.#left < 0) return;
    }
    if (isArray(value)) this.#items(schema, value, old, path);
    else if (isObject(value)) this.#fields(schema, value, old, path);
  }

  #items(schema: Schema, value: readonly Json[], old: Json | undefined, path: string): void {
    const { items } = schema;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      this.node(items, item, oldItem(schema, items, old, item), `${path}[${index}]`);
    }
  }

  #fields(schema: Schema, value: JsonObject, old: Json | undefined, path: string): void {
    const { properties, additionalProperties } = schema;
    const isCorrelated = isObject(old) && schema["x-kubernetes-map-type"] !== "atomic";
    for (const key of Object.keys(value)) {
      const before = isCorrelated ? field(old, key) : undefined;
      if (properties !== undefined && Object.hasOwn(properties, key)) {
        this.node(properties[key]!, value[key]!, before, path === "" ? key : `${path}.${key}`);
      } else if (typeof additionalProperties === "object") {
        this.node(additionalProperties, value[key]!, before, `${path}[${key}]`);
      }
    }
  }

  #rule(rule: ValidationRule, schema: Schema, value: Json, old: Json | undefined, path: string, isRoot: boolean): void {
    const { expression, message, usesOldSelf } = compiled(rule);
    const isOptional = rule.optionalOldSelf === true;
    if (usesOldSelf && old === undefined && !isOptional) return;
    const variables = new Map<string, CelValue>([["self", this.#values.convert(schema, value, isRoot)]]);
    const oldSelf = old === undefined ? undefined : this.#oldValues.convert(schema, old, isRoot);
    if (isOptional) variables.set("oldSelf", new Optional(oldSelf));
    else if (oldSelf !== undefined) variables.set("oldSelf", oldSelf);
    const isForgiven = !usesOldSelf && old !== undefined && deepEqual(old, value);
    try {
      if (this.#evaluate(expression, variables) === true) return;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.#fail(rule, schema, path, error);
      return;
    }
    const found = failure(rule, schema, value, path, this.#detail(rule, message, variables));
    if (isForgiven) this.#warn(`${found.field}: ${found.detail}`);
    else this.errors.push(found);
  }

  #evaluate(expression: Expression, variables: ReadonlyMap<string, CelValue>): CelValue {
    const limit = Math.min(CALL_LIMIT, this.#left);
    const budget = new Budget(limit);
    try {
      return evaluate(expression, variables, budget);
    } finally {
      this.#left -= limit - Math.max(budget.left, 0);
    }
  }

  #fail(rule: ValidationRule, schema: Schema, path: string, error: CelError): void {
    const at = path === "" ? "<nil>" : path;
    const shown = (rule.message || rule.rule).trim();
    const add = (detail: string): void => {
      this.errors.push(invalidValue(at, schema.type ?? "", detail));
    };
    if (error instanceof BudgetExceeded) {
      this.#left = -1;
      add(
        `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
      );
    } else if (error.message.startsWith("no such overload")) {
      add(
        `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`,
      );
    } else {
      add(`${error.message} evaluating rule: ${shown}`);
    }
  }

  #detail(rule: ValidationRule, message: Expression | undefined, variables: ReadonlyMap<string, CelValue>): string {
    if (message !== undefined) {
      try {
        const text = this.#evaluate(message, variables);
        if (typeof text === "string" && text.trim() !== "" && !text.includes("\n")) return text.trim();
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
      }
    }
    return rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`;
  }
}

/** Objects and lists are not shown in errors. */
function failure(rule: ValidationRule, schema: Schema, value: Json, path: string, detail: string): FieldError {
  const below = rule.fieldPath === undefined ? "" : rule.fieldPath.replace(/^\./, "");
  const at = [path, below].filter((part) => part !== "").join(".") || "<nil>";
  const isShown = schema.type !== "object" && schema.type !== "array";
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbiddenField(at, detail);
    case "FieldValueRequired":
      return required(at, detail);
    case "FieldValueDuplicate":
      return isShown ? duplicate(at, value) : { type: "FieldValueDuplicate", field: at, detail: "Duplicate value" };
    default:
      if (isShown) return invalidValue(at, value, detail);
      return { type: "FieldValueInvalid", field: at, detail: `Invalid value: ${detail}` };
  }
}

/** Only items of list maps have an old value: that with the same keys. */
function oldItem(schema: Schema, items: Schema, old: Json | undefined, item: Json): Json | undefined {
  const { "x-kubernetes-list-type": listType, "x-kubernetes-list-map-keys": keys = [] } = schema;
  if (listType !== "map" || !isArray(old) || !isObject(item)) return undefined;
  const keyOf = (candidate: JsonObject, key: string): Json | undefined =>
    field(candidate, key) ?? (items.properties?.[key]?.default as Json | undefined);
  return old.find(
    (candidate) => isObject(candidate) && keys.every((key) => deepEqual(keyOf(candidate, key), keyOf(item, key))),
  );
}
