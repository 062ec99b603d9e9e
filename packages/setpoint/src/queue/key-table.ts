const NONE = -1;
/** 2^32 over the golden ratio, odd: a multiplication spreads bits evenly. */
const PRIME = 0x9e3779b1;
const INITIAL_CAPACITY = 256;
/** Below this number of keys the table grows by eight instead of two: fewer times, for little memory. */
const FAST_GROWTH_BELOW = 32_768;

/**
 * Gives each key a small number, its slot, by which other tables store data about it. Open addressing with linear
 * probing over typed arrays: at a hundred thousand keys half the cost of a `Map`, without an object per key. Small at
 * first, because touching a new page of memory costs as much as several keys.
 */
export class KeyTable {
  /**
   * Slot + 1 in the lower bits, or 0 if the bucket is empty; in the upper bits, those of the hash of the slot's key, so
   * that probing rarely compares another key. At most half full.
   */
  #buckets = new Int32Array(2 * INITIAL_CAPACITY);
  /** The lower bits: a power of two above every slot + 1, less one. */
  #slotBits = 2 * INITIAL_CAPACITY - 1;
  #capacity = INITIAL_CAPACITY;
  /** By slot. A freed slot has the empty string, so that its key can be garbage collected. */
  readonly #keys: string[] = [];
  /** By slot: the hash of its key; for a freed slot, the previously freed one, or -1. */
  #hashes = new Int32Array(INITIAL_CAPACITY);
  #lastFreed = NONE;
  /** How many slots were ever used. */
  #used = 0;
  #size = 0;

  /** Every slot is below it: the size of tables by slot. */
  get capacity(): number {
    return this.#capacity;
  }

  get size(): number {
    return this.#size;
  }

  keyOf(slot: number): string {
    return this.#keys[slot]!;
  }

  /** The slot of the key, or -1. */
  find(key: string, hash: number): number {
    const buckets = this.#buckets;
    const slotBits = this.#slotBits;
    const mask = buckets.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const entry = buckets[at]!;
      if (entry === 0) return NONE;
      if (((entry ^ hash) & ~slotBits) !== 0) continue;
      const slot = (entry & slotBits) - 1;
      if (this.#keys[slot] === key) return slot;
    }
  }

  /** Gives a new key its slot. */
  insert(key: string, hash: number): number {
    if (this.#size === this.#capacity) this.#grow();
    const slot = this.#newSlot();
    this.#size++;
    this.#keys[slot] = key;
    this.#hashes[slot] = hash;
    this.#settle(slot);
    return slot;
  }

  remove(slot: number): void {
    const buckets = this.#buckets;
    const slotBits = this.#slotBits;
    const hashes = this.#hashes;
    const mask = buckets.length - 1;
    let hole = hashes[slot]! & mask;
    while ((buckets[hole]! & slotBits) !== slot + 1) hole = (hole + 1) & mask;
    // Closes the gap: an entry moves into the hole unless that would put it before its hash position.
    for (let at = (hole + 1) & mask; buckets[at] !== 0; at = (at + 1) & mask) {
      const home = hashes[(buckets[at]! & slotBits) - 1]! & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      buckets[hole] = buckets[at]!;
      hole = at;
    }
    buckets[hole] = 0;
    this.#keys[slot] = "";
    hashes[slot] = this.#lastFreed;
    this.#lastFreed = slot;
    this.#size--;
  }

  #newSlot(): number {
    if (this.#lastFreed < 0) return this.#used++;
    const slot = this.#lastFreed;
    this.#lastFreed = this.#hashes[slot]!;
    return slot;
  }

  #settle(slot: number): void {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    const hash = this.#hashes[slot]!;
    let at = hash & mask;
    while (buckets[at] !== 0) at = (at + 1) & mask;
    buckets[at] = (hash & ~this.#slotBits) | (slot + 1);
  }

  /** All slots are taken when the table grows. */
  #grow(): void {
    this.#capacity *= this.#capacity < FAST_GROWTH_BELOW ? 8 : 2;
    this.#hashes = enlarged(this.#hashes, this.#capacity);
    this.#keys.length = this.#capacity;
    this.#buckets = new Int32Array(2 * this.#capacity);
    this.#slotBits = 2 * this.#capacity - 1;
    for (let slot = 0; slot < this.#used; slot++) this.#settle(slot);
  }
}

/** Continues `hash` over the characters of `text` in [from, to). Start with a random seed: users choose keys. */
export function hashText(text: string, from: number, to: number, hash: number): number {
  let mixed = hash;
  let at = from;
  for (; at + 1 < to; at += 2) {
    mixed = Math.imul(mixed ^ text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 16), PRIME) ^ (mixed >>> 15);
  }
  if (at < to) mixed = Math.imul(mixed ^ text.charCodeAt(at), PRIME);
  // Numbered names differ in few bits: without mixing they would cluster, and probing would be slow.
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
