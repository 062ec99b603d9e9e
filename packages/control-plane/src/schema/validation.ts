import { isSameJson } from "setpoint/kinds";
import { ERROR_BUDGET, fieldErrors } from "../api/error-budget.js";
import { invalidValue, notSupported, required, tooLong, tooMany, typeInvalid } from "../api/field-error.js";
import { goFloat, goNumber, goQuote } from "../api/go-format.js";
import { isArray, isObject, type Json, type JsonObject } from "../api/json.js";
import { perObject } from "../api/memoized.js";
import type { FieldError } from "../api/status-error.js";
import type { Schema } from "../facts/schema.js";
import { canonicalText } from "./canonical-text.js";
import { type Correlated, childOf, correlated, pairing } from "./correlation.js";
import { formatCheck } from "./format.js";
import { regex } from "./regex.js";

export interface ValidationOptions {
  /** The value before an update. Errors in unchanged parts are tolerated. */
  readonly old?: Json | undefined;
  /** Prefix of the fields of the errors. The messages name fields relative to the value. */
  readonly prefix?: string;
}

/**
 * Validates a value against a structural schema with kube-apiserver's exact messages, even where it shows a type
 * instead of the value, or no field at all.
 */
export function validate(schema: Schema, value: Json, { old, prefix = "" }: ValidationOptions = {}): FieldError[] {
  const problems: Problem[] = [];
  visit(schema, value, "", problems, old === undefined ? undefined : correlated(schema, old));
  if (problems.length === 0) return [];
  const errors = fieldErrors();
  const seen = new Set<string>();
  let characters = 0;
  for (const problem of problems) {
    const text = problem.text();
    if (seen.has(text)) continue;
    seen.add(text);
    errors.push(toFieldError(problem, prefix));
    characters += text.length;
    // The texts repeat the path, which may be as long as the request. So produce no more than a response shows.
    if (characters > ERROR_BUDGET.characters) break;
  }
  return errors;
}

/** A finding. `name` is its field; undefined for a finding about a combinator. */
interface Problem {
  readonly name: string | undefined;
  /** The whole message; identifies repeated findings. */
  readonly text: () => string;
  readonly toError: (field: string) => FieldError;
}

function toFieldError({ name, toError }: Problem, prefix: string): FieldError {
  const own = name === undefined ? "" : name.replace(/^\./, "");
  const path = [prefix, own].filter((part) => part !== "").join(".");
  return toError(path === "" ? "<nil>" : path);
}

/** Validates a value at every depth. Drops findings in parts that an update did not change. */
function visit(
  schema: Schema,
  value: Json,
  path: string,
  problems: Problem[],
  correlated: Correlated | undefined,
): number {
  const before = problems.length;
  // A response names no more findings than this. Findings that are dropped below make room again.
  if (before > ERROR_BUDGET.causes) return 0;
  const matches = visitNode(schema, value, path, problems, correlated);
  if (problems.length > before && correlated?.sameness.isSame(value, correlated.old)) {
    problems.length = before;
  }
  return matches;
}

/** Returns the number of matching checks, which picks the best of several failing alternatives. */
function visitNode(
  schema: Schema,
  value: Json,
  path: string,
  problems: Problem[],
  correlated: Correlated | undefined,
): number {
  let matches = checkType(schema, value, path, problems);
  if (value === null) {
    checkEnum(schema, value, path, problems);
    return matches;
  }
  matches += checkCombinations(schema, value, path, problems, correlated) + 2;
  if (typeof value === "string") matches += checkString(schema, value, path, problems);
  else if (typeof value === "number") matches += checkNumber(schema, value, path, problems);
  else if (isArray(value)) matches += checkArray(schema, value, path, problems, correlated);
  checkEnum(schema, value, path, problems);
  if (isObject(value)) matches += checkObject(schema, value, path, problems, correlated);
  return matches + 2;
}

function typesOf(schema: Schema): readonly string[] {
  if (schema["x-kubernetes-int-or-string"]) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

/** The format, if kube-apiserver supports it for the type. */
function effectiveFormat(schema: Schema, types: readonly string[]): string {
  const { format = "" } = schema;
  if (format === "") return "";
  switch (types.length === 1 ? types[0] : "string") {
    case "string":
      return formatCheck(format) === undefined ? "" : format;
    case "integer":
      return format === "int32" || format === "int64" ? format : "";
    case "number":
      return format === "float" || format === "double" ? format : "";
    default:
      return "";
  }
}

function checkType(schema: Schema, value: Json, path: string, problems: Problem[]): number {
  const types = typesOf(schema);
  const format = effectiveFormat(schema, types);
  if (value === null) {
    if (types.length === 0 || schema.nullable) return 1;
    problems.push(wrongType(path, types.join(","), "null"));
    return 0;
  }
  if (types.length === 0 && format === "") return 0;
  const [type, valueFormat] = typeAndFormat(value);
  const fits =
    types.includes(type) ||
    (type === "number" && Number.isInteger(value) && types.includes("integer")) ||
    (type === "integer" && types.includes("number"));
  const isText = typeof value === "string" || isArray(value);
  if (!isText && format !== "" && !fits && valueFormat !== format) {
    problems.push(wrongType(path, format, valueFormat));
    return 1;
  }
  const isNumeric = types.includes("number") || types.includes("integer");
  if (!isNumeric && format !== "" && isText) return 2;
  if (!fits) {
    problems.push(wrongType(path, types.join(","), type));
    return 1;
  }
  return 2;
}

function typeAndFormat(value: Json): [type: string, format: string] {
  if (typeof value === "boolean") return ["boolean", ""];
  if (typeof value === "string") return ["string", ""];
  if (typeof value === "number") return Number.isInteger(value) ? ["integer", "int64"] : ["number", "float64"];
  return [isArray(value) ? "array" : "object", ""];
}

/** kube-apiserver shows the found type in place of the value. */
function wrongType(path: string, expected: string, found: string): Problem {
  const text = (): string => `${path} in body must be of type ${expected}: ${goQuote(found)}`;
  return { name: path, text, toError: (name) => typeInvalid(name, found, text()) };
}

function checkEnum(schema: Schema, value: Json, path: string, problems: Problem[]): void {
  const { enum: allowed } = schema;
  if (allowed === undefined || allowed.length === 0) return;
  if (value !== null && allowed.some((candidate) => isMember(value, candidate as Json))) return;
  const values = (): string[] =>
    allowed.map((candidate) => (typeof candidate === "string" ? candidate : JSON.stringify(candidate)));
  const text = (): string => `${path} in body should be one of [${values().join(" ")}]`;
  problems.push({ name: path, text, toError: (name) => notSupported(name, value, values()) });
}

/** Go converts the value to the member's type first: a fraction is truncated, an integer becomes a character. */
function isMember(value: Json, member: Json): boolean {
  if (member === null) return false;
  if (typeof value === "number" && typeof member === "number") {
    return (Number.isInteger(member) ? Math.trunc(value) : value) === member;
  }
  if (typeof value === "number" && typeof member === "string" && Number.isInteger(value)) {
    return member === (value >= 0 && value <= 0x10ffff ? String.fromCodePoint(value) : "\ufffd");
  }
  return isSameJson(value, member);
}

function checkString(schema: Schema, value: string, path: string, problems: Problem[]): number {
  let matches = 1;
  const { maxLength, minLength, pattern } = schema;
  const length = maxLength === undefined && minLength === undefined ? 0 : characterCount(value);
  if (maxLength !== undefined && length > maxLength) {
    const text = (): string => `${path} in body should be at most ${maxLength} chars long`;
    problems.push({ name: path, text, toError: (name) => tooLong(name, maxLength) });
  } else if (minLength !== undefined && length < minLength) {
    problems.push(invalid(path, value, `should be at least ${minLength} chars long`));
  } else if (pattern !== undefined && pattern !== "") {
    const compiled = regex(pattern);
    if ("error" in compiled) {
      problems.push(invalid(path, value, `should match '${pattern}, but pattern is invalid: ${compiled.error}'`));
    } else if (!compiled.test(value)) {
      problems.push(invalid(path, value, `should match '${pattern}'`));
    }
  }
  const format = effectiveFormat(schema, typesOf(schema));
  const check = format === "" ? undefined : formatCheck(format);
  if (check !== undefined) {
    matches += 1;
    if (!check(value)) {
      const text = (): string => `${path} in body must be of type ${format}: ${goQuote(value)}`;
      problems.push({ name: path, text, toError: (name) => typeInvalid(name, value, text()) });
    }
  }
  return matches;
}

function characterCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code < 0xdc00) count--;
  }
  return count;
}

function checkNumber(schema: Schema, value: number, path: string, problems: Problem[]): number {
  const types = typesOf(schema);
  const format = effectiveFormat(schema, types);
  const type = types.length === 1 ? types[0]! : "";
  const isInt = Number.isInteger(value);
  if (!fitsRange(value, type, format)) {
    const suffix = format === "" ? "(default format)" : `with format ${format}`;
    problems.push(general(() => `Checked value must be of type ${type} ${suffix} in ${path}`));
  }
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (multipleOf !== undefined && isInt && Math.trunc(multipleOf) <= 0) {
    // Go divides integers by integers, so a factor of 0.5 is truncated.
    problems.push(badFactor(path, Math.trunc(multipleOf)));
  } else if (multipleOf !== undefined && !isMultiple(value, multipleOf, isInt)) {
    problems.push(invalid(path, value, `should be a multiple of ${bound(multipleOf, isInt)}`));
  }
  if (minimum !== undefined) {
    const limit = isInt ? Math.trunc(minimum) : minimum;
    if (exclusiveMinimum ? value <= limit : value < limit) {
      const relation = exclusiveMinimum ? "greater than" : "greater than or equal to";
      problems.push(invalid(path, value, `should be ${relation} ${bound(minimum, isInt)}`));
    }
  }
  if (maximum !== undefined) {
    const limit = isInt ? Math.trunc(maximum) : maximum;
    if (exclusiveMaximum ? value >= limit : value > limit) {
      const relation = exclusiveMaximum ? "less than" : "less than or equal to";
      problems.push(invalid(path, value, `should be ${relation} ${bound(maximum, isInt)}`));
    }
  }
  return 2;
}

function bound(limit: number, isInt: boolean): string {
  return isInt ? goNumber(Math.trunc(limit)) : goFloat(limit);
}

function isMultiple(value: number, factor: number, isInt: boolean): boolean {
  if (isInt) return value % Math.trunc(factor) === 0;
  return Number.isInteger(factor < 1 ? (1 / factor) * value : value / factor);
}

function fitsRange(value: number, type: string, format: string): boolean {
  if (type === "integer") {
    if (!Number.isInteger(value)) return false;
    return format === "int32" ? value >= -(2 ** 31) && value < 2 ** 31 : Math.abs(value) <= 2 ** 63;
  }
  return format !== "float" || Math.abs(value) <= 3.4028234663852886e38;
}

function checkArray(
  schema: Schema,
  value: readonly Json[],
  path: string,
  problems: Problem[],
  correlated: Correlated | undefined,
): number {
  let matches = 2;
  const { items, minItems, maxItems } = schema;
  if (items !== undefined) {
    const oldOf = pairing(correlated);
    for (const [index, item] of value.entries()) {
      matches += visit(items, item, `${path}[${index}]`, problems, oldOf(item));
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    problems.push(invalid(path, value.length, `should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    const text = (): string => `${path} in body should have at most ${maxItems} items`;
    problems.push({ name: path, text, toError: (name) => tooMany(name, value.length, maxItems) });
  }
  if (schema.uniqueItems && new Set(value.map(canonicalText)).size < value.length) {
    problems.push(invalid(path, "", "shouldn't contain duplicates"));
  }
  return matches;
}

function checkObject(
  schema: Schema,
  value: JsonObject,
  path: string,
  problems: Problem[],
  correlated: Correlated | undefined,
): number {
  let matches = 1;
  const { properties = {}, additionalProperties, minProperties, maxProperties } = schema;
  const keys = Object.keys(value);
  if (minProperties !== undefined && keys.length < minProperties) {
    problems.push(invalid(path, keys.length, `should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    const text = (): string => `${path} in body should have at most ${maxProperties} properties`;
    problems.push({ name: path, text, toError: (name) => tooMany(name, keys.length, maxProperties) });
  }
  for (const key of keys) {
    if (Object.hasOwn(properties, key)) continue;
    if (additionalProperties === false) {
      const text = (): string => `${path}.${key} in body is a forbidden property`;
      problems.push({ name: path, text, toError: (name) => invalidValue(name, key, text()) });
    } else if (typeof additionalProperties === "object") {
      const child = childOf(correlated, key);
      matches += visit(additionalProperties, value[key]!, `${path}.${key}`, problems, child);
    }
  }
  for (const key of inSchemaOrder(properties, keys)) {
    const property = properties[key]!;
    const isIdentity = path === "" && (key === "kind" || key === "apiVersion");
    const name = path === "" ? key : `${path}.${key}`;
    matches += visit(property, value[key]!, name, problems, isIdentity ? undefined : childOf(correlated, key));
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(value, key)) continue;
    const name = `${path}.${key}`;
    problems.push({ name, text: () => `${name} in body is required`, toError: (shown) => required(shown) });
  }
  return matches;
}

type Properties = NonNullable<Schema["properties"]>;

const propertyOrder = perObject(
  (properties: Properties): ReadonlyMap<string, number> =>
    new Map(Object.keys(properties).map((key, index) => [key, index])),
);

/** The keys that are properties, in schema order. Sorts only these: the schema may have thousands of properties. */
function inSchemaOrder(properties: Properties, keys: readonly string[]): readonly string[] {
  const known = keys.filter((key) => Object.hasOwn(properties, key));
  if (known.length < 2) return known;
  const order = propertyOrder(properties);
  return known.sort((a, b) => order.get(a)! - order.get(b)!);
}

function checkCombinations(
  schema: Schema,
  value: Json,
  path: string,
  problems: Problem[],
  correlated: Correlated | undefined,
): number {
  let matches = 0;
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf !== undefined && anyOf.length > 0) {
    const results = [];
    for (const alternative of anyOf) {
      const result = attempt(alternative, value, path, correlated);
      results.push(result);
      if (result.problems.length === 0) break;
    }
    const success = results.find((result) => result.problems.length === 0);
    const best = success ?? bestOf(results);
    if (success === undefined)
      problems.push(general(() => `${goQuote(path)} must validate at least one schema (anyOf)`));
    problems.push(...best.problems);
    matches += best.matches;
  }
  if (oneOf !== undefined && oneOf.length > 0) {
    const results = oneOf.map((alternative) => attempt(alternative, value, path, correlated));
    const valid = results.filter((result) => result.problems.length === 0);
    if (valid.length === 1) {
      matches += valid[0]!.matches;
    } else {
      const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
      problems.push(general(() => `${goQuote(path)} must validate one and only one schema (oneOf). ${found}`));
      if (valid.length === 0) {
        const best = bestOf(results);
        problems.push(...best.problems);
        matches += best.matches;
      }
    }
  }
  if (allOf !== undefined && allOf.length > 0) {
    let validated = 0;
    for (const part of allOf) {
      const result = attempt(part, value, path, correlated);
      if (result.problems.length === 0) validated++;
      problems.push(...result.problems);
      matches += result.matches;
    }
    if (validated < allOf.length) {
      const none = validated === 0 ? ". None validated" : "";
      problems.push(general(() => `${goQuote(path)} must validate all the schemas (allOf)${none}`));
    }
  }
  if (not !== undefined && attempt(not, value, path, correlated).problems.length === 0) {
    problems.push(general(() => `${goQuote(path)} must not validate the schema (not)`));
  }
  return matches;
}

interface Attempt {
  readonly problems: readonly Problem[];
  readonly matches: number;
}

function attempt(schema: Schema, value: Json, path: string, correlated: Correlated | undefined): Attempt {
  const problems: Problem[] = [];
  const matches = visitNode(schema, value, path, problems, correlated);
  return { problems, matches };
}

function bestOf(results: readonly Attempt[]): Attempt {
  return results.reduce((best, result) => (result.matches > best.matches ? result : best));
}

function invalid(path: string, value: Json, rule: string): Problem {
  const text = (): string => `${path} in body ${rule}`;
  return { name: path, text, toError: (name) => invalidValue(name, value, text()) };
}

function badFactor(path: string, factor: number): Problem {
  const text = (): string => `factor MultipleOf declared for ${path} must be positive: ${factor}`;
  return { name: path, text, toError: (name) => invalidValue(name, factor, text()) };
}

/** A finding that kube-apiserver reports without a field. */
function general(text: () => string): Problem {
  return { name: undefined, text, toError: (name) => invalidValue(name, "", text()) };
}
