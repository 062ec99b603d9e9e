import { Buffer } from "node:buffer";
import type { KubeObject } from "../../kinds/object.js";
import { ownField } from "../../kinds/own-field.js";
import { startsWith } from "./scan.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A field of an object, and how to read its text from the object or from its compact JSON. */
export class FieldPath {
  readonly #segments: readonly string[];
  /** Each segment as a key in compact JSON, with quotes. Made on first use. */
  #keys: readonly Buffer[] | undefined;

  private constructor(segments: readonly string[]) {
    this.#segments = segments;
  }

  static ofLabel(key: string): FieldPath {
    return new FieldPath(["metadata", "labels", key]);
  }

  /** `spec.nodeName`, as field selectors name it. */
  static ofField(path: string): FieldPath {
    return new FieldPath(path.split("."));
  }

  /** The text of a string, number or boolean; undefined if the field is absent, null, a list or an object. */
  textOf(object: KubeObject): string | undefined {
    let value: unknown = object;
    for (const segment of this.#segments) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
      value = ownField(value as Record<string, unknown>, segment);
    }
    return textOfValue(value);
  }

  /**
   * The same from the compact JSON in `bytes[0, end)`, without parsing the rest. API servers and `JSON.stringify` never
   * write a key twice, so the first one counts.
   */
  textIn(bytes: Buffer, end: number): string | undefined {
    this.#keys ??= this.#segments.map((segment) => Buffer.from(JSON.stringify(segment)));
    let position = 0;
    for (let depth = 0; depth < this.#keys.length; depth++) {
      if (bytes[position] !== OPEN_BRACE) return undefined;
      position = this.#valueOf(bytes, position + 1, end, depth, this.#keys[depth]!);
      if (position < 0) return undefined;
    }
    const first = bytes[position];
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return undefined;
    const valueEnd = skip(bytes, position, end);
    const isPlainString = first === QUOTE && !hasEscape(bytes, position, valueEnd);
    if (isPlainString) return bytes.toString("utf8", position + 1, valueEnd - 1);
    return textOfValue(JSON.parse(bytes.toString("utf8", position, valueEnd)));
  }

  /** The position of a segment's value among the members from `start` on; -1 if there is none. */
  #valueOf(bytes: Buffer, start: number, end: number, depth: number, key: Buffer): number {
    let position = start;
    while (position < end && bytes[position] === QUOTE) {
      const keyEnd = skip(bytes, position, end);
      if (this.#isKey(bytes, position, keyEnd, depth, key)) return keyEnd + 1;
      position = skip(bytes, keyEnd + 1, end);
      if (bytes[position] !== COMMA) return -1;
      position++;
    }
    return -1;
  }

  #isKey(bytes: Buffer, start: number, end: number, depth: number, key: Buffer): boolean {
    if (end - start === key.length && startsWith(bytes, start, key)) return true;
    return hasEscape(bytes, start, end) && JSON.parse(bytes.toString("utf8", start, end)) === this.#segments[depth];
  }
}

function textOfValue(value: unknown): string | undefined {
  return value === undefined || value === null || typeof value === "object" ? undefined : String(value);
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** The offset after the value at `start`. */
function skip(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  for (let position = start; position < end; position++) {
    const byte = bytes[position]!;
    if (byte === QUOTE) {
      for (position++; position < end && bytes[position] !== QUOTE; position++) {
        if (bytes[position] === BACKSLASH) position++;
      }
      if (depth === 0) return position + 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return position;
      if (--depth === 0) return position + 1;
    } else if (byte === COMMA && depth === 0) {
      return position;
    }
  }
  return end;
}
