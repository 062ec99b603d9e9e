import { FieldIndex } from "./field-index.js";
import type { FieldPath } from "./field-path.js";
import type { Term } from "./selection.js";
import type { Slot } from "./store.js";

/**
 * The largest number of indexes. Selectors come from code and name few fields; beyond this the least recently used
 * index is dropped.
 */
const MAX_INDEXES = 16;

/** The objects of the indexes. */
export interface IndexedSlots {
  readonly size: number;
  slots(): Iterable<Slot>;
  /** Read from the slot's bytes. */
  textOf(slot: Slot, path: FieldPath): string | undefined;
}

/** The slots of a namespace. */
export interface NamespaceSlots {
  readonly size: number;
  slots(): Iterable<Slot>;
  has(slot: Slot): boolean;
}

/**
 * Indexes over the fields of selectors, each made on first use and then kept up to date. They alone decide a selector:
 * only matching objects are parsed.
 */
export class FieldIndexes {
  readonly #over: IndexedSlots;
  /** By the id of the terms that use it; least recently used first. */
  readonly #indexes = new Map<string, FieldIndex>();

  constructor(over: IndexedSlots) {
    this.#over = over;
  }

  /** The slots that satisfy all terms. */
  select(terms: readonly Term[], namespace: NamespaceSlots | undefined): readonly Slot[] {
    const filters = terms.map((term) => ({ term, index: this.#index(term) }));
    let candidates: Iterable<Slot> | undefined;
    let fewest = namespace?.size ?? this.#over.size;
    for (const { term, index } of filters) {
      const count = countOf(term, index);
      if (count >= fewest) continue;
      fewest = count;
      candidates = slotsOf(term, index);
    }
    const isWithin = candidates && namespace;
    const selected: Slot[] = [];
    for (const slot of candidates ?? (namespace ?? this.#over).slots()) {
      if (isWithin && !isWithin.has(slot)) continue;
      if (filters.every(({ term, index }) => term.holds(index.textOf(slot)))) selected.push(slot);
    }
    return selected;
  }

  /** The slot has another object or version. */
  set(slot: Slot): void {
    for (const index of this.#indexes.values()) index.set(slot, this.#over.textOf(slot, index.path));
  }

  remove(slot: Slot): void {
    for (const index of this.#indexes.values()) index.set(slot, undefined);
  }

  /** All slots have changed. */
  rebuild(): void {
    for (const index of this.#indexes.values()) {
      index.clear();
      this.#fill(index);
    }
  }

  #index(term: Term): FieldIndex {
    const known = this.#indexes.get(term.id);
    if (known) {
      this.#indexes.delete(term.id);
      this.#indexes.set(term.id, known);
      return known;
    }
    const index = new FieldIndex(term.path);
    this.#fill(index);
    if (this.#indexes.size === MAX_INDEXES) this.#indexes.delete(this.#indexes.keys().next().value!);
    this.#indexes.set(term.id, index);
    return index;
  }

  #fill(index: FieldIndex): void {
    for (const slot of this.#over.slots()) index.set(slot, this.#over.textOf(slot, index.path));
  }
}

/** How many slots can satisfy the term; infinite if it does not limit them. */
function countOf({ texts }: Term, index: FieldIndex): number {
  if (texts === undefined) return Number.POSITIVE_INFINITY;
  return texts === "present" ? index.size : index.count(texts);
}

function* slotsOf({ texts }: Term, index: FieldIndex): Iterable<Slot> {
  if (texts === "present") yield* index.all();
  else for (const text of new Set(texts)) yield* index.slots(text);
}
