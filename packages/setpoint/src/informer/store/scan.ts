import type { Buffer } from "node:buffer";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const UNSURE = -1;

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const API_VERSION = bytesOf("apiVersion");
const KIND = bytesOf("kind");
const METADATA = bytesOf("metadata");
const MANAGED_FIELDS = bytesOf("managedFields");
const NAME = bytesOf("name");
const NAMESPACE = bytesOf("namespace");
const RESOURCE_VERSION = bytesOf("resourceVersion");
const UID = bytesOf("uid");

/**
 * Finds in compact JSON what the store needs to know about an object, without parsing it: the identity, and the
 * position of `managedFields`. It walks the whole object, so that it notices a truncated one.
 *
 * It never guesses. If it finds anything unexpected (white space between members, an escape in a name, a duplicate
 * key), `scan` returns false and the caller parses. Instances are reused: each field has the offsets of the last
 * `scan`, both 0 if the member was absent.
 */
export class ObjectScanner {
  apiVersionStart = 0;
  apiVersionEnd = 0;
  kindStart = 0;
  kindEnd = 0;
  nameStart = 0;
  nameEnd = 0;
  namespaceStart = 0;
  namespaceEnd = 0;
  resourceVersionStart = 0;
  resourceVersionEnd = 0;
  uidStart = 0;
  uidEnd = 0;
  /** The value of `managedFields`. */
  managedFieldsStart = 0;
  managedFieldsEnd = 0;
  /** The range to cut to remove `managedFields`: key, value and one comma. */
  cutStart = 0;
  cutEnd = 0;
  #end = 0;
  /** What the last `scan` returned. */
  isUnderstood = false;

  /** Whether `bytes[start, end)` is one object that was fully scanned. */
  scan(bytes: Buffer, start: number, end: number): boolean {
    this.isUnderstood = this.#scan(bytes, start, end);
    return this.isUnderstood;
  }

  #scan(bytes: Buffer, start: number, end: number): boolean {
    this.apiVersionEnd = this.kindEnd = this.nameEnd = this.namespaceEnd = 0;
    this.resourceVersionEnd = this.uidEnd = this.managedFieldsEnd = this.cutEnd = 0;
    this.apiVersionStart = this.kindStart = this.nameStart = this.namespaceStart = 0;
    this.resourceVersionStart = this.uidStart = this.managedFieldsStart = this.cutStart = 0;
    this.#end = end;
    if (bytes[start] !== OPEN_BRACE || end - start < 2) return false;
    let position = start + 1;
    let hasMetadata = false;
    for (;;) {
      const keyStart = position + 1;
      const keyEnd = this.#plainString(bytes, position);
      if (keyEnd === UNSURE || bytes[keyEnd + 1] !== COLON) return false;
      const valueStart = keyEnd + 2;
      if (equals(bytes, keyStart, keyEnd, METADATA)) {
        if (hasMetadata || bytes[valueStart] !== OPEN_BRACE) return false;
        hasMetadata = true;
        position = this.#metadata(bytes, valueStart);
      } else if (equals(bytes, keyStart, keyEnd, KIND)) {
        if (this.kindEnd !== 0) return false;
        this.kindStart = valueStart + 1;
        this.kindEnd = this.#plainString(bytes, valueStart);
        position = this.kindEnd === UNSURE ? UNSURE : this.kindEnd + 1;
      } else if (equals(bytes, keyStart, keyEnd, API_VERSION)) {
        if (this.apiVersionEnd !== 0) return false;
        this.apiVersionStart = valueStart + 1;
        this.apiVersionEnd = this.#plainString(bytes, valueStart);
        position = this.apiVersionEnd === UNSURE ? UNSURE : this.apiVersionEnd + 1;
      } else {
        position = this.#skip(bytes, valueStart);
      }
      if (position === UNSURE || position >= end) return false;
      const next = bytes[position];
      if (next === COMMA) position++;
      else return next === CLOSE_BRACE && position + 1 === end && this.nameEnd > this.nameStart;
    }
  }

  /** Reads the members of `metadata`; returns the offset after it. */
  #metadata(bytes: Buffer, start: number): number {
    let position = start + 1;
    if (bytes[position] === CLOSE_BRACE) return position + 1;
    let before = start;
    for (;;) {
      const keyStart = position + 1;
      const keyEnd = this.#plainString(bytes, position);
      if (keyEnd === UNSURE || bytes[keyEnd + 1] !== COLON) return UNSURE;
      const valueStart = keyEnd + 2;
      let valueEnd = UNSURE;
      if (equals(bytes, keyStart, keyEnd, MANAGED_FIELDS)) {
        if (this.managedFieldsEnd !== 0) return UNSURE;
        valueEnd = this.#skip(bytes, valueStart);
        if (valueEnd === UNSURE) return UNSURE;
        this.managedFieldsStart = valueStart;
        this.managedFieldsEnd = valueEnd;
        const isLast = bytes[valueEnd] !== COMMA;
        this.cutStart = isLast && bytes[before] === COMMA ? before : position;
        this.cutEnd = isLast ? valueEnd : valueEnd + 1;
      } else if (equals(bytes, keyStart, keyEnd, NAME)) {
        if (this.nameEnd !== 0) return UNSURE;
        this.nameStart = valueStart + 1;
        this.nameEnd = this.#plainString(bytes, valueStart);
        if (this.nameEnd !== UNSURE) valueEnd = this.nameEnd + 1;
      } else if (equals(bytes, keyStart, keyEnd, NAMESPACE)) {
        if (this.namespaceEnd !== 0) return UNSURE;
        this.namespaceStart = valueStart + 1;
        this.namespaceEnd = this.#plainString(bytes, valueStart);
        if (this.namespaceEnd !== UNSURE) valueEnd = this.namespaceEnd + 1;
      } else if (equals(bytes, keyStart, keyEnd, RESOURCE_VERSION)) {
        if (this.resourceVersionEnd !== 0) return UNSURE;
        this.resourceVersionStart = valueStart + 1;
        this.resourceVersionEnd = this.#plainString(bytes, valueStart);
        if (this.resourceVersionEnd !== UNSURE) valueEnd = this.resourceVersionEnd + 1;
      } else if (equals(bytes, keyStart, keyEnd, UID)) {
        if (this.uidEnd !== 0) return UNSURE;
        this.uidStart = valueStart + 1;
        this.uidEnd = this.#plainString(bytes, valueStart);
        if (this.uidEnd !== UNSURE) valueEnd = this.uidEnd + 1;
      } else {
        valueEnd = this.#skip(bytes, valueStart);
      }
      if (valueEnd === UNSURE || valueEnd >= this.#end) return UNSURE;
      const next = bytes[valueEnd];
      if (next === CLOSE_BRACE) return valueEnd + 1;
      if (next !== COMMA) return UNSURE;
      before = valueEnd;
      position = valueEnd + 1;
    }
  }

  /** The offset of the closing quote of the string at `start`, if it is plain ASCII without escapes. */
  #plainString(bytes: Buffer, start: number): number {
    if (bytes[start] !== QUOTE) return UNSURE;
    for (let position = start + 1; position < this.#end; position++) {
      const byte = bytes[position]!;
      if (byte === QUOTE) return position;
      if (byte === BACKSLASH || byte >= 0x80) return UNSURE;
    }
    return UNSURE;
  }

  /** The offset after the value at `start`, of any type. */
  #skip(bytes: Buffer, start: number): number {
    const end = this.#end;
    let depth = 0;
    for (let position = start; position < end; position++) {
      const byte = bytes[position]!;
      if (byte === QUOTE) {
        for (position++; position < end && bytes[position] !== QUOTE; position++) {
          if (bytes[position] === BACKSLASH) position++;
        }
        if (position >= end) return UNSURE;
        if (depth === 0) return position + 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (depth === 0) return position > start ? position : UNSURE;
        if (--depth === 0) return position + 1;
      } else if (byte === COMMA && depth === 0) {
        return position > start ? position : UNSURE;
      }
    }
    return UNSURE;
  }
}

function equals(bytes: Buffer, start: number, end: number, text: Uint8Array): boolean {
  return end - start === text.length && startsWith(bytes, start, text);
}

/** Whether `bytes` continues with `text` at `start`. */
export function startsWith(bytes: Buffer, start: number, text: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text[at]) return false;
  return true;
}

/** The parts of a list response as ranges of its bytes. */
export interface ListRanges {
  /** Everything but the items: parse it for `metadata`, `kind` and `apiVersion`. */
  readonly envelope: string;
  readonly items: readonly (readonly [start: number, end: number])[];
}

/** Splits a list response into its items without parsing them; undefined if it is not compact JSON as servers send it. */
export function scanList(bytes: Buffer): ListRanges | undefined {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1]! <= 0x20) end--;
  const marker = itemsOffset(bytes, end);
  if (marker === UNSURE) return undefined;
  const items: [number, number][] = [];
  let position = marker;
  if (bytes[position] !== CLOSE_BRACKET) {
    for (;;) {
      if (bytes[position] !== OPEN_BRACE) return undefined;
      const itemEnd = containerEnd(bytes, position, end);
      if (itemEnd === UNSURE) return undefined;
      items.push([position, itemEnd]);
      position = itemEnd;
      if (bytes[position] === CLOSE_BRACKET) break;
      if (bytes[position] !== COMMA) return undefined;
      position++;
    }
  }
  return { envelope: bytes.toString("utf8", 0, marker) + bytes.toString("utf8", position, end), items };
}

/** The offset after the bracket that opens the top-level `items`. */
function itemsOffset(bytes: Buffer, end: number): number {
  let depth = 0;
  for (let position = 0; position < end; position++) {
    const byte = bytes[position]!;
    if (byte === QUOTE) {
      const isItems = depth === 1 && bytes.toString("latin1", position, position + 9) === '"items":[';
      if (isItems) return position + 9;
      for (position++; position < end && bytes[position] !== QUOTE; position++) {
        if (bytes[position] === BACKSLASH) position++;
      }
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
    }
  }
  return UNSURE;
}

function containerEnd(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  for (let position = start; position < end; position++) {
    const byte = bytes[position]!;
    if (byte === QUOTE) {
      for (position++; position < end && bytes[position] !== QUOTE; position++) {
        if (bytes[position] === BACKSLASH) position++;
      }
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (--depth === 0) return position + 1;
    }
  }
  return UNSURE;
}
