/** An entry of a {@link Heap}. The heap maintains `position`, so that any entry can be removed in O(log n). */
export interface HeapEntry {
  /** The index of the entry in its heap; -1 while it is in none. Only the heap writes it. */
  position: number;
}

/** A binary min-heap of entries that know their index. */
export class Heap<Entry extends HeapEntry> {
  readonly #entries: Entry[] = [];
  readonly #isBefore: (left: Entry, right: Entry) => boolean;

  constructor(isBefore: (left: Entry, right: Entry) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The smallest entry, without removing it. */
  peek(): Entry | undefined {
    return this.#entries[0];
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    this.#rise(entry, this.#entries.length - 1);
  }

  pop(): Entry | undefined {
    const least = this.#entries[0];
    if (least) this.remove(least);
    return least;
  }

  /** Removes `entry`; false if it was not in the heap. */
  remove(entry: Entry): boolean {
    const hole = entry.position;
    if (hole < 0) return false;
    entry.position = -1;
    const last = this.#entries.pop()!;
    if (last !== entry) {
      this.#sink(last, hole);
      if (last.position === hole) this.#rise(last, hole);
    }
    return true;
  }

  #rise(entry: Entry, from: number): void {
    let position = from;
    while (position > 0) {
      const parentPosition = (position - 1) >>> 1;
      const parent = this.#entries[parentPosition]!;
      if (!this.#isBefore(entry, parent)) break;
      this.#place(parent, position);
      position = parentPosition;
    }
    this.#place(entry, position);
  }

  #sink(entry: Entry, from: number): void {
    let position = from;
    for (;;) {
      let childPosition = 2 * position + 1;
      let child = this.#entries[childPosition];
      if (!child) break;
      const sibling = this.#entries[childPosition + 1];
      if (sibling && this.#isBefore(sibling, child)) {
        child = sibling;
        childPosition++;
      }
      if (!this.#isBefore(child, entry)) break;
      this.#place(child, position);
      position = childPosition;
    }
    this.#place(entry, position);
  }

  #place(entry: Entry, position: number): void {
    this.#entries[position] = entry;
    entry.position = position;
  }
}
