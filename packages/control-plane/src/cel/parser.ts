import type { Comprehension, Entry, Expression } from "./expression.js";
import { SyntaxProblem, type Token, tokens } from "./lexer.js";
import { Bytes, type CelValue, Uint } from "./value.js";

const MAX_DEPTH = 250;
const MACROS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);
const RELATIONS: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">=", "in"]);
const RESERVED: ReadonlySet<string> = new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
]);

/** Parses an expression, macros expanded. Throws `SyntaxProblem` on what is no CEL. */
export function parse(text: string): Expression {
  const parser = new Parser(tokens(text));
  return parser.whole();
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
    if (token.type !== "end") throw unexpected(token);
    return expression;
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) {
      throw new SyntaxProblem(`expression recursion limit exceeded: ${MAX_DEPTH}`, this.#peek().at);
    }
    const condition = this.#or();
    let result = condition;
    if (this.#take("?")) {
      const yes = this.#or();
      this.#expect(":");
      const no = this.#expression();
      result = call("?:", [condition, yes, no], condition.at);
    }
    this.#depth--;
    return result;
  }

  #or(): Expression {
    return this.#leftToRight(["||"], () => this.#and());
  }

  #and(): Expression {
    return this.#leftToRight(["&&"], () => this.#relation());
  }

  #relation(): Expression {
    let left = this.#sum();
    for (let token = this.#peek(); "text" in token && RELATIONS.has(token.text); token = this.#peek()) {
      this.#next++;
      left = call(token.text, [left, this.#sum()], token.at);
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
      left = call(token.text, [left, operand()], token.at);
    }
    return left;
  }

  #unary(): Expression {
    const token = this.#peek();
    if (token.type !== "sign" || (token.text !== "!" && token.text !== "-")) return this.#member();
    this.#next++;
    const following = this.#peek();
    if (token.text === "-" && (following.type === "int" || following.type === "double")) {
      this.#next++;
      const value = following.type === "int" ? checkedInt(-following.value, token.at) : -following.value;
      return this.#members({ kind: "literal", value, at: token.at });
    }
    if (++this.#depth > MAX_DEPTH) {
      throw new SyntaxProblem(`expression recursion limit exceeded: ${MAX_DEPTH}`, token.at);
    }
    const operand = this.#unary();
    this.#depth--;
    return call(token.text === "!" ? "!" : "neg", [operand], token.at);
  }

  #member(): Expression {
    return this.#members(this.#primary());
  }

  #members(start: Expression): Expression {
    let operand = start;
    while (true) {
      const token = this.#peek();
      if (this.#take(".")) {
        const isOptional = this.#take("?");
        const name = this.#name();
        if (!isOptional && this.#take("(")) operand = method(operand, name, this.#list(")"), token.at);
        else operand = { kind: "select", operand, field: name, isTest: false, isOptional, at: token.at };
      } else if (this.#take("[")) {
        const isOptional = this.#take("?");
        const index = this.#expression();
        this.#expect("]");
        operand = { kind: "index", operand, index, isOptional, at: token.at };
      } else {
        return operand;
      }
    }
  }

  #primary(): Expression {
    const token = this.#peek();
    this.#next++;
    switch (token.type) {
      case "int":
        return { kind: "literal", value: checkedInt(token.value, token.at), at: token.at };
      case "uint":
        return { kind: "literal", value: new Uint(token.value), at: token.at };
      case "double":
      case "string":
        return { kind: "literal", value: token.value, at: token.at };
      case "bytes":
        return { kind: "literal", value: new Bytes(token.value), at: token.at };
      case "identifier":
        return this.#identifier(token.text, token.at);
      case "sign":
        if (token.text === "(") {
          const inner = this.#expression();
          this.#expect(")");
          return inner;
        }
        if (token.text === "[") return { kind: "list", items: this.#items(), at: token.at };
        if (token.text === "{") return { kind: "map", entries: this.#entries(), at: token.at };
        if (token.text === ".") return this.#identifier(this.#name(), token.at);
    }
    throw unexpected(token);
  }

  #identifier(name: string, at: number): Expression {
    const literal = LITERALS.get(name);
    if (literal !== undefined) return { kind: "literal", value: literal, at };
    if (name === "in" || RESERVED.has(name)) throw new SyntaxProblem(`reserved identifier: ${name}`, at);
    if (!this.#take("(")) return { kind: "identifier", name, at };
    const args = this.#list(")");
    return name === "has" ? presence(args, at) : call(name, args, at);
  }

  #items(): Entry<Expression>[] {
    const items: Entry<Expression>[] = [];
    while (!this.#take("]")) {
      const isOptional = this.#take("?");
      items.push({ item: this.#expression(), isOptional });
      if (!this.#take(",")) {
        this.#expect("]");
        break;
      }
    }
    return items;
  }

  #entries(): Entry<readonly [Expression, Expression]>[] {
    const entries: Entry<readonly [Expression, Expression]>[] = [];
    while (!this.#take("}")) {
      const isOptional = this.#take("?");
      const key = this.#expression();
      this.#expect(":");
      entries.push({ item: [key, this.#expression()], isOptional });
      if (!this.#take(",")) {
        this.#expect("}");
        break;
      }
    }
    return entries;
  }

  #list(end: string): Expression[] {
    const items: Expression[] = [];
    if (this.#take(end)) return items;
    do items.push(this.#expression());
    while (this.#take(","));
    this.#expect(end);
    return items;
  }

  #name(): string {
    const token = this.#peek();
    if (token.type !== "identifier") throw unexpected(token);
    this.#next++;
    return token.text;
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

  #expect(sign: string): void {
    if (!this.#take(sign)) throw unexpected(this.#peek());
  }
}

const LITERALS: ReadonlyMap<string, CelValue> = new Map<string, CelValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function checkedInt(value: bigint, at: number): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new SyntaxProblem("invalid int literal", at);
  return value;
}

function call(name: string, args: readonly Expression[], at: number): Expression {
  return { kind: "call", name, target: undefined, args, at };
}

function presence(args: readonly Expression[], at: number): Expression {
  const [argument] = args;
  if (args.length !== 1 || argument?.kind !== "select") throw new SyntaxProblem("invalid argument to has() macro", at);
  return { ...argument, isTest: true };
}

/** A method, or a macro where its first argument is a variable. */
function method(target: Expression, name: string, args: readonly Expression[], at: number): Expression {
  const [variable, second, third] = args;
  const isMacro = MACROS.has(name) && (args.length === 2 || (name === "map" && args.length === 3));
  if (!isMacro) return { kind: "call", name, target, args, at };
  if (variable?.kind !== "identifier") throw new SyntaxProblem("argument must be a simple name", at);
  return {
    kind: "comprehension",
    macro: name as Comprehension["macro"],
    range: target,
    variable: variable.name,
    condition: name !== "map" ? second : third === undefined ? undefined : second,
    transform: name !== "map" ? undefined : (third ?? second),
    at,
  };
}

function unexpected(token: Token): SyntaxProblem {
  if (token.type === "end") return new SyntaxProblem("mismatched input '<EOF>'", token.at);
  const shown = "text" in token ? token.text : String(token.value);
  return new SyntaxProblem(`mismatched input '${shown}'`, token.at);
}
