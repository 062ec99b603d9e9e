import { invalidSpec } from "../errors.js";

/**
 * Go's text/template, as far as system messages use it: fields, variables, `if`, `with`, `range`, `include`, pipelines,
 * comparisons and `printf`, with Go's trimming of space and its printing of values. No nested templates.
 */

type Value = string | number | boolean | readonly Value[] | Readonly<{ [field: string]: unknown }> | undefined;
export type TemplateFunctions = Readonly<Record<string, (...args: Value[]) => Value>>;

interface Pipeline {
  readonly declares: readonly string[];
  readonly commands: readonly (readonly Operand[])[];
}
type Operand =
  | { readonly type: "literal"; readonly value: Value }
  | { readonly type: "field"; readonly variable: string; readonly path: readonly string[] }
  | { readonly type: "call"; readonly name: string }
  | { readonly type: "pipeline"; readonly pipeline: Pipeline; readonly path: readonly string[] };
type Node =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "print"; readonly pipeline: Pipeline }
  | {
      readonly type: "if" | "with" | "range";
      readonly pipeline: Pipeline;
      readonly then: readonly Node[];
      readonly otherwise: readonly Node[];
    };

const fail = (why: string): Error => invalidSpec(`system message template: ${why}`);

/** Throws `AGENTS_INVALID_SPEC` for a template that cannot be read or carried out. */
export function executeTemplate(source: string, data: Value, functions: TemplateFunctions): string {
  const nodes = new Parser(source).parse();
  let out = "";
  const all = { ...BUILT_IN, ...functions };
  const run = (list: readonly Node[], dot: Value, scope: Map<string, Value>): void => {
    for (const node of list) {
      if (node.type === "text") out += node.text;
      else if (node.type === "print") {
        const value = evaluate(node.pipeline, dot, scope, all);
        if (node.pipeline.declares.length === 0) out += print(value);
      } else if (node.type === "range") runRange(node, dot, scope);
      else {
        const inner = new Map(scope);
        const value = evaluate(node.pipeline, dot, inner, all);
        if (isTrue(value)) run(node.then, node.type === "with" ? value : dot, inner);
        else run(node.otherwise, dot, new Map(scope));
      }
    }
  };
  const runRange = (node: Node & { type: "range" | "if" | "with" }, dot: Value, scope: Map<string, Value>): void => {
    const { declares, commands } = node.pipeline;
    const value = evaluate({ declares: [], commands }, dot, scope, all);
    const items: readonly (readonly [Value, Value])[] = Array.isArray(value)
      ? value.map((item, at) => [at, item])
      : typeof value === "object" && value !== null
        ? Object.keys(value)
            .sort()
            .map((key) => [key, (value as Record<string, Value>)[key]])
        : [];
    if (items.length === 0) run(node.otherwise, dot, new Map(scope));
    for (const [at, item] of items) {
      const inner = new Map(scope);
      if (declares.length === 1) inner.set(declares[0]!, item);
      if (declares.length === 2) inner.set(declares[0]!, at).set(declares[1]!, item);
      run(node.then, item, inner);
    }
  };
  run(nodes, data, new Map([["$", data]]));
  return out;
}

class Parser {
  readonly #pieces: readonly { readonly text?: string; readonly action?: string }[];
  #at = 0;

  constructor(source: string) {
    this.#pieces = split(source);
  }

  parse(): readonly Node[] {
    const { nodes, end } = this.#list();
    if (end !== undefined) throw fail(`unexpected {{${end}}}`);
    return nodes;
  }

  /** Nodes up to `end` or `else`, which is given back. */
  #list(): { readonly nodes: readonly Node[]; readonly end: string | undefined } {
    const nodes: Node[] = [];
    while (this.#at < this.#pieces.length) {
      const { text, action } = this.#pieces[this.#at++]!;
      if (text !== undefined) nodes.push({ type: "text", text });
      if (action === undefined || action === "") continue;
      const [word = ""] = action.split(/\s/, 1);
      if (word === "end" || word === "else") return { nodes, end: action };
      if (word === "if" || word === "with" || word === "range")
        nodes.push(this.#branch(word, action.slice(word.length)));
      else if (["define", "template", "block", "break", "continue"].includes(word))
        throw fail(`{{${word}}} is not known`);
      else nodes.push({ type: "print", pipeline: parsePipeline(action) });
    }
    return { nodes, end: undefined };
  }

  #branch(type: "if" | "with" | "range", condition: string): Node {
    const pipeline = parsePipeline(condition);
    const { nodes: then, end } = this.#list();
    if (end === undefined) throw fail(`{{${type}}} has no {{end}}`);
    if (end === "end") return { type, pipeline, then, otherwise: [] };
    const chained = /^else\s+(if|with)\b(.*)$/s.exec(end);
    if (chained) return { type, pipeline, then, otherwise: [this.#branch(chained[1] as "if" | "with", chained[2]!)] };
    if (end !== "else") throw fail(`unexpected {{${end}}}`);
    const other = this.#list();
    if (other.end !== "end") throw fail(`{{${type}}} has no {{end}}`);
    return { type, pipeline, then, otherwise: other.nodes };
  }
}

/** Texts and actions, with the space taken off that `{{-` and `-}}` ask for, and comments left out. */
function split(source: string): readonly { readonly text?: string; readonly action?: string }[] {
  const pieces: { text?: string; action?: string }[] = [];
  let at = 0;
  let trimsNext = false;
  const pushText = (text: string): void => {
    const kept = trimsNext ? text.replace(/^[ \t\r\n]+/, "") : text;
    if (kept !== "") pieces.push({ text: kept });
  };
  for (;;) {
    const open = source.indexOf("{{", at);
    if (open < 0) break;
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

function endOfAction(source: string, from: number): number {
  const isComment = /^-?\s*\/\*/.test(source.slice(from));
  for (let at = isComment ? source.indexOf("*/", from) + 2 : from; at < source.length; at++) {
    const character = source[at];
    if (character === '"' || character === "`") {
      const quoted = character === '"' ? /"(?:[^"\\\n]|\\.)*"/y : /`[^`]*`/y;
      quoted.lastIndex = at;
      const match = quoted.exec(source);
      if (!match) throw fail("unterminated quoted text");
      at += match[0].length - 1;
    } else if (source.startsWith("}}", at)) return at;
  }
  throw fail("unclosed action: {{ without }}");
}

const TOKEN = /\s*(:=|[|(),]|"(?:[^"\\]|\\.)*"|`[^`]*`|-?\d+(?:\.\d+)?|\$?(?:\w+)?(?:\.\w+)+|\$\w*|\.|\w+)/y;

function parsePipeline(text: string): Pipeline {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (!match) throw fail(`cannot read {{${text.trim()}}}`);
    tokens.push(match[1]!);
  }
  const declares: string[] = [];
  const assign = tokens.indexOf(":=");
  if (assign > 0) declares.push(...tokens.splice(0, assign + 1).filter((token) => token.startsWith("$")));
  const reader = { tokens, at: 0 };
  const pipeline = readPipeline(reader, declares);
  if (reader.at < tokens.length) throw fail(`unexpected ${tokens[reader.at]} in {{${text.trim()}}}`);
  return pipeline;
}

function readPipeline(
  reader: { readonly tokens: readonly string[]; at: number },
  declares: readonly string[],
): Pipeline {
  const commands: Operand[][] = [[]];
  while (reader.at < reader.tokens.length && reader.tokens[reader.at] !== ")") {
    const token = reader.tokens[reader.at++]!;
    if (token === "|") commands.push([]);
    else if (token === "(") {
      const pipeline = readPipeline(reader, []);
      if (reader.tokens[reader.at++] !== ")") throw fail("unclosed parenthesis");
      const next = reader.tokens[reader.at];
      const path = next?.startsWith(".") && next.length > 1 ? reader.tokens[reader.at++]!.slice(1).split(".") : [];
      commands.at(-1)!.push({ type: "pipeline", pipeline, path });
    } else commands.at(-1)!.push(operandOf(token));
  }
  if (commands.some((command) => command.length === 0)) throw fail("missing value for command");
  return { declares, commands };
}

function operandOf(token: string): Operand {
  if (token.startsWith('"')) return { type: "literal", value: JSON.parse(token.replace(/\n/g, "\\n")) as string };
  if (token.startsWith("`")) return { type: "literal", value: token.slice(1, -1) };
  if (/^-?\d/.test(token)) return { type: "literal", value: Number(token) };
  if (token === "true" || token === "false") return { type: "literal", value: token === "true" };
  if (token === "nil") return { type: "literal", value: undefined };
  if (token.startsWith("$") || token.startsWith(".")) {
    const [variable = "", ...path] = token.split(".");
    return { type: "field", variable: variable === "" ? "." : variable, path: path.filter((part) => part !== "") };
  }
  return { type: "call", name: token };
}

function evaluate(pipeline: Pipeline, dot: Value, scope: Map<string, Value>, functions: TemplateFunctions): Value {
  let value: Value;
  pipeline.commands.forEach((command, at) => {
    const [first, ...rest] = command as readonly [Operand, ...Operand[]];
    const piped = at === 0 ? [] : [value];
    if (first.type === "call") {
      const called = functions[first.name];
      if (!called) throw fail(`function "${first.name}" not defined`);
      value = called(...rest.map((operand) => operandValue(operand, dot, scope, functions)), ...piped);
      return;
    }
    if (rest.length + piped.length > 0) throw fail("only a function takes arguments");
    value = operandValue(first, dot, scope, functions);
  });
  for (const name of pipeline.declares) scope.set(name, value);
  return value;
}

function operandValue(operand: Operand, dot: Value, scope: Map<string, Value>, functions: TemplateFunctions): Value {
  if (operand.type === "literal") return operand.value;
  if (operand.type === "call") return evaluate({ declares: [], commands: [[operand]] }, dot, scope, functions);
  if (operand.type === "pipeline") return fieldOf(evaluate(operand.pipeline, dot, scope, functions), operand.path);
  if (operand.variable === ".") return fieldOf(dot, operand.path);
  if (!scope.has(operand.variable)) throw fail(`undefined variable "${operand.variable}"`);
  return fieldOf(scope.get(operand.variable), operand.path);
}

function fieldOf(value: Value, path: readonly string[]): Value {
  return path.reduce<Value>((from, name) => {
    const isObject = typeof from === "object" && from !== null && !Array.isArray(from);
    if (!isObject || !Object.hasOwn(from, name)) throw fail(`can't evaluate field ${name}`);
    return (from as Record<string, Value>)[name];
  }, value);
}

function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** As Go's fmt prints a value. */
function print(value: Value): string {
  if (value === undefined) return "<no value>";
  if (Array.isArray(value)) return `[${value.map(print).join(" ")}]`;
  if (typeof value === "object")
    return `{${Object.values(value)
      .map((field) => print(field as Value))
      .join(" ")}}`;
  return String(value);
}

function printf(format: Value, ...args: Value[]): string {
  let at = 0;
  return String(format).replace(/%([%vsdq])/g, (_, verb: string) => {
    if (verb === "%") return "%";
    if (at >= args.length) return `%!${verb}(MISSING)`;
    const text = print(args[at++]);
    return verb === "q" ? JSON.stringify(text) : text;
  });
}

function lengthOf(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.length;
  if (typeof value === "object" && value !== null) return Object.keys(value).length;
  throw fail("len of a value without a length");
}

function indexOf(value: Value, ...keys: Value[]): Value {
  return keys.reduce<Value>((from, key) => {
    if (!Array.isArray(from)) return fieldOf(from, [String(key)]);
    if (typeof key !== "number" || key < 0 || key >= from.length) throw fail(`index out of range: ${print(key)}`);
    return from[key] as Value;
  }, value);
}

/** Like fmt.Sprint: a space between operands where neither is a text. */
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
