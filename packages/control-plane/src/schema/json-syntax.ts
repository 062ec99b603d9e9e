import { goQuote } from "../api/go-format.js";

/**
 * The message of Go's encoding/json for text that is not JSON. The JavaScript engine does the parsing. This scans a
 * text again only to word the error, so its speed does not matter.
 */
export function goSyntaxError(text: string): string {
  try {
    const end = new Scanner(text).document();
    return end === undefined ? "unexpected end of JSON input" : end;
  } catch (error) {
    if (error instanceof SyntaxProblem) return error.message;
    throw error;
  }
}

class SyntaxProblem extends Error {}

/** Go quotes the character like a string, except for quotes. */
function quoteCharacter(character: string): string {
  if (character === "'") return "'\\''";
  return character === '"' ? "'\"'" : `'${goQuote(character).slice(1, -1)}'`;
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): undefined {
    this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail("after top-level value");
    return undefined;
  }

  #value(): void {
    // Track nesting in a list instead of recursing, because the text may be hostile.
    const open: ("object" | "array")[] = [];
    for (;;) {
      if (this.#startsContainer(open)) continue;
      if (!this.#afterValue(open)) return;
    }
  }

  /** Reads the start of a value. Returns whether another value follows within it. */
  #startsContainer(open: ("object" | "array")[]): boolean {
    this.#space();
    const character = this.#text[this.#at];
    if (character === "{") {
      this.#at++;
      this.#space();
      if (this.#text[this.#at] === "}") {
        this.#at++;
        return false;
      }
      open.push("object");
      this.#key();
      return true;
    }
    if (character === "[") {
      this.#at++;
      this.#space();
      if (this.#text[this.#at] === "]") {
        this.#at++;
        return false;
      }
      open.push("array");
      return true;
    }
    this.#scalar();
    return false;
  }

  /** Reads what follows a value within its container. Returns false at the end of the document's value. */
  #afterValue(open: ("object" | "array")[]): boolean {
    for (;;) {
      const container = open.at(-1);
      if (container === undefined) return false;
      this.#space();
      const character = this.#text[this.#at];
      if (character === undefined) this.#end();
      if (character === ",") {
        this.#at++;
        if (container === "object") {
          this.#space();
          this.#key();
        }
        return true;
      }
      if (character !== (container === "object" ? "}" : "]")) {
        this.#fail(container === "object" ? "after object key:value pair" : "after array element");
      }
      this.#at++;
      open.pop();
    }
  }

  #key(): void {
    if (this.#at >= this.#text.length) this.#end();
    if (this.#text[this.#at] !== '"') this.#fail("looking for beginning of object key string");
    this.#string();
    this.#space();
    if (this.#at >= this.#text.length) this.#end();
    if (this.#text[this.#at] !== ":") this.#fail("after object key");
    this.#at++;
  }

  #scalar(): void {
    const character = this.#text[this.#at];
    if (character === undefined) this.#end();
    const literal = ["true", "false", "null"].find((each) => each[0] === character);
    if (character === '"') this.#string();
    else if (character === "-" || (character >= "0" && character <= "9")) this.#number();
    else if (literal !== undefined) this.#literal(literal);
    else this.#fail("looking for beginning of value");
  }

  #string(): void {
    for (this.#at++; ; this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) this.#end();
      if (character === '"') break;
      if (character < " ") this.#fail("in string literal");
      if (character === "\\") this.#escape();
    }
    this.#at++;
  }

  #escape(): void {
    const character = this.#text[++this.#at];
    if (character === undefined) this.#end();
    if (!'"\\/bfnrtu'.includes(character)) this.#fail("in string escape code");
    if (character !== "u") return;
    for (let digit = 0; digit < 4; digit++) {
      const hex = this.#text[++this.#at];
      if (hex === undefined) this.#end();
      if (!/[0-9a-fA-F]/.test(hex)) this.#fail("in \\u hexadecimal character escape");
    }
  }

  #number(): void {
    if (this.#text[this.#at] === "-") this.#at++;
    this.#digits("in numeric literal", true);
    if (this.#text[this.#at] === ".") {
      this.#at++;
      this.#digits("after decimal point in numeric literal", false);
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at++;
      if (/[+-]/.test(this.#text[this.#at] ?? "")) this.#at++;
      this.#digits("in exponent of numeric literal", false);
    }
  }

  #digits(where: string, stopsAfterZero: boolean): void {
    const first = this.#text[this.#at];
    if (first === undefined) this.#end();
    if (!/\d/.test(first)) this.#fail(where);
    this.#at++;
    if (stopsAfterZero && first === "0") return;
    while (/\d/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #literal(literal: string): void {
    for (let index = 0; index < literal.length; index++, this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) this.#end();
      if (character !== literal[index]) this.#fail(`in literal ${literal} (expecting '${literal[index]}')`);
    }
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #fail(where: string): never {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    throw new SyntaxProblem(`invalid character ${quoteCharacter(character)} ${where}`);
  }

  #end(): never {
    throw new SyntaxProblem("unexpected end of JSON input");
  }
}
