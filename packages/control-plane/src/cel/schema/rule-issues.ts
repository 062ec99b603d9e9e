import { fieldErrors } from "../../api/error-budget.js";
import { forbiddenField, invalidValue, notSupported, Printed, required } from "../../api/field-error.js";
import type { FieldError } from "../../api/status-error.js";
import type { Schema, ValidationRule } from "../../facts/schema.js";
import { lesser } from "../costs/range.js";
import { type CompiledRule, compileRules } from "./compiled-rule.js";
import { type DeclaredType, declaredType } from "./declared-type.js";
import { escapedName } from "./field-name.js";
import { fieldPathIn } from "./field-path.js";

const RULE_LIMIT = 10_000_000n;
const SCHEMA_LIMIT = 100_000_000n;
const MAX_COST = 2n ** 64n - 1n;
const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Issues with the text of one schema's rules, without compiling them. */
export function ruleTextIssues(schema: Schema, path: string): readonly FieldError[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, index) =>
    textIssues(rule, schema, `${path}.x-kubernetes-validations[${index}]`),
  );
}

function textIssues(rule: ValidationRule, schema: Schema, path: string): readonly FieldError[] {
  const { rule: text = "", message = "", messageExpression = "", reason, fieldPath = "" } = rule;
  const errors: FieldError[] = fieldErrors();
  const hasLines = (value: string): boolean => /[\n\r]/.test(value);
  if (text.trim() === "") errors.push(required(`${path}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "") {
    errors.push(invalidValue(`${path}.message`, message, "must be non-empty if specified"));
  } else if (hasLines(message.trim())) {
    errors.push(invalidValue(`${path}.message`, message, "must not contain line breaks"));
  } else if (hasLines(text.trim()) && message.trim() === "") {
    errors.push(required(`${path}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (reason !== undefined && reason !== null && !REASONS.includes(reason)) {
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
  }
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "") {
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must be non-empty if specified"));
  }
  if (hasLines(fieldPath)) errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must not contain line breaks"));
  if (fieldPathIn(schema, fieldPath) === undefined) {
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must be a valid path"));
  }
  return errors;
}

/** Issues with the rules of an otherwise valid schema: types and costs. */
export function ruleIssues(schema: Schema, path: string): readonly FieldError[] {
  const survey = new RuleSurvey();
  survey.visit(schema, path, { declared: undefined, isResource: true, count: 1n, uncorrelated: undefined });
  return [...survey.errors, ...survey.totalIssues(path)];
}

interface Place {
  /** This schema's type, if the parent knows it. */
  readonly declared: DeclaredType | undefined;
  readonly isResource: boolean;
  /** The maximum number of values of this schema; undefined if unlimited. */
  readonly count: bigint | undefined;
  /** The nearest list above whose old and new items cannot be correlated. */
  readonly uncorrelated: string | undefined;
}

class RuleSurvey {
  readonly errors: FieldError[] = fieldErrors();
  readonly #costs: { readonly path: string; readonly cost: bigint }[] = [];
  #total = 0n;

  visit(schema: Schema, path: string, place: Place): void {
    const declared = place.declared ?? declaredType(schema, place.isResource);
    const { additionalProperties, properties = {}, items } = schema;
    const count = place.count === undefined ? undefined : multiplied(place.count, elementCount(schema));
    const child = (part: Schema, type: DeclaredType | undefined, uncorrelated = place.uncorrelated): Place => ({
      declared: type,
      isResource: part["x-kubernetes-embedded-resource"] === true,
      count,
      uncorrelated,
    });
    if (typeof additionalProperties === "object") {
      this.visit(additionalProperties, `${path}.additionalProperties`, child(additionalProperties, declared?.element));
    }
    for (const [name, part] of Object.entries(properties)) {
      const type = declared?.fields?.get(escapedName(name) ?? "");
      this.visit(part, `${path}.properties[${name}]`, child(part, type));
    }
    if (items !== undefined) {
      const isCorrelated = schema["x-kubernetes-list-type"] === "map";
      const uncorrelated = place.uncorrelated ?? (isCorrelated ? undefined : path);
      this.visit(items, `${path}.items`, child(items, declared?.element, uncorrelated));
    }
    if ((schema["x-kubernetes-validations"] ?? []).length === 0) return;
    if (declared === undefined) {
      const why = "unable to convert structural schema to CEL declarations";
      const detail = `Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: ${why}`;
      this.errors.push({ type: "InternalError", field: `${path}.x-kubernetes-validations`, detail });
      return;
    }
    for (const [index, rule] of compileRules(schema, declared).entries()) {
      this.#rule(rule, `${path}.x-kubernetes-validations[${index}]`, place);
    }
  }

  #rule(compiled: CompiledRule, path: string, { count, uncorrelated }: Place): void {
    const { rule, error, messageError, message, messageMaxCost, usesOldSelf } = compiled;
    const cost = multiplied(compiled.maxCost, count ?? compiled.maxCount)!;
    if (cost > RULE_LIMIT) {
      this.errors.push(forbiddenField(`${path}.rule`, tooCostly("estimated rule cost", cost, RULE_LIMIT)));
    }
    this.#observe(`${path}.rule`, cost);
    if (error !== undefined) this.errors.push(wrongRule(`${path}.rule`, rule, error));
    if (messageError !== undefined) {
      this.errors.push(wrongRule(`${path}.messageExpression`, rule, messageError));
    } else if (message !== undefined) {
      if (messageMaxCost > RULE_LIMIT) {
        const detail = tooCostly("estimated messageExpression cost", messageMaxCost, RULE_LIMIT);
        this.errors.push(forbiddenField(`${path}.messageExpression`, detail));
      }
      this.#observe(`${path}.messageExpression`, messageMaxCost);
    }
    if (usesOldSelf && uncorrelated !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      this.errors.push(invalidValue(`${path}.rule`, rule.rule, why));
    } else if (!usesOldSelf && rule.optionalOldSelf !== undefined && rule.optionalOldSelf !== null) {
      const why = "may not be set if oldSelf is not used in rule";
      this.errors.push(invalidValue(`${path}.optionalOldSelf`, rule.optionalOldSelf, why));
    }
  }

  #observe(path: string, cost: bigint): void {
    this.#total = lesser(this.#total + cost, MAX_COST);
    if (cost >= SCHEMA_LIMIT / 100n) this.#costs.push({ path, cost });
  }

  /** Names the four most expensive rules. */
  totalIssues(path: string): readonly FieldError[] {
    if (this.#total <= SCHEMA_LIMIT) return [];
    const worst = this.#costs.sort((a, b) => (a.cost > b.cost ? -1 : a.cost < b.cost ? 1 : 0)).slice(0, 4);
    const contributed = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...worst.map((each) => forbiddenField(each.path, contributed)),
      forbiddenField(path, tooCostly(what, this.#total, SCHEMA_LIMIT)),
    ];
  }
}

/** How many element values one value of a schema can have; undefined if unlimited. */
function elementCount({ type, additionalProperties, maxProperties, maxItems }: Schema): bigint | undefined {
  const limit = (max: number | undefined): bigint | undefined =>
    max === undefined ? undefined : BigInt(Math.max(0, max));
  if (type === "array") return limit(maxItems);
  return type === "object" && additionalProperties !== undefined ? limit(maxProperties) : 1n;
}

function multiplied(a: bigint, b: bigint | undefined): bigint | undefined {
  if (b === undefined) return undefined;
  return lesser(a * b, MAX_COST);
}

function tooCostly(what: string, cost: bigint, limit: bigint): string {
  const factor = Number(cost) / Number(limit);
  const shownFactor =
    factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  const advice =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${shownFactor} (${advice})`;
}

/** kube-apiserver prints the whole rule as a Go struct. */
function wrongRule(path: string, rule: ValidationRule, detail: string): FieldError {
  const text = (): string =>
    JSON.stringify({
      Rule: rule.rule,
      Message: rule.message ?? "",
      MessageExpression: rule.messageExpression ?? "",
      Reason: rule.reason ?? null,
      FieldPath: rule.fieldPath ?? "",
      OptionalOldSelf: rule.optionalOldSelf ?? null,
    }).replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
  return invalidValue(path, new Printed(text), detail);
}
