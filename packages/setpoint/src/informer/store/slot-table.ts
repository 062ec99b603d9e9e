import { Buffer } from "node:buffer";
import type { Slot } from "./store.js";

/** 2^32 over the golden ratio, odd: a multiplication spreads bits evenly. */
const PRIME = 0x9e3779b1;
const SLASH = 0x2f;
const FIRST_BUCKETS = 64;

/** A key as UTF-8 bytes, so that storing and finding it needs no string. Instances are reused. */
export class KeyBytes {
  bytes = Buffer.allocUnsafe(512);
  length = 0;

  set(key: string): this {
    this.#reserve(key.length);
    for (let at = 0; at < key.length; at++) {
      const code = key.charCodeAt(at);
      if (code >= 0x80) return this.#encode(key);
      this.bytes[at] = code;
    }
    this.length = key.length;
    return this;
  }

  /** `namespace/name`, or just the name if the namespace is empty, from ranges of `source`. */
  join(source: Buffer, namespaceStart: number, namespaceEnd: number, nameStart: number, nameEnd: number): this {
    this.#reserve(namespaceEnd - namespaceStart + 1 + nameEnd - nameStart);
    const target = this.bytes;
    let length = 0;
    for (let at = namespaceStart; at < namespaceEnd; at++) target[length++] = source[at]!;
    if (length > 0) target[length++] = SLASH;
    for (let at = nameStart; at < nameEnd; at++) target[length++] = source[at]!;
    this.length = length;
    return this;
  }

  hash(seed: number): number {
    let mixed = seed;
    for (let at = 0; at < this.length; at++) mixed = Math.imul(mixed ^ this.bytes[at]!, PRIME) ^ (mixed >>> 15);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    return mixed ^ (mixed >>> 13);
  }

  toString(): string {
    return this.bytes.toString("utf8", 0, this.length);
  }

  #encode(key: string): this {
    this.#reserve(key.length * 3);
    this.length = this.bytes.write(key, "utf8");
    return this;
  }

  #reserve(length: number): void {
    if (length > this.bytes.length) this.bytes = Buffer.allocUnsafe(length);
  }
}

/** The position of the keys of slots. */
export interface KeyCells {
  /** The seed of the key hash: users choose keys and must not be able to predict it. */
  readonly seed: number;
  isKeyOf(slot: Slot, key: KeyBytes): boolean;
}

/**
 * Slots by key, in insertion order, like a `Map`, but with typed arrays and without the keys, which are stored with the
 * bodies. In a cache of twenty thousand objects, key strings would be most of what the garbage collector has to move.
 */
export class SlotTable {
  readonly #cells: KeyCells;
  /** Open addressing with linear probing: entry + 1, or 0 if empty. At most three quarters full. */
  #buckets = new Int32Array(FIRST_BUCKETS);
  /** By entry: its slot, or -1 if it was removed, and the hash of its key. */
  #slots = new Int32Array(roomFor(FIRST_BUCKETS));
  #hashes = new Int32Array(roomFor(FIRST_BUCKETS));
  #entries = 0;
  #size = 0;

  constructor(cells: KeyCells) {
    this.#cells = cells;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes kept. */
  get bytes(): number {
    return 4 * (this.#buckets.length + this.#slots.length + this.#hashes.length);
  }

  get(key: KeyBytes): Slot | undefined {
    const bucket = this.#find(key, key.hash(this.#cells.seed));
    return bucket < 0 ? undefined : this.#slots[this.#buckets[bucket]! - 1];
  }

  /** Sets the slot of the key; returns the previous one. */
  set(key: KeyBytes, slot: Slot): Slot | undefined {
    const hash = key.hash(this.#cells.seed);
    const bucket = this.#find(key, hash);
    if (bucket >= 0) {
      const entry = this.#buckets[bucket]! - 1;
      const before = this.#slots[entry]!;
      this.#slots[entry] = slot;
      return before;
    }
    if (this.#entries === this.#slots.length) this.#rebuild();
    this.#slots[this.#entries] = slot;
    this.#hashes[this.#entries] = hash;
    this.#settle(this.#entries++);
    this.#size++;
    return undefined;
  }

  /** Returns the slot that the key had. */
  delete(key: KeyBytes): Slot | undefined {
    const bucket = this.#find(key, key.hash(this.#cells.seed));
    if (bucket < 0) return undefined;
    const entry = this.#buckets[bucket]! - 1;
    const slot = this.#slots[entry]!;
    this.#slots[entry] = -1;
    this.#size--;
    this.#close(bucket);
    return slot;
  }

  /** Iteration skips entries that are removed meanwhile; it may show added ones. */
  *[Symbol.iterator](): IterableIterator<Slot> {
    const slots = this.#slots;
    const hashes = this.#hashes;
    // If the table was rebuilt meanwhile, these are its former columns, which were full then.
    for (let entry = 0; entry < (slots === this.#slots ? this.#entries : slots.length); entry++) {
      const slot = slots[entry]!;
      const current = slot < 0 || slots === this.#slots ? slot : this.#current(slot, hashes[entry]!);
      if (current >= 0) yield current;
    }
  }

  /** The current slot of the key with this hash, which had this slot; -1 if it is gone. */
  #current(slot: Slot, hash: number): Slot {
    const mask = this.#buckets.length - 1;
    let current = -1;
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const entry = this.#buckets[bucket]! - 1;
      if (entry < 0) return current;
      if (this.#hashes[entry] !== hash) continue;
      current = this.#slots[entry]!;
      if (current === slot) return slot;
    }
  }

  #find(key: KeyBytes, hash: number): number {
    const mask = this.#buckets.length - 1;
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const entry = this.#buckets[bucket]! - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] === hash && this.#cells.isKeyOf(this.#slots[entry]!, key)) return bucket;
    }
  }

  #settle(entry: number): void {
    const mask = this.#buckets.length - 1;
    let bucket = this.#hashes[entry]! & mask;
    while (this.#buckets[bucket] !== 0) bucket = (bucket + 1) & mask;
    this.#buckets[bucket] = entry + 1;
  }

  /** Empties the bucket and moves later entries up, unless that would put one before its hash position. */
  #close(bucket: number): void {
    const mask = this.#buckets.length - 1;
    let hole = bucket;
    for (let at = (hole + 1) & mask; this.#buckets[at] !== 0; at = (at + 1) & mask) {
      const home = this.#hashes[this.#buckets[at]! - 1]! & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      this.#buckets[hole] = this.#buckets[at]!;
      hole = at;
    }
    this.#buckets[hole] = 0;
  }

  /** Removes the gaps between entries, and doubles the size if there are few. */
  #rebuild(): void {
    const isCrowded = this.#size > this.#entries / 2;
    const buckets = this.#buckets.length * (isCrowded ? 2 : 1);
    const slots = new Int32Array(roomFor(buckets));
    const hashes = new Int32Array(roomFor(buckets));
    let kept = 0;
    for (let entry = 0; entry < this.#entries; entry++) {
      if (this.#slots[entry]! < 0) continue;
      slots[kept] = this.#slots[entry]!;
      hashes[kept++] = this.#hashes[entry]!;
    }
    this.#buckets = new Int32Array(buckets);
    this.#slots = slots;
    this.#hashes = hashes;
    this.#entries = kept;
    for (let entry = 0; entry < kept; entry++) this.#settle(entry);
  }
}

function roomFor(buckets: number): number {
  return (buckets / 4) * 3;
}
