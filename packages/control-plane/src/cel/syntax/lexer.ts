import type { Issue } from "./issue.js";

/** Thrown at the first invalid or misplaced token. */
export class SyntaxProblem extends Error {
  readonly issue: Issue;

  constructor(message: string, at: number) {
    super(message);
    this.issue = { at, message };
  }
}

export type Token =
  | { readonly type: "identifier" | "quoted-identifier" | "sign"; readonly text: string; readonly at: number }
  | { readonly type: "int" | "uint" | "double"; readonly text: string; readonly at: number }
  | { readonly type: "string"; readonly text: string; readonly value: string; readonly at: number }
  | { readonly type: "bytes"; readonly text: string; readonly value: Uint8Array; readonly at: number }
  | { readonly type: "end"; readonly text: "<EOF>"; readonly at: number };

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y;
const DOUBLE = /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y;
const INTEGER = /(?:0x[0-9a-fA-F]+|\d+)[uU]?/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED_IDENTIFIER = /`[A-Za-z0-9_.\-/ ]+`/y;
const QUOTE = /((?:[bB][rR]?|[rR])?)("""|'''|"|')/y;
const SIGN = /&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]/y;

/** The tokens of an expression, followed by an end token. */
export function tokens(text: string): readonly Token[] {
  const result: Token[] = [];
  let at = 0;
  while (true) {
    at += matchAt(SPACE, text, at)?.[0].length ?? 0;
    if (at >= text.length) break;
    const token = tokenAt(text, at);
    result.push(token);
    at += token.text.length;
  }
  result.push({ type: "end", text: "<EOF>", at: text.length });
  return result;
}

function tokenAt(text: string, at: number): Token {
  const quote = matchAt(QUOTE, text, at);
  if (quote !== undefined) return quotedToken(text, at, quote);
  const double = matchAt(DOUBLE, text, at)?.[0];
  if (double !== undefined) return { type: "double", text: double, at };
  const integer = matchAt(INTEGER, text, at)?.[0];
  if (integer !== undefined) return { type: /[uU]$/.test(integer) ? "uint" : "int", text: integer, at };
  const identifier = matchAt(IDENTIFIER, text, at)?.[0];
  if (identifier !== undefined) return { type: "identifier", text: identifier, at };
  const escaped = matchAt(QUOTED_IDENTIFIER, text, at)?.[0];
  if (escaped !== undefined) return { type: "quoted-identifier", text: escaped, at };
  const sign = matchAt(SIGN, text, at)?.[0];
  if (sign !== undefined) return { type: "sign", text: sign, at };
  throw new SyntaxProblem(
    `Syntax error: token recognition error at: '${String.fromCodePoint(text.codePointAt(at)!)}'`,
    at,
  );
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function quotedToken(text: string, at: number, [opening, prefix = "", quote = ""]: RegExpExecArray): Token {
  const isRaw = /r/i.test(prefix);
  const start = at + opening.length;
  let end = start;
  while (!text.startsWith(quote, end)) {
    if (end >= text.length || (quote.length === 1 && /[\n\r]/.test(text[end]!))) {
      throw new SyntaxProblem(`Syntax error: token recognition error at: '${text.slice(at, end)}'`, at);
    }
    end += text[end] === "\\" && !isRaw ? 2 : 1;
  }
  const content = text.slice(start, end);
  const whole = text.slice(at, end + quote.length);
  if (/b/i.test(prefix)) {
    return { type: "bytes", text: whole, value: isRaw ? Buffer.from(content) : unescapedBytes(content, at), at };
  }
  return { type: "string", text: whole, value: isRaw ? content : unescapedText(content, at), at };
}

const ESCAPE =
  /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]|$))/g;
const NAMED: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

function unescapedText(content: string, at: number): string {
  return content.replace(ESCAPE, (sequence, named, byte, short, long, octal) => {
    if (named !== undefined) return NAMED[named as string] ?? (named as string);
    const hexadecimal = byte ?? short ?? long;
    if (hexadecimal !== undefined) return character(Number.parseInt(hexadecimal as string, 16), at);
    if (octal !== undefined) return character(Number.parseInt(octal as string, 8), at);
    throw new SyntaxProblem(`Syntax error: token recognition error at: '${sequence}'`, at);
  });
}

function character(code: number, at: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw new SyntaxProblem("invalid unicode code point", at);
  return String.fromCodePoint(code);
}

function unescapedBytes(content: string, at: number): Uint8Array {
  const parts: Buffer[] = [];
  let last = 0;
  for (const match of content.matchAll(ESCAPE)) {
    parts.push(Buffer.from(content.slice(last, match.index)));
    const [sequence, , byte, short, long, octal] = match;
    if (short !== undefined || long !== undefined) throw new SyntaxProblem("unable to unescape string", at);
    if (byte !== undefined) parts.push(Buffer.from([Number.parseInt(byte, 16)]));
    else if (octal !== undefined) parts.push(Buffer.from([Number.parseInt(octal, 8)]));
    else parts.push(Buffer.from(unescapedText(sequence, at)));
    last = match.index + sequence.length;
  }
  parts.push(Buffer.from(content.slice(last)));
  return Buffer.concat(parts);
}
