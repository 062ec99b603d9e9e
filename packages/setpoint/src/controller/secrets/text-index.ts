const BASE = 31;

/**
 * Finds many strings in a text in a single pass, by a rolling hash of their prefixes: the cost does not depend on their
 * number.
 */
export class TextIndex {
  readonly #prefixLength: number;
  /** The factor of the character that leaves the window. */
  readonly #leaving: number;
  /** By the hash of the prefix. */
  readonly #byPrefix = new Map<number, string[]>();
  #characters = 0;

  /** No string may be shorter than `prefixLength`. */
  constructor(prefixLength: number) {
    this.#prefixLength = prefixLength;
    let leaving = 1;
    for (let at = 1; at < prefixLength; at++) leaving = Math.imul(leaving, BASE);
    this.#leaving = leaving;
  }

  /** The total length of all strings. */
  get characters(): number {
    return this.#characters;
  }

  /** A string that is added twice must be removed twice. */
  add(text: string): void {
    const hash = this.#hash(text);
    const others = this.#byPrefix.get(hash);
    if (others) others.push(text);
    else this.#byPrefix.set(hash, [text]);
    this.#characters += text.length;
  }

  remove(text: string): void {
    const hash = this.#hash(text);
    const texts = this.#byPrefix.get(hash);
    const at = texts?.indexOf(text) ?? -1;
    if (!texts || at < 0) return;
    if (texts.length === 1) this.#byPrefix.delete(hash);
    else texts.splice(at, 1);
    this.#characters -= text.length;
  }

  /** The ranges of the text that contain any of the strings, in order; overlapping ranges are merged. */
  found(text: string): readonly (readonly [start: number, end: number])[] {
    const found: [number, number][] = [];
    const last = text.length - this.#prefixLength;
    if (this.#byPrefix.size === 0 || last < 0) return found;
    let hash = this.#hash(text);
    for (let start = 0; ; start++) {
      const candidates = this.#byPrefix.get(hash);
      if (candidates) {
        let end = start;
        for (const each of candidates) {
          if (start + each.length > end && text.startsWith(each, start)) end = start + each.length;
        }
        const before = found.at(-1);
        if (end > start) {
          if (before && start < before[1]) before[1] = Math.max(before[1], end);
          else found.push([start, end]);
        }
      }
      if (start === last) return found;
      hash = Math.imul(hash - Math.imul(text.charCodeAt(start), this.#leaving), BASE);
      hash = (hash + text.charCodeAt(start + this.#prefixLength)) | 0;
    }
  }

  #hash(text: string): number {
    let hash = 0;
    for (let at = 0; at < this.#prefixLength; at++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0;
    return hash;
  }
}
