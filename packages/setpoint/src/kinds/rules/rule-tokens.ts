/** Why a rule is none, and where: thrown, and told by its declaration. */
export class RuleProblem extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

export interface Token {
  readonly type: "name" | "sign" | "int" | "uint" | "double" | "string" | "bytes" | "end";
  readonly text: string;
  readonly at: number;
}

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)*/y;
const ESCAPE = `\\\\(?:[abfnrtv\\\\?"'\`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`;
const quoted = (plain: string, raw: string): string =>
  `(?:[bB]?[rR](?:"""${raw}*?"""|'''${raw}*?'''|"[^"\\n\\r]*"|'[^'\\n\\r]*')` +
  `|[bB]?(?:"""(?:${plain}|${ESCAPE})*?"""|'''(?:${plain}|${ESCAPE})*?'''` +
  `|"(?:[^"\\\\\\n\\r]|${ESCAPE})*"|'(?:[^'\\\\\\n\\r]|${ESCAPE})*'))`;
const PATTERNS: readonly (readonly [Token["type"], RegExp])[] = [
  ["string", new RegExp(quoted("[^\\\\]", "[^]"), "y")],
  ["double", /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y],
  ["int", /(?:0x[0-9a-fA-F]+|\d+)[uU]?/y],
  ["name", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["sign", /&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]/y],
];

/** The tokens of a rule, the last one being the end. */
export function ruleTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const matchAt = (pattern: RegExp, at: number): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  for (let at = matchAt(SPACE, 0)!.length; at < text.length; ) {
    const found = PATTERNS.map(([type, pattern]) => [type, matchAt(pattern, at)] as const).find(([, match]) => match);
    if (!found) throw new RuleProblem(`there is no meaning in ${JSON.stringify(text.slice(at, at + 10))}`, at);
    const [type, match] = found as [Token["type"], string];
    const exact = type === "string" && /^[rR]?[bB]/.test(match) ? "bytes" : /[uU]$/.test(match) ? "uint" : type;
    tokens.push({ type: type === "int" || type === "string" ? exact : type, text: match, at });
    at += match.length;
    at += matchAt(SPACE, at)!.length;
  }
  return [...tokens, { type: "end", text: "the end", at: text.length }];
}
