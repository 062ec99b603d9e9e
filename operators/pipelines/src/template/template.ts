/** A parsed template. Offsets count characters of the template. */
export interface Template {
  readonly text: string;
  readonly nodes: readonly TemplateNode[];
  /** Bodies of `define` and `block`, by name. */
  readonly definitions: ReadonlyMap<string, readonly TemplateNode[]>;
}

export type TemplateNode =
  | { readonly type: "text"; readonly text: string; readonly start: number }
  | { readonly type: "action"; readonly pipe: Pipe; readonly start: number }
  | {
      readonly type: "if" | "with";
      readonly pipe: Pipe;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | {
      readonly type: "range";
      readonly pipe: Pipe;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | { readonly type: "template"; readonly name: string; readonly pipe?: Pipe; readonly start: number }
  | { readonly type: "break" | "continue"; readonly start: number };

/** `a | b "c"`, and `$x := a | b`. The value of a command is the last argument of the next one. */
export interface Pipe {
  readonly variables: readonly string[];
  /** True if the variables exist already: `$x = a`. */
  readonly isAssignment: boolean;
  readonly commands: readonly Command[];
  readonly start: number;
  readonly end: number;
}

export interface Command {
  readonly operands: readonly [Operand, ...Operand[]];
  readonly start: number;
}

export type Operand = { readonly start: number; readonly fields: readonly string[] } & (
  | { readonly type: "dot" }
  | { readonly type: "variable"; readonly name: string }
  | { readonly type: "function"; readonly name: string }
  | { readonly type: "literal"; readonly value: string | number | boolean | null }
  | { readonly type: "pipe"; readonly pipe: Pipe }
);

/** An error in a template, with its place in the text. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
