import { keyProblems, type LabelRequirement, valueProblems } from "./label-requirement.js";
import { type InvalidPart, SelectorError } from "./selector-error.js";

type Token = { readonly type: "identifier" | "symbol" | "end"; readonly text: string };

const TOKENS = /(!=|==|[=!(),<>])|([^=!(),<> \t\r\n]+)/g;
const BINARY_OPERATORS = "in, notin, =, ==, !=, gt, lt";
/** Errors name so many values; a request may hold a hundred thousand that are wrong. */
const MOST_PROBLEMS = 1001;

/** A reader of the text form, as kubectl takes it with `-l`. Reads and refuses what apimachinery does, in its words. */
export class LabelSelectorText {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    const tokens = Array.from(text.matchAll(TOKENS), ([token, symbol]): Token => {
      return { type: symbol === undefined ? "identifier" : "symbol", text: token };
    });
    this.#tokens = [...tokens, { type: "end", text: "" }];
  }

  terms(): LabelRequirement[] {
    const terms: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.type === "end") return terms;
      if (token.type !== "identifier" && token.text !== "!") {
        throw this.#invalid(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      terms.push(this.#term());
      const next = this.#next();
      if (next.type === "end") return terms;
      if (next.text !== ",") throw this.#invalid(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.#peek();
      if (after.type !== "identifier" && after.text !== "!") {
        throw this.#invalid(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  #term(): LabelRequirement {
    let token = this.#next();
    const isNegated = token.text === "!";
    if (isNegated) token = this.#next();
    if (token.type !== "identifier") throw this.#unparsable(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const problems = keyProblems(key);
    if (problems.length > 0) throw this.#unparsable(undefined, problems);
    if (isNegated) return { key, operator: "DoesNotExist", values: [] };
    const following = this.#peek();
    if (following.type === "end" || following.text === ",") return { key, operator: "Exists", values: [] };
    const term = this.#comparison(key);
    const wrong: InvalidPart[] = [];
    for (const problem of valueProblems(term)) if (wrong.push(problem) === MOST_PROBLEMS) break;
    if (wrong.length > 0) throw this.#unparsable(undefined, wrong);
    return term;
  }

  #comparison(key: string): LabelRequirement {
    const operator = this.#next().text;
    switch (operator) {
      case "in":
        return { key, operator: "In", values: this.#list() };
      case "notin":
        return { key, operator: "NotIn", values: this.#list() };
      case "=":
      case "==":
        return { key, operator: "In", values: [this.#value()] };
      case "!=":
        return { key, operator: "NotIn", values: [this.#value()] };
      case ">":
        return { key, operator: "Gt", values: [this.#value()] };
      case "<":
        return { key, operator: "Lt", values: [this.#value()] };
      default:
        throw this.#unparsable(`found '${operator}', expected: ${BINARY_OPERATORS}`);
    }
  }

  /** An empty value may be left out: `a=`. */
  #value(): string {
    const token = this.#peek();
    if (token.type === "end" || token.text === ",") return "";
    this.#position++;
    if (token.type !== "identifier") throw this.#unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  /** `(a, b)`; a place with nothing in it stands for the empty value. */
  #list(): readonly string[] {
    const open = this.#next();
    if (open.text !== "(") throw this.#unparsable(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.text === ")") {
      this.#position++;
      return [""];
    }
    if (first.type !== "identifier" && first.text !== ",") {
      throw this.#unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      const following = this.#peek();
      if (token.type === "identifier") {
        values.add(token.text);
        if (following.text === ")") break;
        if (following.text !== ",") throw this.#unparsable(`found '${following.text}', expected: ',' or ')'`);
      } else if (token.text === ",") {
        if (values.size === 0 || following.text === ")" || following.text === ",") values.add("");
        if (following.text === ")") break;
      } else throw this.#unparsable(`found '${token.text}', expected: ',', or identifier`);
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

  #invalid(why: string, parts: readonly InvalidPart[] = []): SelectorError {
    return new SelectorError("label", this.#text, why, parts);
  }

  #unparsable(why: string | undefined, parts?: readonly InvalidPart[]): SelectorError {
    return this.#invalid(
      why === undefined ? "unable to parse requirement" : `unable to parse requirement: ${why}`,
      parts,
    );
  }
}
