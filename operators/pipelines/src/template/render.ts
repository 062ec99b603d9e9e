import type { TemplateFunctions } from "./functions.js";
import { type Command, type Operand, type Pipe, type Template, TemplateError, type TemplateNode } from "./template.js";
import { isTrue, printed, UNKNOWN } from "./value.js";

/** Longest text that a template may become, in characters. */
const LONGEST = 4_000_000;

/** A rendered template, which can map its text back to the template. */
export interface RenderedTemplate {
  readonly text: string;
  /**
   * The offset in the template that an offset in the text comes from. Text that an action prints comes from the start
   * of the action.
   */
  sourceOf(offset: number): number;
}

export interface RenderContext {
  /** The value of `.` at the top. */
  readonly root: Readonly<Record<string, unknown>>;
  readonly functions: TemplateFunctions;
  /** Decides a condition. By the truth of the value, unless given. */
  readonly decide?: (pipe: Pipe, value: unknown) => boolean;
  /** The text for a value that is not known. */
  readonly placeholder?: (pipe: Pipe) => string;
}

/** Renders a template. Throws a `TemplateError`. */
export function renderTemplate(template: Template, context: RenderContext): RenderedTemplate {
  const output = new Output();
  new Renderer(template, context, output).render(template.nodes, context.root);
  return output;
}

class Output implements RenderedTemplate {
  text = "";
  /** Where each piece begins in the text, where it comes from in the template, and whether it is verbatim. */
  readonly #pieces: { readonly at: number; readonly source: number; readonly isVerbatim: boolean }[] = [];

  add(text: string, source: number, isVerbatim: boolean): void {
    if (text === "") return;
    if (this.text.length + text.length > LONGEST)
      throw new TemplateError(`the template becomes longer than ${LONGEST} characters`, source);
    this.#pieces.push({ at: this.text.length, source, isVerbatim });
    this.text += text;
  }

  sourceOf(offset: number): number {
    let [low, high] = [0, this.#pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#pieces[middle]!.at <= offset) low = middle;
      else high = middle - 1;
    }
    const piece = this.#pieces[low];
    if (!piece) return 0;
    return piece.isVerbatim ? piece.source + offset - piece.at : piece.source;
  }
}

/** Thrown by `break` and `continue`, to leave the body of a `range`. */
class LoopExit {
  readonly type: "break" | "continue";

  constructor(type: "break" | "continue") {
    this.type = type;
  }
}

class Renderer {
  readonly #template: Template;
  readonly #context: RenderContext;
  readonly #output: Output;
  /** The variables in scope, the innermost last. */
  #variables: { readonly name: string; value: unknown }[];

  constructor(template: Template, context: RenderContext, output: Output) {
    this.#template = template;
    this.#context = context;
    this.#output = output;
    this.#variables = [{ name: "$", value: context.root }];
  }

  render(nodes: readonly TemplateNode[], dot: unknown): void {
    const depth = this.#variables.length;
    for (const node of nodes) this.#node(node, dot);
    this.#variables.length = depth;
  }

  #node(node: TemplateNode, dot: unknown): void {
    switch (node.type) {
      case "text":
        this.#output.add(node.text, node.start, true);
        return;
      case "action":
        this.#action(node.pipe, node.start, dot);
        return;
      case "if":
      case "with": {
        const depth = this.#variables.length;
        const value = this.#pipe(node.pipe, dot);
        const isTaken = this.#decide(node.pipe, value);
        this.render(isTaken ? node.body : node.otherwise, isTaken && node.type === "with" ? value : dot);
        this.#variables.length = depth;
        return;
      }
      case "range":
        this.#range(node, dot);
        return;
      case "template": {
        const value = node.pipe ? this.#pipe(node.pipe, dot) : undefined;
        const outer = this.#variables;
        this.#variables = [{ name: "$", value }];
        this.render(this.#template.definitions.get(node.name) ?? [], value);
        this.#variables = outer;
        return;
      }
      default:
        throw new LoopExit(node.type);
    }
  }

  #action(pipe: Pipe, start: number, dot: unknown): void {
    const value = this.#pipe(pipe, dot);
    if (pipe.variables.length > 0) return;
    if (value === UNKNOWN) this.#output.add(this.#context.placeholder?.(pipe) ?? "", start, false);
    else if (value === undefined || value === null)
      throw new TemplateError(`${this.#template.text.slice(pipe.start, pipe.end).trim()} has no value`, pipe.start);
    else this.#output.add(printed(value), start, false);
  }

  #range(node: TemplateNode & { readonly type: "range" }, dot: unknown): void {
    const depth = this.#variables.length;
    const value = this.#pipe({ ...node.pipe, variables: [] }, dot);
    const items = value === UNKNOWN ? [[UNKNOWN, UNKNOWN] as const] : itemsOf(value, node.pipe.start);
    if (value === UNKNOWN ? !this.#decide(node.pipe, value) : items.length === 0) {
      this.render(node.otherwise, dot);
      return;
    }
    for (const [key, item] of items) {
      this.#variables.length = depth;
      const [first, second] = node.pipe.variables;
      if (second !== undefined) this.#variables.push({ name: first!, value: key }, { name: second, value: item });
      else if (first !== undefined) this.#variables.push({ name: first, value: item });
      try {
        this.render(node.body, item);
      } catch (error) {
        if (!(error instanceof LoopExit)) throw error;
        if (error.type === "break") break;
      }
    }
    this.#variables.length = depth;
  }

  #decide(pipe: Pipe, value: unknown): boolean {
    return this.#context.decide ? this.#context.decide(pipe, value) : isTrue(value);
  }

  #pipe(pipe: Pipe, dot: unknown): unknown {
    let value: unknown;
    for (const [index, command] of pipe.commands.entries())
      value = this.#command(command, dot, index === 0 ? [] : [value]);
    for (const name of pipe.variables) {
      if (!pipe.isAssignment) this.#variables.push({ name, value });
      else this.#variable(name, pipe.start).value = value;
    }
    return value;
  }

  #command({ operands: [head, ...rest], start }: Command, dot: unknown, piped: readonly unknown[]): unknown {
    if (head.type !== "function") {
      if (rest.length + piped.length > 0) throw new TemplateError("only a function takes arguments", head.start);
      return this.#operand(head, dot);
    }
    return fieldsOf(this.#call(head.name, rest, dot, piped, start), head);
  }

  #call(name: string, operands: readonly Operand[], dot: unknown, piped: readonly unknown[], start: number): unknown {
    if (name === "and" || name === "or") return this.#logic(name, operands, dot, piped, start);
    const call = this.#context.functions.get(name);
    if (!call) throw new TemplateError(`there is no function ${name}`, start);
    const values = [...operands.map((operand) => this.#operand(operand, dot)), ...piped];
    try {
      return call(values);
    } catch (error) {
      if (error instanceof TemplateError) throw error;
      throw new TemplateError(`${name}: ${error instanceof Error ? error.message : String(error)}`, start);
    }
  }

  /** `and` and `or` evaluate only as many operands as they need. */
  #logic(name: "and" | "or", operands: readonly Operand[], dot: unknown, piped: readonly unknown[], start: number) {
    if (operands.length + piped.length === 0) throw new TemplateError(`${name} needs an argument`, start);
    let value: unknown;
    for (const read of [
      ...operands.map((operand) => () => this.#operand(operand, dot)),
      ...piped.map((one) => () => one),
    ]) {
      value = read();
      if (value === UNKNOWN || isTrue(value) === (name === "or")) return value;
    }
    return value;
  }

  #operand(operand: Operand, dot: unknown): unknown {
    switch (operand.type) {
      case "literal":
        return operand.value;
      case "dot":
        return fieldsOf(dot, operand);
      case "variable":
        return fieldsOf(this.#variable(operand.name, operand.start).value, operand);
      case "pipe":
        return fieldsOf(this.#pipe(operand.pipe, dot), operand);
      case "function":
        return fieldsOf(this.#call(operand.name, [], dot, [], operand.start), operand);
    }
  }

  #variable(name: string, start: number): { value: unknown } {
    const found = this.#variables.findLast((variable) => variable.name === name);
    if (!found) throw new TemplateError(`there is no variable ${name}`, start);
    return found;
  }
}

function fieldsOf(value: unknown, { fields, start }: Operand): unknown {
  let result = value;
  for (const field of fields) {
    if (result === UNKNOWN || result === undefined || result === null) continue;
    if (typeof result !== "object" || Array.isArray(result))
      throw new TemplateError(
        `.${field}: ${Array.isArray(result) ? "a list" : `a ${typeof result}`} has no fields`,
        start,
      );
    result = Object.hasOwn(result, field) ? (result as Record<string, unknown>)[field] : undefined;
  }
  return result;
}

function itemsOf(value: unknown, start: number): readonly (readonly [unknown, unknown])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return [...value.entries()];
  if (typeof value === "number" && value <= LONGEST) return Array.from({ length: value }, (_, index) => [index, index]);
  if (typeof value === "object") return Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  throw new TemplateError(`range needs a list or a map, not a ${typeof value}`, start);
}
