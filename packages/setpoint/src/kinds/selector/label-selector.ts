import { SetpointError } from "../../errors/error.js";
import { ownField } from "../own-field.js";
import { labelKeyProblem, labelValueProblem } from "./label.js";

/** A selector as objects hold it. The empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** One term of a parsed selector; all terms must hold. `a=b` is `In` with one value, `a!=b` is `NotIn`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelSelectorRequirement["operator"] | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** The text that requests take, the form that objects hold, or parsed terms. */
export type LabelSelectorLike = string | LabelSelector | readonly LabelRequirement[];

type Labels = Readonly<Record<string, string>>;

/**
 * The terms of a selector, checked and in order of their keys. Throws `LABEL_SELECTOR_INVALID`, which names the term.
 *
 * ```ts
 * parseLabelSelector("app in (web, api), !canary");
 * parseLabelSelector({ matchLabels: { app: "web" } });
 * ```
 */
export function parseLabelSelector(selector: LabelSelectorLike): readonly LabelRequirement[] {
  if (isParsed(selector)) return selector;
  const terms = typeof selector === "string" ? new SelectorText(selector).terms() : termsOf(selector);
  const where = typeof selector === "string" ? selector : JSON.stringify(selector);
  for (const term of terms) check(term, where);
  return terms.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

const isParsed = (selector: LabelSelectorLike): selector is readonly LabelRequirement[] => Array.isArray(selector);

function termsOf(selector: LabelSelector): LabelRequirement[] {
  const equalities = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]): LabelRequirement => ({ key, operator: "In", values: [value] }),
  );
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }): LabelRequirement => ({ key, operator, values: values ?? [] }),
  );
  return [...equalities, ...expressions];
}

/** The canonical text: terms by key, values sorted; equal selectors give equal texts. */
export function formatLabelSelector(selector: LabelSelectorLike): string {
  return parseLabelSelector(selector).map(formatTerm).join(",");
}

function formatTerm({ key, operator, values }: LabelRequirement): string {
  const list = [...new Set(values)].sort();
  switch (operator) {
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "Gt":
      return `${key}>${values[0]}`;
    case "Lt":
      return `${key}<${values[0]}`;
    case "In":
      return list.length === 1 ? `${key}=${list[0]}` : `${key} in (${list.join(",")})`;
    case "NotIn":
      return list.length === 1 ? `${key}!=${list[0]}` : `${key} notin (${list.join(",")})`;
  }
}

/** Whether all terms hold for these labels. An absent label satisfies `NotIn` and `DoesNotExist` alone. */
export function matchesLabels(selector: LabelSelectorLike, labels: Labels | undefined): boolean {
  return parseLabelSelector(selector).every((term) => holdsLabel(term, ownField(labels, term.key)));
}

/** Whether one term holds for the value of its label, undefined where that is absent. */
export function holdsLabel({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Gt":
      return compareIntegers(value, values[0]) > 0;
    case "Lt":
      return compareIntegers(value, values[0]) < 0;
  }
}

const INTEGER = /^[+-]?\d+$/;

/** NaN, which compares false both ways, where the label is absent or no integer. */
function compareIntegers(value: string | undefined, bound: string | undefined): number {
  if (value === undefined || bound === undefined || !INTEGER.test(value)) return Number.NaN;
  const difference = BigInt(value.replace(/^\+/, "")) - BigInt(bound.replace(/^\+/, ""));
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

function check({ key, operator, values }: LabelRequirement, where: string): void {
  const keyProblem = labelKeyProblem(key);
  if (keyProblem) throw invalid(where, `the key "${key}" ${keyProblem}`);
  const count = values.length;
  if ((operator === "In" || operator === "NotIn") && count === 0)
    throw invalid(where, `${key}: ${operator} needs a value`);
  if ((operator === "Exists" || operator === "DoesNotExist") && count > 0) {
    throw invalid(where, `${key}: ${operator} takes no values`);
  }
  if ((operator === "Gt" || operator === "Lt") && !(count === 1 && INTEGER.test(values[0]!))) {
    throw invalid(where, `${key}: ${operator} takes one integer`);
  }
  if (!/^(In|NotIn|Exists|DoesNotExist|Gt|Lt)$/.test(operator))
    throw invalid(where, `${key}: no operator "${operator}"`);
  for (const value of values) {
    const problem = labelValueProblem(value);
    if (problem) throw invalid(where, `${key}: the value "${value}" ${problem}`);
  }
}

function invalid(where: string, why: string): SetpointError {
  return new SetpointError("LABEL_SELECTOR_INVALID", `label selector ${JSON.stringify(where)}: ${why}`);
}

const TOKEN = /\s*(!=|==|[=<>!(),]|[^=<>!(),\s]+)/y;

/** A reader of the text form, as kubectl takes it with `-l`. */
class SelectorText {
  readonly #text: string;
  readonly #tokens: string[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = [...text.matchAll(new RegExp(TOKEN.source, "g"))].map((match) => match[1]!);
  }

  terms(): LabelRequirement[] {
    const terms: LabelRequirement[] = [];
    while (this.#peek() !== undefined) {
      terms.push(this.#term());
      const separator = this.#take();
      if (separator === undefined) break;
      if (separator !== ",") throw invalid(this.#text, `"${separator}" where a comma or the end should be`);
      if (this.#peek() === undefined) throw invalid(this.#text, "it ends with a comma");
    }
    return terms;
  }

  #term(): LabelRequirement {
    const isNegated = this.#peek() === "!";
    if (isNegated) this.#take();
    const key = this.#word("a key");
    const next = this.#peek();
    if (isNegated) return { key, operator: "DoesNotExist", values: [] };
    if (next === undefined || next === ",") return { key, operator: "Exists", values: [] };
    switch (this.#take()) {
      case "=":
      case "==":
        return { key, operator: "In", values: [this.#value()] };
      case "!=":
        return { key, operator: "NotIn", values: [this.#value()] };
      case ">":
        return { key, operator: "Gt", values: [this.#value()] };
      case "<":
        return { key, operator: "Lt", values: [this.#value()] };
      case "in":
        return { key, operator: "In", values: this.#list() };
      case "notin":
        return { key, operator: "NotIn", values: this.#list() };
      default:
        throw invalid(this.#text, `"${next}" where one of = == != in notin > < should be`);
    }
  }

  /** An empty value may be left out: `a=`. */
  #value(): string {
    const next = this.#peek();
    return next === undefined || next === "," ? "" : this.#word("a value");
  }

  /** `(a, b)`; a place with nothing in it stands for the empty value. */
  #list(): string[] {
    if (this.#take() !== "(") throw invalid(this.#text, 'a list of values begins with "("');
    const values = new Set<string>();
    for (;;) {
      const isEmpty = this.#peek() === "," || this.#peek() === ")";
      values.add(isEmpty ? "" : this.#word("a value"));
      const separator = this.#take();
      if (separator === ")") return [...values].sort();
      if (separator !== ",") throw invalid(this.#text, 'a list of values ends with ")"');
    }
  }

  #word(what: string): string {
    const token = this.#take();
    if (token === undefined || /^[!=<>(),]/.test(token)) {
      throw invalid(this.#text, `${token === undefined ? "the end" : `"${token}"`} where ${what} should be`);
    }
    return token;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next];
  }

  #take(): string | undefined {
    return this.#tokens[this.#next++];
  }
}
