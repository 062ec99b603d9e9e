import { TemplateError } from "./template.js";

/** One token within `{{` and `}}`. */
export interface ActionToken {
  readonly type: "space" | "string" | "number" | "field" | "variable" | "word" | "symbol";
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

const PATTERNS = [
  ["space", /\s+/y],
  ["string", /"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)'/y],
  ["number", /[+-]?(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)/y],
  ["field", /\.[\p{L}_][\p{L}\p{N}_]*/uy],
  ["variable", /\$[\p{L}\p{N}_]*/uy],
  ["word", /[\p{L}_][\p{L}\p{N}_]*/uy],
  ["symbol", /:=|[=|(),.]/y],
] as const;

/** The tokens of an action. Spaces are tokens: `a .b` has two operands, `a.b` has one. */
export function actionTokens(text: string, start: number, end: number): readonly ActionToken[] {
  const tokens: ActionToken[] = [];
  let at = start;
  while (at < end) {
    const token = tokenAt(text, at);
    if (!token || token.end > end) {
      const character = text[at]!;
      throw new TemplateError(
        /["'`]/.test(character)
          ? "a text is not closed"
          : `unexpected character ${JSON.stringify(character)} in an action`,
        at,
      );
    }
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function tokenAt(text: string, start: number): ActionToken | undefined {
  for (const [type, pattern] of PATTERNS) {
    pattern.lastIndex = start;
    const value = pattern.exec(text)?.[0];
    if (value !== undefined) return { type, value, start, end: start + value.length };
  }
  return undefined;
}

/** Offset of the `}}` that ends an action; skips quoted texts. -1 if there is none. */
export function endOfAction(text: string, start: number): number {
  const edge = /"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)'|\}\}/g;
  edge.lastIndex = start;
  for (let match = edge.exec(text); match; match = edge.exec(text)) if (match[0] === "}}") return match.index;
  return -1;
}

/** The value of a quoted text, or of a character, in Go's syntax. */
export function unquote({ value, start }: ActionToken): string | number {
  const inner = value.slice(1, -1);
  if (value[0] === "`") return inner;
  const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", '"': '"', "'": "'", "\\": "\\" };
  const text = inner.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|[\s\S])/g, (_match, code: string) => {
    if (code.length > 1) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    const replaced = ESCAPES[code];
    if (replaced === undefined) throw new TemplateError(`unknown escape \\${code} in a text`, start);
    return replaced;
  });
  return value[0] === "'" ? text.codePointAt(0)! : text;
}
