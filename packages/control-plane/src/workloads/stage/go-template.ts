import { SetpointError } from "setpoint";
import { field, isObject } from "../../api/json.js";

/** The functions that a template can call: `Now`, `Quote`, … */
export type TemplateFunctions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;

type Node =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "value"; readonly pipeline: string }
  | { readonly type: "set"; readonly name: string; readonly pipeline: string }
  | {
      readonly type: "block";
      readonly word: string;
      readonly pipeline: string;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

interface Scope {
  readonly root: unknown;
  readonly dot: unknown;
  readonly variables: Map<string, unknown>;
  readonly functions: TemplateFunctions;
}

const ACTION = /\{\{(-?)\s*([\s\S]*?)\s*(-?)\}\}/g;
const TOKEN = /\(|\)|\||"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s()|]+/g;

/** Renders the part of Go's text/template that stages use: fields, variables, pipelines, `if`, `range`, `with`. */
export function renderTemplate(template: string, data: unknown, functions: TemplateFunctions): string {
  const nodes = parse(tokensOf(template));
  return render(nodes, { root: data, dot: data, variables: new Map([["$", data]]), functions });
}

function tokensOf(template: string): (Node | { readonly type: "action"; readonly text: string })[] {
  const tokens: (Node | { readonly type: "action"; readonly text: string })[] = [];
  let end = 0;
  let trims = false;
  const addText = (text: string, trimsEnd: boolean): void => {
    const left = trims ? text.trimStart() : text;
    tokens.push({ type: "text", text: trimsEnd ? left.trimEnd() : left });
  };
  for (const match of template.matchAll(ACTION)) {
    addText(template.slice(end, match.index), match[1] === "-");
    tokens.push({ type: "action", text: match[2]! });
    trims = match[3] === "-";
    end = match.index + match[0].length;
  }
  addText(template.slice(end), false);
  return tokens;
}

function parse(tokens: (Node | { readonly type: "action"; readonly text: string })[]): readonly Node[] {
  const nodes: Node[] = [];
  while (tokens.length > 0) {
    const token = tokens[0]!;
    if (token.type === "action" && /^(end|else)\b/.test(token.text)) return nodes;
    tokens.shift();
    if (token.type !== "action") {
      nodes.push(token);
      continue;
    }
    const block = /^(if|range|with)\s+([\s\S]+)$/.exec(token.text);
    const assignment = /^(\$\w+)\s*:?=\s*([\s\S]+)$/.exec(token.text);
    if (block) nodes.push(blockOf(block[1]!, block[2]!, tokens));
    else if (assignment) nodes.push({ type: "set", name: assignment[1]!, pipeline: assignment[2]! });
    else if (!token.text.startsWith("/*")) nodes.push({ type: "value", pipeline: token.text });
  }
  return nodes;
}

function blockOf(word: string, pipeline: string, tokens: Parameters<typeof parse>[0]): Node {
  const body = parse(tokens);
  const next = tokens.shift();
  if (next?.type !== "action" || next.text === "end") return { type: "block", word, pipeline, body, otherwise: [] };
  const chained = /^else\s+(if|with)\s+([\s\S]+)$/.exec(next.text);
  if (chained) return { type: "block", word, pipeline, body, otherwise: [blockOf(chained[1]!, chained[2]!, tokens)] };
  const otherwise = parse(tokens);
  tokens.shift();
  return { type: "block", word, pipeline, body, otherwise };
}

function render(nodes: readonly Node[], scope: Scope): string {
  return nodes.map((node) => renderNode(node, scope)).join("");
}

function renderNode(node: Node, scope: Scope): string {
  if (node.type === "text") return node.text;
  if (node.type === "value") return textOf(evaluate(node.pipeline, scope));
  if (node.type === "set") {
    scope.variables.set(node.name, evaluate(node.pipeline, scope));
    return "";
  }
  const { word, body, otherwise } = node;
  const range = /^(?:(\$\w+)\s*,\s*)?(\$\w+)\s*:=\s*([\s\S]+)$/.exec(node.pipeline);
  const value = evaluate(range ? range[3]! : node.pipeline, scope);
  if (!isTruthy(value)) return render(otherwise, scope);
  if (word !== "range") {
    const variables = new Map(scope.variables);
    if (range) variables.set(range[2]!, value);
    return render(body, { ...scope, variables, dot: word === "with" ? value : scope.dot });
  }
  return Object.entries(value as object)
    .map(([key, item]) => {
      const variables = new Map(scope.variables);
      if (range?.[1]) variables.set(range[1], Array.isArray(value) ? Number(key) : key);
      if (range) variables.set(range[2]!, item);
      return render(body, { ...scope, variables, dot: item });
    })
    .join("");
}

function evaluate(pipeline: string, scope: Scope): unknown {
  return pipelineValue(pipeline.match(TOKEN) ?? [], scope);
}

function pipelineValue(tokens: string[], scope: Scope): unknown {
  let piped: readonly unknown[] = [];
  for (;;) {
    const words: string[] = [];
    const values: unknown[] = [];
    while (tokens.length > 0 && tokens[0] !== "|" && tokens[0] !== ")") {
      const token = tokens.shift()!;
      if (token === "(") {
        values.push(pipelineValue(tokens, scope));
        words.push("");
        tokens.shift();
      } else {
        words.push(token);
        values.push(undefined);
      }
    }
    const operands = words.map((word, index) =>
      word === ""
        ? values[index]
        : !isCall(word)
          ? operand(word, scope)
          : index > 0
            ? call(word, [], scope)
            : undefined,
    );
    const result = isCall(words[0] ?? "") ? call(words[0]!, [...operands.slice(1), ...piped], scope) : operands[0];
    if (tokens[0] !== "|") return result;
    tokens.shift();
    piped = [result];
  }
}

const isCall = (word: string): boolean => /^[A-Za-z]\w*$/.test(word) && !/^(true|false|nil)$/.test(word);

function call(name: string, values: readonly unknown[], { functions }: Scope): unknown {
  const known = [BUILT_INS, functions].find((each) => Object.hasOwn(each, name));
  if (!known) throw new SetpointError("STAGE_INVALID", `the template calls the unknown function ${name}`);
  return known[name]!(...values);
}

const BUILT_INS: TemplateFunctions = {
  or: (...values) => values.find(isTruthy) ?? values.at(-1),
  and: (...values) => values.find((value) => !isTruthy(value)) ?? values.at(-1),
  not: (value) => !isTruthy(value),
  eq: (first, ...others) => others.some((other) => other === first),
  ne: (first, second) => first !== second,
  lt: (first, second) => Number(first) < Number(second),
  le: (first, second) => Number(first) <= Number(second),
  gt: (first, second) => Number(first) > Number(second),
  ge: (first, second) => Number(first) >= Number(second),
  print: (...values) => values.map(textOf).join(""),
  printf: (format, ...values) => {
    let at = 0;
    return String(format).replaceAll(/%(%|[a-z])/g, (_match, verb: string) => {
      if (verb === "%") return "%";
      const value = values[at++];
      return verb === "q" ? JSON.stringify(textOf(value)) : textOf(value);
    });
  },
  len: (value) => Object.keys((value as object | undefined) ?? {}).length,
  index: (value, ...keys) =>
    keys.reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[String(key)], value),
};

function operand(word: string, { dot, variables }: Scope): unknown {
  if (word.startsWith('"')) return JSON.parse(word) as unknown;
  if (word.startsWith("`")) return word.slice(1, -1);
  if (word === "true" || word === "false") return word === "true";
  if (word === "nil") return undefined;
  if (/^-?\d/.test(word)) return Number(word);
  const [head = "", ...path] = word.split(".");
  const from = head === "" ? dot : variables.get(head);
  return path
    .filter((name) => name !== "")
    .reduce<unknown>((part, name) => (isObject(part) ? field(part, name) : undefined), from);
}

function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "<no value>";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
