import { invalidSpec } from "../errors.js";

/**
 * The subset of Go's text/template that system messages use: fields, variables, `if`, `with`, `range`, `include`,
 * pipelines, comparisons and `printf`. Trims whitespace and prints values like Go. No nested templates.
 */

type Value = string | number | boolean | readonly Value[] | Readonly<{ [field: string]: unknown }> | undefined;
export type TemplateFunctions = Readonly<Record<string, (...args: Value[]) => Value>>;

type Scope = Map<string, Value>;
type Evaluate = (dot: Value, scope: Scope) => Value;
type Render = (dot: Value, scope: Scope) => string;
type Piece = { readonly text: string } | { readonly action: string };
interface Pipeline {
  readonly declares: readonly string[];
  readonly evaluate: Evaluate;
}

const fail = (why: string): Error => invalidSpec(`system message template: ${why}`);

/** Renders a template. Throws `AGENTS_INVALID_SPEC` if it cannot be parsed or executed. */
export function executeTemplate(source: string, data: Value, functions: TemplateFunctions): string {
  const render = new Parser(split(source), { ...BUILT_IN, ...functions }).parse();
  return render(data, new Map([["$", data]]));
}

/** Throws `AGENTS_INVALID_SPEC` if a template cannot be parsed. Does not execute it. */
export function checkTemplate(source: string, functions: readonly string[]): void {
  const known = Object.fromEntries(functions.map((name) => [name, () => ""]));
  new Parser(split(source), { ...BUILT_IN, ...known }).parse();
}

/** Compiles a template into a function that renders it. */
class Parser {
  readonly #pieces: readonly Piece[];
  readonly #functions: TemplateFunctions;
  #at = 0;

  constructor(pieces: readonly Piece[], functions: TemplateFunctions) {
    this.#pieces = pieces;
    this.#functions = functions;
  }

  parse(): Render {
    const { render, end } = this.#list();
    if (end !== undefined) throw fail(`unexpected {{${end}}}`);
    return render;
  }

  /** Parses up to `end` or `else`, and returns that action. */
  #list(): { readonly render: Render; readonly end: string | undefined } {
    const parts: Render[] = [];
    const render: Render = (dot, scope) => parts.map((part) => part(dot, scope)).join("");
    while (this.#at < this.#pieces.length) {
      const piece = this.#pieces[this.#at++]!;
      if ("text" in piece) parts.push(() => piece.text);
      else {
        const [word = ""] = piece.action.split(/\s/, 1);
        if (word === "end" || word === "else") return { render, end: piece.action };
        if (["define", "template", "block", "break", "continue"].includes(word)) throw fail(`{{${word}}} is not known`);
        if (["if", "with", "range"].includes(word)) parts.push(this.#branch(word, piece.action.slice(word.length)));
        else if (word !== "") parts.push(this.#print(piece.action));
      }
    }
    return { render, end: undefined };
  }

  #print(action: string): Render {
    const { declares, evaluate } = this.#pipeline(action);
    return (dot, scope) => {
      const value = evaluate(dot, scope);
      for (const name of declares) scope.set(name, value);
      return declares.length > 0 ? "" : print(value);
    };
  }

  #branch(word: string, condition: string): Render {
    const { declares, evaluate } = this.#pipeline(condition);
    const { render: then, end } = this.#list();
    const otherwise = this.#otherwise(word, end);
    if (word === "range") {
      return (dot, scope) => {
        const items = itemsOf(evaluate(dot, scope));
        if (items.length === 0) return otherwise(dot, new Map(scope));
        const inner = ([key, item]: readonly [Value, Value]): Scope => {
          const values = declares.length === 2 ? [key, item] : [item];
          return new Map([...scope, ...declares.map((name, at) => [name, values[at]] as const)]);
        };
        return items.map((item) => then(item[1], inner(item))).join("");
      };
    }
    return (dot, scope) => {
      const value = evaluate(dot, scope);
      const inner = new Map([...scope, ...declares.map((name) => [name, value] as const)]);
      return isTrue(value) ? then(word === "with" ? value : dot, inner) : otherwise(dot, new Map(scope));
    };
  }

  #otherwise(word: string, end: string | undefined): Render {
    const chained = /^else\s+(if|with)\b(.*)$/s.exec(end ?? "");
    if (chained) return this.#branch(chained[1]!, chained[2]!);
    if (end === "end") return () => "";
    const other = end === "else" ? this.#list() : undefined;
    if (other?.end !== "end") throw fail(`{{${word}}} has no {{end}}`);
    return other.render;
  }

  #pipeline(source: string): Pipeline {
    const tokens: string[] = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < source.trimEnd().length) {
      const match = TOKEN.exec(source);
      if (!match) throw fail(`cannot read {{${source.trim()}}}`);
      tokens.push(match[1]!);
    }
    const assign = tokens.indexOf(":=");
    const declares = assign > 0 ? tokens.splice(0, assign + 1).filter((token) => token.startsWith("$")) : [];
    const evaluate = this.#commands(tokens);
    if (tokens.length > 0) throw fail(`unexpected ${tokens[0]} in {{${source.trim()}}}`);
    return { declares, evaluate };
  }

  /** Parses a pipeline up to a closing parenthesis. */
  #commands(tokens: string[]): Evaluate {
    const commands: { called?: string; readonly operands: Evaluate[] }[] = [{ operands: [] }];
    while (tokens.length > 0 && tokens[0] !== ")") {
      const token = tokens.shift()!;
      const command = commands.at(-1)!;
      if (token === "|") commands.push({ operands: [] });
      else if (token === "(") command.operands.push(this.#parenthesis(tokens));
      else if (/^[a-zA-Z_]/.test(token) && !Object.hasOwn(CONSTANTS, token)) {
        if (!Object.hasOwn(this.#functions, token)) throw fail(`function "${token}" not defined`);
        const isFirst = command.operands.length === 0 && command.called === undefined;
        if (isFirst) command.called = token;
        else command.operands.push(() => this.#functions[token]!());
      } else command.operands.push(operand(token));
    }
    if (commands.some(({ called, operands }) => called === undefined && operands.length === 0)) {
      throw fail("missing value for command");
    }
    return (dot, scope) =>
      commands.reduce<Value>((piped, { called, operands }, at) => {
        const args = [...operands.map((each) => each(dot, scope)), ...(at === 0 ? [] : [piped])];
        if (called !== undefined) return this.#functions[called]!(...args);
        if (args.length > 1) throw fail("only a function takes arguments");
        return args[0];
      }, undefined);
  }

  #parenthesis(tokens: string[]): Evaluate {
    const inner = this.#commands(tokens);
    if (tokens.shift() !== ")") throw fail("unclosed parenthesis");
    const path = /^\.\w/.test(tokens[0] ?? "") ? tokens.shift()!.slice(1).split(".") : [];
    return (dot, scope) => fieldOf(inner(dot, scope), path);
  }
}

const TOKEN = /\s*(:=|[|(),]|"(?:[^"\\]|\\.)*"|`[^`]*`|-?\d+(?:\.\d+)?|\$?(?:\w+)?(?:\.\w+)+|\$\w*|\.|\w+)/y;
const CONSTANTS: Readonly<Record<string, Value>> = { true: true, false: false, nil: undefined };

function operand(token: string): Evaluate {
  if (token.startsWith('"')) return () => JSON.parse(token.replace(/\n/g, "\\n")) as string;
  if (token.startsWith("`")) return () => token.slice(1, -1);
  if (/^-?\d/.test(token)) return () => Number(token);
  if (Object.hasOwn(CONSTANTS, token)) return () => CONSTANTS[token];
  const [variable = "", ...path] = token.split(".").filter((part, at) => at === 0 || part !== "");
  return (dot, scope) => {
    if (variable !== "" && !scope.has(variable)) throw fail(`undefined variable "${variable}"`);
    return fieldOf(variable === "" ? dot : scope.get(variable), path);
  };
}

/** Splits a template into texts and actions. Applies `{{-` and `-}}`, and drops comments. */
function split(source: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trimsNext = false;
  const pushText = (text: string): void => {
    const kept = trimsNext ? text.replace(/^[ \t\r\n]+/, "") : text;
    if (kept !== "") pieces.push({ text: kept });
  };
  for (let open = source.indexOf("{{"); open >= 0; open = source.indexOf("{{", at)) {
    const trimsBefore = /^{{-[ \t\r\n]/.test(source.slice(open, open + 4));
    const text = source.slice(at, open);
    pushText(trimsBefore ? text.replace(/[ \t\r\n]+$/, "") : text);
    const close = endOfAction(source, open + 2);
    const inner = source.slice(open + (trimsBefore ? 3 : 2), close);
    trimsNext = /[ \t\r\n]-$/.test(inner);
    const action = (trimsNext ? inner.slice(0, -1) : inner).trim();
    if (!/^\/\*[\s\S]*\*\/$/.test(action)) pieces.push({ action });
    at = close + 2;
  }
  pushText(source.slice(at));
  return pieces;
}

/** The position of the `}}` that ends an action, outside quotes and comments. */
function endOfAction(source: string, from: number): number {
  const action = /(?:-?\s*\/\*[\s\S]*?\*\/\s*-?|(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|(?!}})[^"`])*)(?=}})/y;
  action.lastIndex = from;
  const match = action.exec(source);
  if (!match) throw fail("unclosed action: {{ without }}, or an unterminated quoted text");
  return from + match[0].length;
}

function fieldOf(value: Value, path: readonly string[]): Value {
  return path.reduce<Value>((from, name) => {
    const isObject = typeof from === "object" && from !== null && !Array.isArray(from);
    if (!isObject || !Object.hasOwn(from, name)) throw fail(`can't evaluate field ${name}`);
    return (from as Record<string, Value>)[name];
  }, value);
}

/** Keys and items in Go's order: a map's keys are sorted. */
function itemsOf(value: Value): readonly (readonly [Value, Value])[] {
  if (Array.isArray(value)) return value.map((item, at) => [at, item]);
  if (typeof value !== "object" || value === null) return [];
  const keys = Object.keys(value).sort();
  return keys.map((key) => [key, (value as Record<string, Value>)[key]]);
}

const isTrue = (value: Value): boolean => (typeof value === "object" ? itemsOf(value).length > 0 : Boolean(value));

/** Prints a value like Go's fmt. */
function print(value: Value): string {
  if (value === undefined) return "<no value>";
  if (Array.isArray(value)) return `[${value.map(print).join(" ")}]`;
  const fields = typeof value === "object" ? (Object.values(value) as readonly Value[]) : undefined;
  return fields ? `{${fields.map(print).join(" ")}}` : String(value);
}

function printf(format: Value, ...args: Value[]): string {
  let at = 0;
  const text = String(format).replace(/%([%vsdq])/g, (_, verb: string) => {
    if (verb === "%") return "%";
    if (at >= args.length) return `%!${verb}(MISSING)`;
    const shown = print(args[at++]);
    return verb === "q" ? JSON.stringify(shown) : shown;
  });
  const extra = args.slice(at).map((arg) => `${typeName(arg)}=${print(arg)}`);
  return extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(", ")})`;
}

function typeName(value: Value): string {
  if (Array.isArray(value)) return "[]string";
  return { boolean: "bool", number: "int" }[typeof value as string] ?? typeof value;
}

function lengthOf(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value === "object" && value !== null) return itemsOf(value).length;
  throw fail("len of a value without a length");
}

function indexOf(value: Value, ...keys: Value[]): Value {
  return keys.reduce<Value>((from, key) => {
    if (!Array.isArray(from)) return fieldOf(from, [String(key)]);
    if (typeof key !== "number" || key < 0 || key >= from.length) throw fail(`index out of range: ${print(key)}`);
    return from[key] as Value;
  }, value);
}

/** Like fmt.Sprint: adds a space between operands if neither is a string. */
function printAll(...args: Value[]): string {
  return args.reduce<string>((text, arg, at) => {
    const needsSpace = at > 0 && typeof arg !== "string" && typeof args[at - 1] !== "string";
    return text + (needsSpace ? " " : "") + print(arg);
  }, "");
}

const less = (a: Value, b: Value): boolean => (a as number) < (b as number);

const BUILT_IN: TemplateFunctions = {
  and: (...args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1),
  or: (...args) => args.find(isTrue) ?? args.at(-1),
  not: (value) => !isTrue(value),
  eq: (value, ...others) => others.some((other) => other === value),
  ne: (a, b) => a !== b,
  lt: less,
  le: (a, b) => !less(b, a),
  gt: (a, b) => less(b, a),
  ge: (a, b) => !less(a, b),
  len: lengthOf,
  index: indexOf,
  print: printAll,
  println: (...args) => `${args.map(print).join(" ")}\n`,
  printf,
};
