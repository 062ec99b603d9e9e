import type { FieldPath } from "./field-path.js";
import type { Slot } from "./store.js";

/** The slots with one text in a field. A single slot needs no set: many fields differ between objects. */
interface Posting {
  readonly text: string;
  slots: Slot | Set<Slot>;
}

const NONE: readonly Slot[] = [];

/** The text of one field by slot, and the slots by that text. */
export class FieldIndex {
  readonly path: FieldPath;
  readonly #byText = new Map<string, Posting>();
  /** By slot; undefined if the object lacks the field. */
  readonly #bySlot: (Posting | undefined)[] = [];
  /** How many objects have the field. */
  size = 0;

  constructor(path: FieldPath) {
    this.path = path;
  }

  textOf(slot: Slot): string | undefined {
    return this.#bySlot[slot]?.text;
  }

  /** How many slots have one of the texts. */
  count(texts: readonly string[]): number {
    let count = 0;
    for (const text of texts) count += this.#countOne(text);
    return count;
  }

  slots(text: string): Iterable<Slot> {
    const slots = this.#byText.get(text)?.slots;
    if (slots === undefined) return NONE;
    return typeof slots === "number" ? [slots] : slots;
  }

  /** The slots that have the field. */
  *all(): Iterable<Slot> {
    for (const text of this.#byText.keys()) yield* this.slots(text);
  }

  set(slot: Slot, text: string | undefined): void {
    const before = this.#bySlot[slot];
    if (before?.text === text) return;
    if (before) this.#leave(before, slot);
    if (text === undefined) {
      this.#bySlot[slot] = undefined;
      return;
    }
    const posting = this.#byText.get(text);
    if (!posting) {
      const added: Posting = { text, slots: slot };
      this.#byText.set(text, added);
      this.#put(slot, added);
      return;
    }
    if (typeof posting.slots === "number") posting.slots = new Set([posting.slots]);
    posting.slots.add(slot);
    this.#put(slot, posting);
  }

  clear(): void {
    this.#byText.clear();
    this.#bySlot.length = 0;
    this.size = 0;
  }

  #countOne(text: string): number {
    const slots = this.#byText.get(text)?.slots;
    if (slots === undefined) return 0;
    return typeof slots === "number" ? 1 : slots.size;
  }

  #put(slot: Slot, posting: Posting): void {
    // Filled in order, because a hole would make the array slow.
    while (this.#bySlot.length < slot) this.#bySlot.push(undefined);
    this.#bySlot[slot] = posting;
    this.size++;
  }

  #leave(posting: Posting, slot: Slot): void {
    this.size--;
    if (typeof posting.slots === "number") this.#byText.delete(posting.text);
    else if (posting.slots.delete(slot) && posting.slots.size === 0) this.#byText.delete(posting.text);
  }
}
