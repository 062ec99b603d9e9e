import { Bytes, Uint } from "../values/value.js";
import type { Expression, ListItem, MapEntry, StructField } from "./expression.js";
import { IssueError, NOWHERE } from "./issue.js";
import { SyntaxProblem, type Token, tokens } from "./lexer.js";
import { expandFunction, expandMethod } from "./macro.js";

const MAX_DEPTH = 250;
const MAX_CHARACTERS = 100_000;
const RELATIONS: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">=", "in"]);
const RESERVED: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
const START_OF_EXPRESSION =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Parses an expression and expands its macros. Throws an `IssueError` for invalid CEL. */
export function parse(text: string): Expression {
  try {
    const { length } = [...text];
    if (length > MAX_CHARACTERS) {
      const limits = `size: ${length}, limit ${MAX_CHARACTERS}`;
      throw new SyntaxProblem(`expression code point size exceeds limit: ${limits}`, NOWHERE);
    }
    return new Parser(tokens(text)).whole();
  } catch (error) {
    if (error instanceof SyntaxProblem) throw new IssueError(text, [error.issue]);
    throw error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(all: readonly Token[]) {
    this.#tokens = all;
  }

  whole(): Expression {
    const expression = this.#expression();
    const token = this.#peek();
    if (token.type !== "end")
      throw new SyntaxProblem(`Syntax error: extraneous input '${token.text}' expecting <EOF>`, token.at);
    return expression;
  }

  #expression(): Expression {
    return this.#nested(() => {
      const condition = this.#or();
      const { at } = this.#peek();
      if (!this.#take("?")) return condition;
      const yes = this.#or();
      this.#expect(":");
      return call("_?_:_", [condition, yes, this.#expression()], at);
    });
  }

  #or(): Expression {
    return this.#balanced("||", () => this.#and());
  }

  #and(): Expression {
    return this.#balanced("&&", () => this.#relation());
  }

  /** Turns a long chain into a shallow tree. */
  #balanced(sign: string, operand: () => Expression): Expression {
    const terms = [operand()];
    const places: number[] = [];
    for (let { at } = this.#peek(); this.#take(sign); { at } = this.#peek()) {
      places.push(at);
      terms.push(operand());
    }
    const tree = (low: number, high: number): Expression => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? terms[middle]! : tree(low, middle - 1);
      const right = middle === high ? terms[middle + 1]! : tree(middle + 1, high);
      return call(`_${sign}_`, [left, right], places[middle]!);
    };
    return places.length === 0 ? terms[0]! : tree(0, places.length - 1);
  }

  #relation(): Expression {
    let left = this.#sum();
    for (let token = this.#peek(); isRelation(token); token = this.#peek()) {
      this.#next++;
      left = call(token.text === "in" ? "@in" : `_${token.text}_`, [left, this.#sum()], token.at);
    }
    return left;
  }

  #sum(): Expression {
    return this.#leftToRight(["+", "-"], () => this.#product());
  }

  #product(): Expression {
    return this.#leftToRight(["*", "/", "%"], () => this.#unary());
  }

  #leftToRight(signs: readonly string[], operand: () => Expression): Expression {
    let left = operand();
    for (let token = this.#peek(); token.type === "sign" && signs.includes(token.text); token = this.#peek()) {
      this.#next++;
      left = call(`_${token.text}_`, [left, operand()], token.at);
    }
    return left;
  }

  #unary(): Expression {
    const token = this.#peek();
    if (token.type !== "sign" || (token.text !== "!" && token.text !== "-")) return this.#member();
    let count = 0;
    while (this.#take(token.text)) count++;
    const following = this.#peek();
    if (token.text === "-" && count === 1 && (following.type === "int" || following.type === "double")) {
      this.#next++;
      return this.#members(number(following, token.at, true));
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(token.text === "!" ? "!_" : "-_", [operand], token.at);
  }

  #member(): Expression {
    return this.#members(this.#primary());
  }

  #members(start: Expression): Expression {
    let operand = start;
    for (let depth = 0; ; depth++) {
      if (depth > MAX_DEPTH) throw tooDeep();
      const { at } = this.#peek();
      if (this.#take(".")) operand = this.#afterDot(operand, at);
      else if (this.#take("[")) {
        const isOptional = this.#take("?");
        const index = this.#expression();
        this.#expect("]");
        operand = call(isOptional ? "_[?_]" : "_[_]", [operand, index], at);
      } else return operand;
    }
  }

  #afterDot(operand: Expression, at: number): Expression {
    if (this.#take("?")) {
      const token = this.#peek();
      const field: Expression = { kind: "literal", at: token.at, value: this.#name() };
      return call("_?._", [operand, field], at);
    }
    const name = this.#name();
    const open = this.#peek();
    if (open.text !== "(" || open.type !== "sign") return { kind: "select", at, operand, field: name, isTest: false };
    this.#next++;
    const args = this.#arguments();
    return expandMethod(name, operand, args, open.at) ?? { kind: "call", at: open.at, name, target: operand, args };
  }

  #primary(): Expression {
    const token = this.#peek();
    this.#next++;
    switch (token.type) {
      case "int":
      case "uint":
      case "double":
        return number(token, token.at, false);
      case "string":
        return { kind: "literal", value: token.value, at: token.at };
      case "bytes":
        return { kind: "literal", value: new Bytes(token.value), at: token.at };
      case "identifier":
        return this.#identifier(token.text, token.at, token.at);
      case "sign":
        return this.#bracketed(token.text, token.at);
    }
    throw mismatched(token, START_OF_EXPRESSION);
  }

  #bracketed(sign: string, at: number): Expression {
    switch (sign) {
      case "(": {
        const inner = this.#expression();
        this.#expect(")");
        return inner;
      }
      case "[":
        return { kind: "list", at, items: this.#items() };
      case "{":
        return { kind: "map", at, entries: this.#entries() };
      case ".": {
        const token = this.#peek();
        return this.#identifier(this.#name(), token.at, at);
      }
    }
    throw mismatched(this.#tokens[this.#next - 1]!, START_OF_EXPRESSION);
  }

  #identifier(name: string, at: number, from: number): Expression {
    const literal = LITERALS.get(name);
    if (literal !== undefined) return { kind: "literal", value: literal, at };
    if (name === "in") throw mismatched(this.#tokens[this.#next - 1]!, START_OF_EXPRESSION);
    const message = this.#messageName(name);
    if (message !== undefined) {
      const open = this.#peek();
      this.#next++;
      return { kind: "struct", at: open.at, name: message, fields: this.#fields() };
    }
    if (RESERVED.has(name)) throw new SyntaxProblem(`reserved identifier: ${name}`, from);
    const open = this.#peek();
    if (!this.#take("(")) return { kind: "identifier", name, at };
    const args = this.#arguments();
    return expandFunction(name, args, open.at) ?? call(name, args, open.at);
  }

  /** `a.b.C` if a brace follows, which is left for the caller; otherwise undefined. */
  #messageName(first: string): string | undefined {
    let end = this.#next;
    const names = [first];
    while (this.#tokens[end]?.text === "." && this.#tokens[end + 1]?.type === "identifier") {
      names.push(this.#tokens[end + 1]!.text);
      end += 2;
    }
    const open = this.#tokens[end];
    if (open?.type !== "sign" || open.text !== "{") return undefined;
    this.#next = end;
    return names.join(".");
  }

  #items(): ListItem[] {
    return this.#separated("]", () => {
      const isOptional = this.#take("?");
      return { value: this.#expression(), isOptional };
    });
  }

  #entries(): MapEntry[] {
    return this.#separated("}", () => {
      const isOptional = this.#take("?");
      const key = this.#expression();
      this.#expect(":");
      return { key, value: this.#expression(), isOptional };
    });
  }

  #fields(): StructField[] {
    return this.#separated("}", () => {
      const isOptional = this.#take("?");
      const name = this.#name();
      const { at } = this.#peek();
      this.#expect(":");
      return { name, at, value: this.#expression(), isOptional };
    });
  }

  #separated<Item>(end: string, item: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.#take(end)) {
      items.push(item());
      if (!this.#take(",")) {
        this.#expect(end, ",");
        break;
      }
    }
    return items;
  }

  #arguments(): Expression[] {
    const items: Expression[] = [];
    if (this.#take(")")) return items;
    const token = this.#peek();
    if (token.type === "end") throw mismatched(token, START_OF_EXPRESSION.replace("'(', ", "'(', ')', "));
    do items.push(this.#expression());
    while (this.#take(","));
    this.#expect(")");
    return items;
  }

  #name(): string {
    const token = this.#peek();
    if (token.type === "quoted-identifier") throw new SyntaxProblem("unsupported syntax: '`'", token.at);
    if (token.type !== "identifier" || LITERALS.has(token.text) || token.text === "in") {
      const isKeyword = token.type === "identifier";
      if (isKeyword) throw mismatched(token, "IDENTIFIER");
      const shown = token.type === "end" ? "" : token.text;
      throw new SyntaxProblem(`Syntax error: no viable alternative at input '.${shown}'`, token.at);
    }
    this.#next++;
    return token.text;
  }

  #nested<Result>(work: () => Result): Result {
    if (++this.#depth > MAX_DEPTH) throw tooDeep();
    const result = work();
    this.#depth--;
    return result;
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #take(sign: string): boolean {
    const token = this.#peek();
    if (token.type !== "sign" || token.text !== sign) return false;
    this.#next++;
    return true;
  }

  /** Reports an extraneous or a missing token, as kube-apiserver does. */
  #expect(sign: string, ...others: string[]): void {
    const token = this.#peek();
    if (this.#take(sign)) return;
    const following = this.#tokens[this.#next + 1];
    if (others.length > 0) throw mismatched(token, `{${[sign, ...others].map((each) => `'${each}'`).join(", ")}}`);
    if (following?.type === "sign" && following.text === sign) {
      throw new SyntaxProblem(`Syntax error: extraneous input '${token.text}' expecting '${sign}'`, token.at);
    }
    throw new SyntaxProblem(`Syntax error: missing '${sign}' at '${token.text}'`, token.at);
  }
}

const LITERALS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const MIN_INT = -(2n ** 63n);

function isRelation({ type, text }: Token): boolean {
  return (type === "sign" || type === "identifier") && RELATIONS.has(text);
}

function number({ type, text }: Token, at: number, isNegative: boolean): Expression {
  if (type === "double") {
    const value = Number(text);
    if (!Number.isFinite(value)) throw new SyntaxProblem("invalid double literal", at);
    return { kind: "literal", at, value: isNegative ? -value : value };
  }
  const magnitude = BigInt(type === "uint" ? text.slice(0, -1) : text);
  if (type === "uint") {
    if (magnitude >= 2n ** 64n) throw new SyntaxProblem("invalid uint literal", at);
    return { kind: "literal", at, value: new Uint(magnitude) };
  }
  const value = isNegative ? -magnitude : magnitude;
  if (value < MIN_INT || value >= -MIN_INT) throw new SyntaxProblem("invalid int literal", at);
  return { kind: "literal", at, value };
}

function call(name: string, args: readonly Expression[], at: number): Expression {
  return { kind: "call", at, name, target: undefined, args };
}

function tooDeep(): SyntaxProblem {
  return new SyntaxProblem(`expression recursion limit exceeded: ${MAX_DEPTH}`, NOWHERE);
}

function mismatched(token: Token, expected: string): SyntaxProblem {
  return new SyntaxProblem(`Syntax error: mismatched input '${token.text}' expecting ${expected}`, token.at);
}
