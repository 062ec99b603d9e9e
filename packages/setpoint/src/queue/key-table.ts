const NONE = -1;
/** 2^32 over the golden ratio, odd: spreads what it multiplies over all bits. */
const PRIME = 0x9e3779b1;
const INITIAL_BUCKETS = 512;
/** Below so many keys the table grows by four instead of two: fewer times, for little memory. */
const FAST_GROWTH_BELOW = 32_768;

/**
 * Gives each key a small number, its slot, by which other tables keep what they know of it. Open addressing with linear
 * probing over typed arrays: at a hundred thousand keys half the cost of a `Map`, and no object for each key.
 */
export class KeyTable {
  /**
   * Two numbers a bucket: slot + 1, or 0 where it is empty, and the hash of that slot's key, so that probing touches
   * nothing else. At most half full.
   */
  #buckets = new Int32Array(2 * INITIAL_BUCKETS);
  #capacity = INITIAL_BUCKETS / 2;
  /** By slot. A freed slot holds the empty string, so that its key can be collected. */
  readonly #keys: string[] = [];
  readonly #free: number[] = [];

  /** Every slot is below it: the size that tables by slot must have. */
  get capacity(): number {
    return this.#capacity;
  }

  get size(): number {
    return this.#keys.length - this.#free.length;
  }

  keyOf(slot: number): string {
    return this.#keys[slot]!;
  }

  /** The slot of the key, or -1. */
  find(key: string, hash: number): number {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    for (let at = (hash << 1) & mask; ; at = (at + 2) & mask) {
      const slot = buckets[at]! - 1;
      if (slot < 0) return NONE;
      if (buckets[at + 1] === hash && this.#keys[slot] === key) return slot;
    }
  }

  /** Gives a key that is not there its slot. */
  insert(key: string, hash: number): number {
    if (this.#free.length === 0 && this.#keys.length === this.#capacity) this.#grow();
    const slot = this.#free.pop() ?? this.#keys.length;
    this.#keys[slot] = key;
    this.#settle(slot + 1, hash);
    return slot;
  }

  remove(slot: number, hash: number): void {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    let hole = (hash << 1) & mask;
    while (buckets[hole] !== slot + 1) hole = (hole + 2) & mask;
    // Closes the gap: an entry moves into the hole unless that would put it before the place it hashes to.
    for (let at = (hole + 2) & mask; buckets[at] !== 0; at = (at + 2) & mask) {
      const home = (buckets[at + 1]! << 1) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      buckets[hole] = buckets[at]!;
      buckets[hole + 1] = buckets[at + 1]!;
      hole = at;
    }
    buckets[hole] = 0;
    this.#keys[slot] = "";
    this.#free.push(slot);
  }

  #settle(entry: number, hash: number): void {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    let at = (hash << 1) & mask;
    while (buckets[at] !== 0) at = (at + 2) & mask;
    buckets[at] = entry;
    buckets[at + 1] = hash;
  }

  #grow(): void {
    const buckets = this.#buckets;
    const factor = this.#capacity < FAST_GROWTH_BELOW ? 4 : 2;
    this.#capacity *= factor;
    this.#buckets = new Int32Array(buckets.length * factor);
    for (let at = 0; at < buckets.length; at += 2) {
      if (buckets[at] !== 0) this.#settle(buckets[at]!, buckets[at + 1]!);
    }
  }
}

/** Continues `hash` over the characters of `text` in [from, to). Start with a random seed: keys are chosen by users. */
export function hashText(text: string, from: number, to: number, hash: number): number {
  let mixed = hash;
  let at = from;
  for (; at + 1 < to; at += 2) {
    mixed = Math.imul(mixed ^ text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 16), PRIME) ^ (mixed >>> 15);
  }
  if (at < to) mixed = Math.imul(mixed ^ text.charCodeAt(at), PRIME);
  // Numbered names differ in few bits: without this they would settle side by side, and probing would get long.
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** A copy of `array` with room for `capacity` entries. */
export function enlarged<Numbers extends Int32Array | Uint8Array | Float64Array>(
  array: Numbers,
  capacity: number,
): Numbers {
  const larger = new (array.constructor as new (length: number) => Numbers)(capacity);
  larger.set(array);
  return larger;
}
