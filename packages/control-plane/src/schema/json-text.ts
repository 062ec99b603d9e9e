import { BoundedTexts } from "../api/error-budget.js";
import { isArray, type Json } from "../api/json.js";
import { MAX_DEPTH } from "./depth.js";

/**
 * Paths of duplicate keys: `spec.replicas`, `spec.list[0].name`. Each path once, in text order, as many as a response
 * names.
 */
export type DuplicateKeys = readonly string[];

/** Finds duplicate keys of an object, of which JSON.parse silently keeps the last. `value` is the parsed text. */
export function duplicateKeys(text: string, value: Json): DuplicateKeys {
  return isPlainText(text, value) ? [] : findDuplicates(text);
}

/**
 * Whether a text has no duplicate key and nests no deeper than `MAX_DEPTH`. Nearly every text is plain, and counting
 * keys is faster than locating duplicates.
 */
export function isPlainText(text: string, value: Json): boolean {
  return keysIn(text) === keysOf(value, MAX_DEPTH);
}

/** Counts the keys of a text by its colons. */
function keysIn(text: string): number {
  let keys = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x3a) keys++;
    else if (character === 0x22) at = endOfString(text, at);
  }
  return keys;
}

/** NaN if the value nests deeper than `depth`. */
function keysOf(value: Json, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth === 0) return Number.NaN;
  let keys = 0;
  if (isArray(value)) {
    for (const item of value) keys += keysOf(item, depth - 1);
  } else {
    for (const key in value) keys += 1 + keysOf(value[key]!, depth - 1);
  }
  return keys;
}

/** The text must be valid JSON. It is read once, from start to end. */
function findDuplicates(text: string): DuplicateKeys {
  const found = new BoundedTexts();
  const root = new Place(undefined, "");
  const stack: Frame[] = [];
  let at = 0;
  let frame: Frame | undefined;
  let isKeyNext = false;
  while (at < text.length && !found.isFull) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        stack.push((frame = { place: placeOf(frame, root), keys: new Set(), step: "" }));
        isKeyNext = true;
        break;
      case 0x5b: // [
        stack.push((frame = { place: placeOf(frame, root), index: 0, step: "[0]" }));
        isKeyNext = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        stack.pop();
        frame = stack.at(-1);
        isKeyNext = false;
        break;
      case 0x2c: // ,
        if (frame === undefined) break;
        if ("keys" in frame) isKeyNext = true;
        else frame.step = `[${++frame.index}]`;
        break;
      case 0x22: {
        // "
        const end = endOfString(text, at);
        if (isKeyNext && frame !== undefined && "keys" in frame) {
          const raw = text.slice(at + 1, end);
          const key = raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
          frame.step = stack.length === 1 ? key : `.${key}`;
          if (frame.keys.has(key) && frame.place.reportsFirst(key)) found.add(frame.place.pathOf(frame.step));
          frame.keys.add(key);
          isKeyNext = false;
        }
        at = end;
        break;
      }
    }
    at++;
  }
  return found.texts;
}

type Frame = { readonly place: Place } & (
  | { readonly keys: Set<string>; step: string }
  | { index: number; step: string }
);

function placeOf(frame: Frame | undefined, root: Place): Place {
  return frame === undefined ? root : frame.place.at(frame.step);
}

/**
 * A path in the document, shared by all values at that path: a duplicate key has several. The path text is built on
 * demand, because a text per value would be quadratic in a deeply nested document.
 */
class Place {
  readonly #parent: Place | undefined;
  readonly #step: string;
  readonly #children = new Map<string, Place>();
  readonly #reported = new Set<string>();

  constructor(parent: Place | undefined, step: string) {
    this.#parent = parent;
    this.#step = step;
  }

  at(step: string): Place {
    let place = this.#children.get(step);
    if (place === undefined) this.#children.set(step, (place = new Place(this, step)));
    return place;
  }

  /** Returns true the first time a key is reported. */
  reportsFirst(key: string): boolean {
    if (this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  pathOf(step: string): string {
    const steps = [step];
    for (let place: Place | undefined = this; place !== undefined; place = place.#parent) steps.push(place.#step);
    return steps.reverse().join("");
  }
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
