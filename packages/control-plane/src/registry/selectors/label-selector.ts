import type { LabelRequirement } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { invalidValue } from "../../api/field-error.js";
import { labelValue, qualifiedName } from "../../api/metadata/name-rules.js";
import { aggregate, badRequest, type FieldError } from "../../api/status-error.js";

type Labels = Readonly<Record<string, string>>;

/** Which objects a `labelSelector` wants. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Labels | undefined): boolean;
}

const NO_LABELS: Labels = {};

export const everything: LabelSelector = { requirements: [], matches: () => true };

/**
 * The selector of these requirements. What it costs to match an object grows with the labels of the object, and not with
 * the requirements: a selector may have a hundred thousand, and a list as many objects.
 */
export function labelSelector(requirements: readonly LabelRequirement[]): LabelSelector {
  if (requirements.length === 0) return everything;
  const rules = new Map<string, KeyRule>();
  for (const requirement of requirements) {
    const rule = rules.get(requirement.key);
    if (rule === undefined) rules.set(requirement.key, new KeyRule(requirement));
    else rule.add(requirement);
  }
  let required = 0;
  for (const rule of rules.values()) if (rule.isRequired) required++;
  const matches = (labels: Labels = NO_LABELS): boolean => {
    let met = 0;
    for (const key in labels) {
      const rule = rules.get(key);
      if (rule === undefined) continue;
      if (!rule.allows(labels[key]!)) return false;
      if (rule.isRequired) met++;
    }
    return met === required;
  };
  return { requirements, matches };
}

/** All that a selector says of one key. */
class KeyRule {
  /** Whether the label must be there. */
  isRequired = false;
  #isForbidden = false;
  #allowed: Set<string> | undefined;
  readonly #refused = new Set<string>();
  #above: bigint | undefined;
  #below: bigint | undefined;

  constructor(requirement: LabelRequirement) {
    this.add(requirement);
  }

  add({ operator, values }: LabelRequirement): void {
    if (operator !== "DoesNotExist" && operator !== "NotIn") this.isRequired = true;
    switch (operator) {
      case "In": {
        const before = this.#allowed;
        this.#allowed = new Set(before === undefined ? values : values.filter((value) => before.has(value)));
        break;
      }
      case "NotIn":
        for (const value of values) this.#refused.add(value);
        break;
      case "DoesNotExist":
        this.#isForbidden = true;
        break;
      case "Gt":
        if (this.#above === undefined || BigInt(values[0]!) > this.#above) this.#above = BigInt(values[0]!);
        break;
      case "Lt":
        if (this.#below === undefined || BigInt(values[0]!) < this.#below) this.#below = BigInt(values[0]!);
        break;
    }
  }

  /** Whether a label that is there may have this value. */
  allows(value: string): boolean {
    if (this.#isForbidden || this.#refused.has(value) || this.#allowed?.has(value) === false) return false;
    if (this.#above === undefined && this.#below === undefined) return true;
    if (!/^[+-]?\d+$/.test(value)) return false;
    const number = BigInt(value);
    return (this.#above === undefined || number > this.#above) && (this.#below === undefined || number < this.#below);
  }
}

/** Parses a query parameter; throws the real server's 400. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === "") return everything;
  return labelSelector(new Parser(text).parse());
}

type Token = { readonly type: "identifier" | "symbol" | "error" | "end"; readonly text: string };

const SYMBOLS: ReadonlySet<string> = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);
const BINARY_OPERATORS = "in, notin, =, ==, !=, gt, lt";

function scan(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const character = text[at]!;
    if (/[ \t\r\n]/.test(character)) at++;
    else if (/[=!(),><]/.test(character)) {
      const token = scanSymbol(text, at);
      tokens.push(token);
      at += token.type === "error" ? text.length : token.text.length;
    } else {
      const end = text.slice(at).search(/[=!(),>< \t\r\n]/);
      const word = end < 0 ? text.slice(at) : text.slice(at, at + end);
      tokens.push({ type: "identifier", text: word });
      at += word.length;
    }
  }
  tokens.push({ type: "end", text: "" });
  return tokens;
}

/** The longest operator that starts here. */
function scanSymbol(text: string, at: number): Token {
  const two = text.slice(at, at + 2);
  return { type: "symbol", text: SYMBOLS.has(two) ? two : text[at]! };
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  parse(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.type === "end") return requirements;
      if (token.type !== "identifier" && token.text !== "!") {
        throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#requirement());
      const next = this.#next();
      if (next.type === "end") return requirements;
      if (next.text !== ",") throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.#peek();
      if (after.type !== "identifier" && after.text !== "!") {
        throw badRequest(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    let token = this.#next();
    const isNegated = token.text === "!" && token.type === "symbol";
    if (isNegated) token = this.#next();
    if (token.type !== "identifier") throw unparsable(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const keyComplaints = qualifiedName(key);
    if (keyComplaints.length > 0) {
      throw unparsable(aggregate([invalidKey(key, keyComplaints)]));
    }
    const following = this.#peek();
    const isLast = following.type === "end" || following.text === ",";
    if (isNegated) return { key, operator: "DoesNotExist", values: [] };
    if (isLast) return { key, operator: "Exists", values: [] };
    return this.#comparison(key);
  }

  #comparison(key: string): LabelRequirement {
    const operator = this.#next().text;
    switch (operator) {
      case "in":
      case "notin":
        return checked({ key, operator: operator === "in" ? "In" : "NotIn", values: this.#values() });
      case "=":
      case "==":
        return checked({ key, operator: "In", values: [this.#exactValue()] });
      case "!=":
        return checked({ key, operator: "NotIn", values: [this.#exactValue()] });
      case ">":
      case "<":
        return checked({ key, operator: operator === ">" ? "Gt" : "Lt", values: [this.#exactValue()] });
      default:
        throw unparsable(`found '${operator}', expected: ${BINARY_OPERATORS}`);
    }
  }

  #exactValue(): string {
    const token = this.#peek();
    if (token.type === "end" || token.text === ",") return "";
    this.#position++;
    if (token.type !== "identifier") throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #values(): readonly string[] {
    const open = this.#next();
    if (open.text !== "(") throw unparsable(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.text === ")") {
      this.#position++;
      return [""];
    }
    if (first.type !== "identifier" && first.text !== ",") {
      throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      const following = this.#peek();
      if (token.type === "identifier") {
        values.add(token.text);
        if (following.text === ")") break;
        if (following.text !== ",") throw unparsable(`found '${following.text}', expected: ',' or ')'`);
      } else if (token.text === ",") {
        if (values.size === 0 || following.text === ")" || following.text === ",") values.add("");
        if (following.text === ")") break;
      } else throw unparsable(`found '${token.text}', expected: ',', or identifier`);
    }
    this.#position++;
    return [...values].sort();
  }

  #peek(): Token {
    return this.#tokens[this.#position]!;
  }

  #next(): Token {
    const token = this.#peek();
    if (token.type !== "end") this.#position++;
    return token;
  }
}

function unparsable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

function invalidKey(key: string, complaints: readonly string[]): FieldError {
  return { ...invalidValue("<nil>", key, complaints.join("; ")) };
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const errors: FieldError[] = fieldErrors();
  values.forEach((value, index) => {
    if ((operator === "Gt" || operator === "Lt") && !/^[+-]?\d+$/.test(value)) {
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
      errors.push(invalidValue(`values[${index}]`, value, detail));
    }
    const complaints = labelValue(value);
    if (complaints.length > 0) errors.push(invalidValue(`values[${index}][${key}]`, value, complaints.join("; ")));
  });
  if (errors.length > 0) throw unparsable(aggregate(errors));
  return requirement;
}
