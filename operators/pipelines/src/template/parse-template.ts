import { type ActionToken, actionTokens, endOfAction, unquote } from "./action-tokens.js";
import { type Command, type Operand, type Pipe, type Template, TemplateError, type TemplateNode } from "./template.js";

/** Parses a template in the syntax of Go's text/template. Throws a `TemplateError`. */
export function parseTemplate(text: string): Template {
  if (!text.includes("{{"))
    return { text, nodes: text === "" ? [] : [{ type: "text", text, start: 0 }], definitions: new Map() };
  const parser = new BlockParser(text);
  const nodes = parser.block([]);
  const template = { text, nodes, definitions: parser.definitions };
  refuseCircles(template);
  return template;
}

/** A text between two actions, or an action. */
type Part =
  | { readonly type: "text"; readonly text: string; readonly start: number }
  | { readonly type: "action"; readonly start: number; readonly from: number; readonly to: number };

function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  let at = 0;
  let trimsNext = false;
  while (at <= text.length) {
    const open = text.indexOf("{{", at);
    const stop = open === -1 ? text.length : open;
    const trimsThis = open !== -1 && /^-\s/.test(text.slice(open + 2, open + 4));
    let [from, to] = [at, stop];
    if (trimsNext) from = at + (/^\s*/.exec(text.slice(at, stop))?.[0].length ?? 0);
    if (trimsThis) to = from + text.slice(from, stop).trimEnd().length;
    if (to > from) parts.push({ type: "text", text: text.slice(from, to), start: from });
    if (open === -1) break;
    const begin = open + (trimsThis ? 3 : 2);
    const comment = /^\s*\/\*[\s\S]*?\*\/\s*-?\}\}/.exec(text.slice(begin))?.[0];
    const close = comment === undefined ? endOfAction(text, begin) : begin + comment.length - 2;
    if (close === -1) throw new TemplateError("an action is not closed: }} is missing", open);
    trimsNext = /\s-$/.test(text.slice(begin, close));
    const end = trimsNext ? close - 1 : close;
    if (comment === undefined) parts.push({ type: "action", start: open, from: begin, to: end });
    at = close + 2;
  }
  return parts;
}

class BlockParser {
  readonly definitions = new Map<string, readonly TemplateNode[]>();
  readonly #text: string;
  readonly #parts: readonly Part[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#parts = partsOf(text);
  }

  /** Parses nodes up to `end` or `else`, which the caller reads. `opened` has the offsets of the enclosing blocks. */
  block(opened: readonly number[]): readonly TemplateNode[] {
    const nodes: TemplateNode[] = [];
    for (let part = this.#parts[this.#at]; part; part = this.#parts[this.#at]) {
      if (part.type === "text") {
        nodes.push(part);
        this.#at++;
        continue;
      }
      const action = new ActionParser(this.#text, part.from, part.to);
      const keyword = action.keyword();
      if (keyword === "end" || keyword === "else") {
        if (opened.length === 0) throw new TemplateError(`{{ ${keyword} }} belongs to no block`, part.start);
        return nodes;
      }
      this.#at++;
      const node = this.#node(keyword, action, part.start, opened);
      if (node) nodes.push(node);
    }
    if (opened.length > 0) throw new TemplateError("a block is not closed: {{ end }} is missing", opened.at(-1)!);
    return nodes;
  }

  #node(keyword: string, action: ActionParser, start: number, opened: readonly number[]): TemplateNode | undefined {
    switch (keyword) {
      case "if":
      case "with":
      case "range":
        return this.#branches(keyword, action.pipe(), [...opened, start]);
      case "define": {
        this.definitions.set(action.text(), this.#body(action, [...opened, start]));
        return undefined;
      }
      case "block": {
        const name = action.text();
        const pipe = action.pipe();
        this.definitions.set(name, this.#body(action, [...opened, start]));
        return { type: "template", name, pipe, start };
      }
      case "template": {
        const name = action.text();
        return { type: "template", name, start, ...(!action.isAtEnd() && { pipe: action.pipe() }) };
      }
      case "break":
      case "continue":
        action.end();
        return { type: keyword, start };
      default: {
        const pipe = action.pipe();
        action.end();
        return { type: "action", pipe, start };
      }
    }
  }

  #body(action: ActionParser, opened: readonly number[]): readonly TemplateNode[] {
    action.end();
    const body = this.block(opened);
    const closing = this.#closing();
    if (closing.keyword() !== "end") throw new TemplateError("{{ else }} belongs to no condition", closing.start);
    closing.end();
    return body;
  }

  #branches(type: "if" | "with" | "range", pipe: Pipe, opened: readonly number[]): TemplateNode {
    const body = this.block(opened);
    const closing = this.#closing();
    if (closing.keyword() === "end") {
      closing.end();
      return { type, pipe, body, otherwise: [] };
    }
    const next = closing.keyword();
    if (next === "if" || next === "with")
      return { type, pipe, body, otherwise: [this.#branches(next, closing.pipe(), opened)] };
    closing.end();
    const otherwise = this.block(opened);
    const last = this.#closing();
    if (last.keyword() !== "end") throw new TemplateError("a block has two {{ else }}", last.start);
    last.end();
    return { type, pipe, body, otherwise };
  }

  #closing(): ActionParser {
    const part = this.#parts[this.#at++] as Part & { readonly type: "action" };
    return new ActionParser(this.#text, part.from, part.to);
  }
}

const KEYWORDS = new Set("if else end range with define template block break continue".split(" "));

class ActionParser {
  readonly start: number;
  readonly #tokens: readonly ActionToken[];
  readonly #end: number;
  #at = 0;

  constructor(text: string, start: number, end: number) {
    this.start = start;
    this.#tokens = actionTokens(text, start, end);
    this.#end = end;
  }

  /** Reads the next keyword; an empty text if there is none. */
  keyword(): string {
    this.#skipSpace();
    const token = this.#tokens[this.#at];
    if (token?.type !== "word" || !KEYWORDS.has(token.value)) return "";
    this.#at++;
    return token.value;
  }

  text(): string {
    this.#skipSpace();
    const token = this.#tokens[this.#at];
    if (token?.type !== "string") throw new TemplateError("a name in quotes is missing", token?.start ?? this.#end);
    this.#at++;
    return String(unquote(token));
  }

  isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at >= this.#tokens.length;
  }

  end(): void {
    if (this.isAtEnd()) return;
    const { value, start } = this.#tokens[this.#at]!;
    throw new TemplateError(`unexpected ${JSON.stringify(value)} in an action`, start);
  }

  pipe(): Pipe {
    this.#skipSpace();
    const start = this.#tokens[this.#at]?.start ?? this.#end;
    const { variables, isAssignment } = this.#declaration();
    const commands = [this.#command()];
    while (this.#take("|")) commands.push(this.#command());
    const end = this.#tokens[this.#at]?.start ?? this.#end;
    return { variables, isAssignment, commands, start, end };
  }

  #declaration(): Pick<Pipe, "variables" | "isAssignment"> {
    const before = this.#at;
    const variables: string[] = [];
    do {
      this.#skipSpace();
      const token = this.#tokens[this.#at];
      if (token?.type !== "variable") break;
      variables.push(token.value);
      this.#at++;
    } while (this.#take(","));
    if (variables.length > 0) {
      if (this.#take(":=")) return { variables, isAssignment: false };
      if (this.#take("=")) return { variables, isAssignment: true };
    }
    this.#at = before;
    return { variables: [], isAssignment: false };
  }

  #command(): Command {
    this.#skipSpace();
    const operands: Operand[] = [];
    const start = this.#tokens[this.#at]?.start ?? this.#end;
    for (let operand = this.#operand(); operand; operand = this.#operand()) operands.push(operand);
    const [first, ...rest] = operands;
    if (!first) throw new TemplateError("an action lacks its value", start);
    return { operands: [first, ...rest], start };
  }

  #operand(): Operand | undefined {
    this.#skipSpace();
    const token = this.#tokens[this.#at];
    if (!token) return undefined;
    const { type, value, start } = token;
    if (type === "field") return { type: "dot", start, fields: this.#fields() };
    if (type === "symbol" && value === "(") {
      this.#at++;
      const pipe = this.pipe();
      if (!this.#take(")")) throw new TemplateError("a parenthesis is not closed", start);
      return { type: "pipe", pipe, start, fields: this.#fields() };
    }
    if (type === "symbol" && value !== ".") return undefined;
    this.#at++;
    if (type === "symbol") return { type: "dot", start, fields: [] };
    if (type === "variable") return { type: "variable", name: value, start, fields: this.#fields() };
    if (type === "word") return this.#word(token);
    const literal = type === "string" ? unquote(token) : Number(value.replaceAll("_", ""));
    return { type: "literal", value: literal, start, fields: [] };
  }

  #word({ value, start }: ActionToken): Operand {
    if (KEYWORDS.has(value)) throw new TemplateError(`unexpected keyword ${value}`, start);
    const literals: Readonly<Record<string, boolean | null>> = { true: true, false: false, nil: null };
    const literal = Object.hasOwn(literals, value) ? literals[value] : undefined;
    if (literal !== undefined) return { type: "literal", value: literal, start, fields: [] };
    return { type: "function", name: value, start, fields: this.#fields() };
  }

  /** Fields that follow without a space. */
  #fields(): readonly string[] {
    const fields: string[] = [];
    while (this.#tokens[this.#at]?.type === "field") fields.push(this.#tokens[this.#at++]!.value.slice(1));
    return fields;
  }

  #take(symbol: string): boolean {
    this.#skipSpace();
    const token = this.#tokens[this.#at];
    if (token?.type !== "symbol" || token.value !== symbol) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    while (this.#tokens[this.#at]?.type === "space") this.#at++;
  }
}

/** Refuses a template that uses itself, directly or through others: its rendering would never end. */
function refuseCircles({ nodes, definitions }: Template): void {
  const done = new Set<string>();
  const visit = (some: readonly TemplateNode[], path: readonly string[]): void => {
    for (const node of some) {
      if ("body" in node) {
        visit(node.body, path);
        visit(node.otherwise, path);
      }
      if (node.type !== "template") continue;
      const body = definitions.get(node.name);
      if (!body) throw new TemplateError(`no template ${JSON.stringify(node.name)} is defined`, node.start);
      if (path.includes(node.name))
        throw new TemplateError(`circular templates: ${[...path, node.name].join(" → ")}`, node.start);
      if (!done.has(node.name)) visit(body, [...path, node.name]);
      done.add(node.name);
    }
  };
  visit(nodes, []);
  for (const [name, body] of definitions) visit(body, [name]);
}
