/** Text that is no CEL. `at` is where. */
export class SyntaxProblem extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

export type Token =
  | { readonly type: "identifier" | "sign"; readonly text: string; readonly at: number }
  | { readonly type: "int" | "uint"; readonly value: bigint; readonly at: number }
  | { readonly type: "double"; readonly value: number; readonly at: number }
  | { readonly type: "string"; readonly value: string; readonly at: number }
  | { readonly type: "bytes"; readonly value: Uint8Array; readonly at: number }
  | { readonly type: "end"; readonly at: number };

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y;
const NUMBER = /0x[0-9a-fA-F]+u?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+u?/iy;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTE = /([rRbB]{0,2})("""|'''|"|')/y;
const SIGN = /&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]/y;

/** The tokens of an expression, the last one being the end. */
export function tokens(text: string): readonly Token[] {
  const result: Token[] = [];
  let at = 0;
  while (true) {
    at += matchAt(SPACE, text, at)?.[0].length ?? 0;
    if (at >= text.length) break;
    const quote = matchAt(QUOTE, text, at);
    if (quote !== undefined) {
      const end = readQuoted(text, at, quote, result);
      at = end;
      continue;
    }
    const number = matchAt(NUMBER, text, at)?.[0];
    if (number !== undefined) {
      result.push(numberToken(number, at));
      at += number.length;
      continue;
    }
    const identifier = matchAt(IDENTIFIER, text, at)?.[0];
    if (identifier !== undefined) {
      result.push({ type: "identifier", text: identifier, at });
      at += identifier.length;
      continue;
    }
    const sign = matchAt(SIGN, text, at)?.[0];
    if (sign === undefined) throw new SyntaxProblem(`token recognition error at: '${text[at]}'`, at);
    result.push({ type: "sign", text: sign, at });
    at += sign.length;
  }
  result.push({ type: "end", at: text.length });
  return result;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function numberToken(text: string, at: number): Token {
  if (/^\d*\.|^\d+[eE]/.test(text) && !/^0x/i.test(text)) return { type: "double", value: Number(text), at };
  const isUnsigned = /u$/i.test(text);
  const value = BigInt(isUnsigned ? text.slice(0, -1) : text);
  return { type: isUnsigned ? "uint" : "int", value, at };
}

/** Reads a string or bytes literal from its prefix on; returns where it ends. */
function readQuoted(
  text: string,
  at: number,
  [opening, prefix = "", quote = ""]: RegExpExecArray,
  result: Token[],
): number {
  const isRaw = /r/i.test(prefix);
  const isBytes = /b/i.test(prefix);
  const start = at + opening.length;
  let end = start;
  while (!text.startsWith(quote, end)) {
    if (end >= text.length || (quote.length === 1 && text[end] === "\n")) {
      throw new SyntaxProblem(`token recognition error at: '${text.slice(at, at + 20)}'`, at);
    }
    end += text[end] === "\\" && !isRaw ? 2 : 1;
  }
  const content = text.slice(start, end);
  if (isBytes) {
    result.push({ type: "bytes", value: isRaw ? Buffer.from(content) : unescapeBytes(content, at), at });
  } else {
    result.push({ type: "string", value: isRaw ? content : unescapeText(content, at), at });
  }
  return end + quote.length;
}

const ESCAPE =
  /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]|$))/g;
const NAMED: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

function unescapeText(content: string, at: number): string {
  return content.replace(ESCAPE, (sequence, named, byte, short, long, octal) => {
    if (named !== undefined) return NAMED[named as string] ?? (named as string);
    const code = byte ?? short ?? long;
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code as string, 16));
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal as string, 8));
    throw new SyntaxProblem(`invalid escape sequence ${sequence}`, at);
  });
}

function unescapeBytes(content: string, at: number): Uint8Array {
  const parts: Buffer[] = [];
  let last = 0;
  for (const match of content.matchAll(ESCAPE)) {
    parts.push(Buffer.from(content.slice(last, match.index)));
    const [sequence, , byte, , , octal] = match;
    if (byte !== undefined) parts.push(Buffer.from([Number.parseInt(byte, 16)]));
    else if (octal !== undefined) parts.push(Buffer.from([Number.parseInt(octal, 8)]));
    else parts.push(Buffer.from(unescapeText(sequence, at)));
    last = match.index + sequence.length;
  }
  parts.push(Buffer.from(content.slice(last)));
  return Buffer.concat(parts);
}
