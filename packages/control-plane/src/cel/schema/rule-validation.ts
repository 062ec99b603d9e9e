import { isSameJson } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, required } from "../../api/field-error.js";
import { field, isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import type { Schema, ValidationRule } from "../../facts/schema.js";
import { Budget, BudgetExceeded } from "../evaluation/budget.js";
import type { Program, Variables } from "../evaluation/program.js";
import { type CelValue, Failure, Optional } from "../values/value.js";
import type { CompiledRule } from "./compiled-rule.js";
import type { RuleTree } from "./rule-tree.js";
import { schemaValue } from "./schema-value.js";

/** Cost limits per evaluation and per object. */
const CALL_LIMIT = 1_000_000;
const OBJECT_LIMIT = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const BLOCKING: ReadonlySet<FieldError["type"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

export interface RuleContext {
  /** The object before an update. */
  readonly old?: JsonObject | undefined;
  /** Other errors of the object. Some make the rules meaningless; one more error then says so. */
  readonly errors?: readonly FieldError[];
  /** Called for rules that only unchanged values break. Such rules are tolerated. */
  readonly warn?: (message: string) => void;
}

/** Validates an object against the rules of its schema. */
export function validateRules(
  tree: RuleTree,
  object: JsonObject,
  { old, errors = [], warn = () => {} }: RuleContext = {},
): readonly FieldError[] {
  if (errors.some(({ type }) => BLOCKING.has(type))) {
    const why =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    return [invalidValue("<nil>", null, why)];
  }
  const check = new RuleCheck(warn);
  check.node(tree, object, old, "", old === undefined ? {} : { current: { schema: tree.schema, old, value: object } });
  return check.errors;
}

/** The old state that shows whether a value changed: its own, or that of the nearest ancestor with one. */
interface Ratchet {
  readonly current?: Correlated | undefined;
  readonly ancestor?: Correlated | undefined;
}

interface Correlated {
  readonly schema: Schema;
  readonly old: Json | undefined;
  readonly value: Json;
}

class RuleCheck {
  readonly errors: FieldError[] = fieldErrors();
  readonly #warn: (message: string) => void;
  #left = OBJECT_LIMIT;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  node(tree: RuleTree, value: Json, old: Json | undefined, path: string, ratchet: Ratchet): void {
    if (value === null || this.#left < 0) return;
    if (tree.rules.length > 0) this.#rules(tree, value, old ?? undefined, path, ratchet);
    for (const part of tree.allOf) this.node(part, value, old, path, { ancestor: ratchet.ancestor });
    if (isArray(value)) this.#items(tree, value, old, path, ratchet);
    else if (isObject(value)) this.#fields(tree, value, old, path, ratchet);
  }

  #items(tree: RuleTree, value: readonly Json[], old: Json | undefined, path: string, ratchet: Ratchet): void {
    const { items, schema } = tree;
    if (items === undefined) return;
    const oldItems = isArray(old) ? old : undefined;
    for (const [index, item] of value.entries()) {
      const before = oldItems && oldItem(schema, oldItems, item);
      this.node(items, item, before, `${path}[${index}]`, below(ratchet, items.schema, item, before));
    }
  }

  #fields(tree: RuleTree, value: JsonObject, old: Json | undefined, path: string, ratchet: Ratchet): void {
    for (const key of Object.keys(value)) {
      const before = isObject(old) ? field(old, key) : undefined;
      const property = tree.properties.get(key);
      const part = property ?? tree.additional;
      if (part === undefined) continue;
      const at = property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      this.node(part, value[key]!, before, at, below(ratchet, part.schema, value[key]!, before));
    }
  }

  #rules(tree: RuleTree, value: Json, old: Json | undefined, path: string, ratchet: Ratchet): void {
    const { schema, valueSchema } = tree;
    const type = schema.type ?? "";
    if (this.#left <= 0) {
      this.#outOfBudget(path, type);
      return;
    }
    const self = schemaValue(valueSchema, value);
    const oldSelf = old === undefined ? undefined : schemaValue(valueSchema, old);
    const plain: Variables = (name) => (name === "self" ? self : name === "oldSelf" ? oldSelf : undefined);
    const optional: Variables = (name) => (name === "oldSelf" ? new Optional(oldSelf) : plain(name));
    for (const compiled of tree.rules) {
      const { rule, program, usesOldSelf, error } = compiled;
      const isOptional = rule.optionalOldSelf === true;
      if (error !== undefined) {
        this.errors.push(invalidValue(at(path), type, `rule compile error: ${error}`));
        continue;
      }
      if (program === undefined || (usesOldSelf && old === undefined && !isOptional)) continue;
      const result = this.#evaluate(program, isOptional ? optional : plain);
      if (result === "out of budget") {
        this.#outOfBudget(path, type);
        return;
      }
      if (result instanceof Failure) this.#fail(rule, type, path, result);
      else if (result !== true)
        this.#broken(compiled, schema, value, path, plain, !usesOldSelf && isUnchanged(ratchet));
      if (this.#left < 0) return;
    }
  }

  #outOfBudget(path: string, type: string): void {
    const why = "validation failed due to running out of cost budget, no further validation rules will be run";
    this.errors.push(invalidValue(at(path), type, why));
    this.#left = -1;
  }

  #evaluate(program: Program, variables: Variables): CelValue | "out of budget" {
    const budget = new Budget(CALL_LIMIT);
    let result: CelValue;
    try {
      result = program.evaluate(variables, budget);
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error;
      result = EXCEEDED;
    }
    if (budget.spent > this.#left) return "out of budget";
    this.#left -= budget.spent;
    return result;
  }

  #fail(rule: ValidationRule, type: string, path: string, { message }: Failure): void {
    const shown = shownRule(rule);
    const add = (detail: string): number => this.errors.push(invalidValue(at(path), type, detail));
    if (message.startsWith("no such overload")) {
      const why = "call arguments did not match a supported operator, function or macro signature for rule";
      add(`'${message}': ${why}: ${shown}`);
    } else if (message === EXCEEDED.message) {
      const why = "no further validation rules will be run due to call cost exceeds limit for rule";
      add(`'${message}': ${why}: ${shown}`);
      this.#left = -1;
    } else add(`${message} evaluating rule: ${shown}`);
  }

  #broken(
    compiled: CompiledRule,
    schema: Schema,
    value: Json,
    path: string,
    variables: Variables,
    isForgiven: boolean,
  ): void {
    const { rule, message, fieldPath } = compiled;
    const place = at([path, fieldPath].filter((part) => part !== "").join("."));
    const add = (error: FieldError): void => {
      if (isForgiven) this.#warn(`${error.field}: ${error.detail}`);
      else this.errors.push(error);
    };
    let detail: string | undefined;
    if (message !== undefined) {
      const made = this.#message(message, rule.messageExpression!, variables);
      if ("refusal" in made) {
        add(invalidValue(place, schema.type ?? "", made.refusal));
        this.#left = -1;
        return;
      }
      detail = made.text;
    }
    add(
      brokenRule(
        rule,
        schema,
        value,
        place,
        detail ?? (rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`),
      ),
    );
  }

  /** The result of a rule's messageExpression; no text if it fails or yields nothing usable. */
  #message(
    program: Program,
    source: string,
    variables: Variables,
  ): { readonly text: string | undefined } | { readonly refusal: string } {
    const result = this.#evaluate(program, variables);
    if (result === "out of budget") {
      const why = "messageExpression evaluation failed due to running out of cost budget";
      return { refusal: `${why}, no further validation rules will be run` };
    }
    if (result instanceof Failure) {
      if (result.message !== EXCEEDED.message) return { text: undefined };
      const why = "no further validation rules will be run due to call cost exceeds limit for messageExpression";
      return { refusal: `${why}: ${JSON.stringify(source)}` };
    }
    const text = typeof result === "string" ? result.trim() : "";
    const isUsable = text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES;
    return { text: isUsable ? text : undefined };
  }
}

const EXCEEDED = new Failure("operation cancelled: actual cost limit exceeded");

function at(path: string): string {
  return path === "" ? "<nil>" : path;
}

function shownRule({ message, rule }: ValidationRule): string {
  return (message || rule).trim();
}

/** Errors do not show objects and lists. */
function brokenRule(rule: ValidationRule, schema: Schema, value: Json, path: string, detail: string): FieldError {
  const isShown = schema.type !== "object" && schema.type !== "array";
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbiddenField(path, detail);
    case "FieldValueRequired":
      return required(path, detail);
    case "FieldValueDuplicate":
      return isShown ? duplicate(path, value) : { type: "FieldValueDuplicate", field: path, detail: "Duplicate value" };
    default:
      if (isShown) return invalidValue(path, value, detail);
      return { type: "FieldValueInvalid", field: path, detail: `Invalid value: ${detail}` };
  }
}

/** The old item with the same keys. Only items of list maps have one. */
function oldItem(schema: Schema, old: readonly Json[], item: Json): Json | undefined {
  const { "x-kubernetes-list-type": listType, "x-kubernetes-list-map-keys": keys = [], items } = schema;
  if (listType !== "map" || !isObject(item)) return undefined;
  const keyOf = (candidate: JsonObject, key: string): Json | undefined =>
    field(candidate, key) ?? (items?.properties?.[key]?.default as Json | undefined);
  return old.find(
    (candidate) => isObject(candidate) && keys.every((key) => isSameJson(keyOf(candidate, key), keyOf(item, key))),
  );
}

/** The ratchet of a part. A part without an old state is judged by its nearest ancestor with one. */
function below({ current, ancestor }: Ratchet, schema: Schema, value: Json, old: Json | undefined): Ratchet {
  if (current === undefined) return { ancestor };
  return { current: old === undefined ? undefined : { schema, old, value }, ancestor: current };
}

function isUnchanged({ current, ancestor }: Ratchet): boolean {
  const compared = current ?? ancestor;
  return compared !== undefined && isSameJson(compared.old, compared.value);
}
