import type { Slot } from "./store.js";

export interface ParsedObjectsOptions {
  /** The largest number of objects. Without it, the limits below apply. */
  readonly maxObjects: number | undefined;
  /** The length of the JSON of the slot's object. */
  lengthOf(slot: Slot): number;
  /** The number of objects in the store, and the total length of their JSON. */
  readonly store: { readonly size: number; readonly bodyBytes: number };
}

/** The limit for objects that were read once: this many, or more if their JSON stays within the bytes below. */
const FEW_OBJECTS = 128;
const FEW_BYTES = 256 * 1024;
/**
 * The limit for objects that were read again: this many bytes of JSON, or a fraction of the store if that is more. A
 * parsed object takes about four times its JSON.
 */
const USED_BYTES = 512 * 1024;
const USED_PART = 1 / 8;
/** How many evicted slots to remember; a fraction of the store if that is more. */
const EVICTED_SLOTS = 1024;
/** How many hits in the first queue prove use. One run often reads an object twice, which proves nothing. */
const HITS_OF_USE = 2;

/**
 * The cache of parsed objects, scan-resistant after 2Q (Johnson and Shasha, 1994). An object that is read for the first
 * time enters a short queue. It moves to the objects in use if it is read several times before it leaves that queue, or
 * again soon after. A single pass over the whole store does neither, so it evicts none of the objects in use. The cache
 * of objects in use grows with repeated reads: a store that nobody reads twice keeps almost nothing parsed.
 */
export class ParsedObjects<T> {
  readonly #options: ParsedObjectsOptions;
  /** First in, first out. */
  readonly #once = new Map<Slot, { readonly object: T; hits: number }>();
  /** Least recently read first. */
  readonly #used = new Map<Slot, T>();
  /** Slots whose objects left `#once` or were overwritten, oldest first. A read of one of these counts as a second read. */
  readonly #evicted = new Set<Slot>();
  #onceBytes = 0;
  #usedBytes = 0;

  constructor(options: ParsedObjectsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#once.size + this.#used.size;
  }

  get(slot: Slot): T | undefined {
    const used = this.#used.get(slot);
    if (used === undefined) return this.#hit(slot);
    this.#used.delete(slot);
    this.#used.set(slot, used);
    return used;
  }

  /** The same, without counting as a read. */
  peek(slot: Slot): T | undefined {
    return this.#used.get(slot) ?? this.#once.get(slot)?.object;
  }

  /** Adds an object that the cache does not have. */
  add(slot: Slot, object: T): void {
    if (this.#evicted.delete(slot)) {
      this.#use(slot, object);
      return;
    }
    this.#once.set(slot, { object, hits: 0 });
    this.#onceBytes += this.#options.lengthOf(slot);
    this.#trimOnce();
  }

  /** The slot gets another version of its object: drops the parsed one, but remembers that the slot is in use. */
  overwrite(slot: Slot): void {
    if (this.#remove(slot)) this.#evict(slot);
  }

  /** The slot will be free. */
  release(slot: Slot): void {
    this.#remove(slot);
    this.#evicted.delete(slot);
  }

  clear(): void {
    this.#once.clear();
    this.#used.clear();
    this.#evicted.clear();
    this.#onceBytes = this.#usedBytes = 0;
  }

  #hit(slot: Slot): T | undefined {
    const known = this.#once.get(slot);
    if (known) known.hits++;
    return known?.object;
  }

  #use(slot: Slot, object: T): void {
    this.#used.set(slot, object);
    this.#usedBytes += this.#options.lengthOf(slot);
    this.#trimUsed();
  }

  #remove(slot: Slot): boolean {
    if (this.#once.delete(slot)) this.#onceBytes -= this.#options.lengthOf(slot);
    else if (this.#used.delete(slot)) this.#usedBytes -= this.#options.lengthOf(slot);
    else return false;
    return true;
  }

  #trimOnce(): void {
    const { maxObjects } = this.#options;
    const few = maxObjects === undefined ? FEW_OBJECTS : Math.ceil(maxObjects / 4);
    const bytes = maxObjects === undefined ? FEW_BYTES : 0;
    while (this.#once.size > few && this.#onceBytes > bytes) {
      const [slot, { object, hits }] = this.#once.entries().next().value!;
      this.#remove(slot);
      if (hits >= HITS_OF_USE) this.#use(slot, object);
      else this.#evict(slot);
    }
  }

  #trimUsed(): void {
    const { maxObjects, store } = this.#options;
    const bytes = maxObjects === undefined ? Math.max(USED_BYTES, store.bodyBytes * USED_PART) : 0;
    const few = maxObjects === undefined ? 0 : maxObjects - Math.ceil(maxObjects / 4);
    while (this.#used.size > few && this.#usedBytes > bytes) {
      const slot: Slot = this.#used.keys().next().value!;
      this.#remove(slot);
      this.#evict(slot);
    }
  }

  #evict(slot: Slot): void {
    this.#evicted.add(slot);
    const most = Math.max(EVICTED_SLOTS, this.#options.store.size * USED_PART);
    if (this.#evicted.size > most) this.#evicted.delete(this.#evicted.values().next().value!);
  }
}
