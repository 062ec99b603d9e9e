import { createHash } from "node:crypto";
import { PipelinesError } from "../errors.js";
import { dateFunctions, listFunctions, mapFunctions } from "./collection-functions.js";
import { formatted } from "./format.js";
import { compared, isEqual, isTrue, numberOf, printed, type TemplateFunction, textOf, UNKNOWN } from "./value.js";

export type TemplateFunctions = ReadonlyMap<string, TemplateFunction>;

/**
 * The functions of Go's templates and the useful ones of Sprig, except those that read the machine or make random
 * values. A function with an unknown argument returns an unknown value.
 */
export function standardFunctions(now?: Date): TemplateFunctions {
  const all = {
    ...comparisons,
    ...textFunctions,
    ...numberFunctions,
    ...choiceFunctions,
    ...listFunctions,
    ...mapFunctions,
    ...dateFunctions(now),
  };
  return new Map(Object.entries(all).map(([name, call]) => [name, unlessUnknown(call)]));
}

function unlessUnknown(call: TemplateFunction): TemplateFunction {
  return (values) => (values.includes(UNKNOWN) ? UNKNOWN : call(values));
}

const comparisons: Readonly<Record<string, TemplateFunction>> = {
  eq: ([first, ...rest]) => rest.some((value) => isEqual(first, value)),
  ne: ([left, right]) => !isEqual(left, right),
  lt: ([left, right]) => compared(left, right) < 0,
  le: ([left, right]) => compared(left, right) <= 0,
  gt: ([left, right]) => compared(left, right) > 0,
  ge: ([left, right]) => compared(left, right) >= 0,
  not: ([value]) => !isTrue(value),
};

/** Makes a function of texts callable from templates. */
const onText = (call: (...texts: string[]) => unknown): TemplateFunction => {
  return (values) => {
    if (values.length < call.length)
      throw new PipelinesError("PIPELINES_FILE_INVALID", `needs ${call.length} arguments, but has ${values.length}`);
    return call(...values.map(textOf));
  };
};

const words = (text: string) => text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const indented = (width: string, text: string) => text.replace(/^/gm, " ".repeat(Number(width)));
const withGroups = (replacement: string) =>
  replacement.replace(/\$\{(\d+)\}/g, (_match, group: string) => (group === "0" ? "$&" : `$${group}`));
const digest = (algorithm: string) => onText((text) => createHash(algorithm).update(text).digest("hex"));

const textFunctions: Readonly<Record<string, TemplateFunction>> = {
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  title: onText((text) => text.replace(/\b\p{L}/gu, (letter) => letter.toUpperCase())),
  untitle: onText((text) => text.replace(/\b\p{L}/gu, (letter) => letter.toLowerCase())),
  trim: onText((text) => text.trim()),
  trimAll: onText((set, text) => trimmed(set, text)),
  trimPrefix: onText((prefix, text) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  trimSuffix: onText((suffix, text) => (suffix && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text)),
  nospace: onText((text) => text.replace(/\s/g, "")),
  replace: onText((from, to, text) => text.replaceAll(from, to)),
  contains: onText((part, text) => text.includes(part)),
  hasPrefix: onText((prefix, text) => text.startsWith(prefix)),
  hasSuffix: onText((suffix, text) => text.endsWith(suffix)),
  repeat: onText((count, text) => text.repeat(Math.min(Number(count), 100_000))),
  substr: onText((from, to, text) => text.slice(Number(from), Number(to) < 0 ? undefined : Number(to))),
  trunc: onText((length, text) => (Number(length) < 0 ? text.slice(Number(length)) : text.slice(0, Number(length)))),
  quote: (values) =>
    values
      .filter((value) => value !== undefined)
      .map((value) => JSON.stringify(textOf(value)))
      .join(" "),
  squote: (values) =>
    values
      .filter((value) => value !== undefined)
      .map((value) => `'${textOf(value)}'`)
      .join(" "),
  cat: (values) => values.map(textOf).join(" "),
  indent: onText((width, text) => indented(width, text)),
  nindent: onText((width, text) => `\n${indented(width, text)}`),
  snakecase: onText((text) => words(text).join("_").toLowerCase()),
  kebabcase: onText((text) => words(text).join("-").toLowerCase()),
  camelcase: onText((text) =>
    words(text)
      .map((word) => capital(word.toLowerCase()))
      .join(""),
  ),
  toString: (values: readonly unknown[]) => textOf(values[0]),
  print: (values) => values.map(printed).join(""),
  println: (values) => `${values.map(printed).join(" ")}\n`,
  printf: ([format, ...values]) => formatted(textOf(format), values),
  regexMatch: onText((pattern, text) => new RegExp(pattern).test(text)),
  regexFind: onText((pattern, text) => new RegExp(pattern).exec(text)?.[0] ?? ""),
  regexReplaceAll: onText((pattern, text, by) => text.replace(new RegExp(pattern, "g"), withGroups(by))),
  regexReplaceAllLiteral: onText((pattern, text, by) => text.replace(new RegExp(pattern, "g"), () => by)),
  b64enc: onText((text) => Buffer.from(text).toString("base64")),
  b64dec: onText((text) => Buffer.from(text, "base64").toString()),
  urlquery: onText((text) => encodeURIComponent(text)),
  sha256sum: digest("sha256"),
  sha1sum: digest("sha1"),
  md5sum: digest("md5"),
  as_sql_list: ([value]) =>
    `(${(Array.isArray(value) ? value : value == null ? [] : [value]).map(sqlValue).join(", ")})`,
};

function trimmed(set: string, text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && set.includes(text[start]!)) start++;
  while (end > start && set.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** A value as a literal of SQL. */
function sqlValue(value: unknown): string {
  if (value === undefined || value === null) return "NULL";
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  return `'${printed(value).replaceAll("'", "''")}'`;
}

const onNumbers = (call: (...numbers: number[]) => number): TemplateFunction => {
  return (values) => call(...values.map(numberOf));
};

function quotient(left: number, right: number): number {
  if (right === 0) throw new PipelinesError("PIPELINES_FILE_INVALID", "division by zero");
  return Math.trunc(left / right);
}

const numberFunctions: Readonly<Record<string, TemplateFunction>> = {
  add: onNumbers((...numbers) => numbers.reduce((sum, number) => sum + number, 0)),
  add1: onNumbers((number) => number + 1),
  sub: onNumbers((left, right) => left - right),
  mul: onNumbers((...numbers) => numbers.reduce((product, number) => product * number, 1)),
  div: onNumbers(quotient),
  mod: onNumbers((left, right) => left - quotient(left, right) * right),
  max: onNumbers((...numbers) => Math.max(...numbers)),
  min: onNumbers((...numbers) => Math.min(...numbers)),
  floor: onNumbers(Math.floor),
  ceil: onNumbers(Math.ceil),
  round: onNumbers((number, digits = 0) => Math.round(number * 10 ** digits) / 10 ** digits),
  int: onNumbers(Math.trunc),
  int64: onNumbers(Math.trunc),
  float64: onNumbers((number) => number),
  atoi: onNumbers(Math.trunc),
};

const choiceFunctions: Readonly<Record<string, TemplateFunction>> = {
  default: ([otherwise, value]) => (isTrue(value) ? value : otherwise),
  empty: ([value]) => !isTrue(value),
  coalesce: (values) => values.find(isTrue),
  all: (values) => values.every(isTrue),
  any: (values) => values.some(isTrue),
  ternary: ([yes, no, condition]) => (isTrue(condition) ? yes : no),
  kindOf: ([value]) => (Array.isArray(value) ? "slice" : typeof value === "object" ? "map" : typeof value),
  fail: ([message]) => {
    throw new PipelinesError("PIPELINES_FILE_INVALID", textOf(message));
  },
  required: ([message, value]) => {
    if (value === undefined || value === null || value === "")
      throw new PipelinesError("PIPELINES_FILE_INVALID", textOf(message));
    return value;
  },
};
