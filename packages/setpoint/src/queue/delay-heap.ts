import { enlarged } from "./key-table.js";

const NONE = -1;
/** Four children a node: half the depth of a binary heap, and siblings share a cache line. */
const FAN_OUT = 4;

/** Delayed slots, earliest first; equal times in insertion order. */
export class DelayHeap {
  #heap = new Int32Array(0);
  #size = 0;
  /** By slot: when it is due, its insertion number, and its index in the heap or -1. */
  #dueMs = new Float64Array(0);
  #order = new Float64Array(0);
  #position = new Int32Array(0);
  #sequence = 0;

  get size(): number {
    return this.#size;
  }

  /** When the earliest slot is due; undefined if there is none. */
  get earliestMs(): number | undefined {
    return this.#size === 0 ? undefined : this.#dueMs[this.#heap[0]!];
  }

  /** Inserts the slot, or moves it forward: of two times the earlier one counts. */
  add(slot: number, dueMs: number): void {
    if (slot >= this.#position.length) this.#reserve(Math.max(64, slot * 2));
    if (this.#position[slot]! >= 0) {
      if (dueMs >= this.#dueMs[slot]!) return;
    } else {
      this.#position[slot] = this.#size++;
    }
    this.#dueMs[slot] = dueMs;
    this.#order[slot] = this.#sequence++;
    this.#rise(slot, this.#position[slot]!);
  }

  remove(slot: number): void {
    const hole = this.#position[slot] ?? NONE;
    if (hole < 0) return;
    this.#position[slot] = NONE;
    const last = this.#heap[--this.#size]!;
    if (last === slot) return;
    this.#sink(last, hole);
    this.#rise(last, this.#position[last]!);
  }

  /** Removes the earliest slot if it is due at `nowMs`, otherwise returns -1. */
  popDue(nowMs: number): number {
    const slot = this.#heap[0]!;
    if (this.#size === 0 || this.#dueMs[slot]! > nowMs) return NONE;
    this.remove(slot);
    return slot;
  }

  #isBefore(left: number, right: number): boolean {
    const [leftDueMs, rightDueMs] = [this.#dueMs[left]!, this.#dueMs[right]!];
    return leftDueMs < rightDueMs || (leftDueMs === rightDueMs && this.#order[left]! < this.#order[right]!);
  }

  #rise(slot: number, from: number): void {
    let position = from;
    while (position > 0) {
      const parentPosition = Math.floor((position - 1) / FAN_OUT);
      const parent = this.#heap[parentPosition]!;
      if (!this.#isBefore(slot, parent)) break;
      this.#place(parent, position);
      position = parentPosition;
    }
    this.#place(slot, position);
  }

  #sink(slot: number, from: number): void {
    let position = from;
    for (;;) {
      const firstChild = FAN_OUT * position + 1;
      const endOfChildren = Math.min(firstChild + FAN_OUT, this.#size);
      if (firstChild >= endOfChildren) break;
      let least = firstChild;
      for (let child = firstChild + 1; child < endOfChildren; child++) {
        if (this.#isBefore(this.#heap[child]!, this.#heap[least]!)) least = child;
      }
      if (!this.#isBefore(this.#heap[least]!, slot)) break;
      this.#place(this.#heap[least]!, position);
      position = least;
    }
    this.#place(slot, position);
  }

  #place(slot: number, position: number): void {
    this.#heap[position] = slot;
    this.#position[slot] = position;
  }

  /** Grows when a slot is first delayed: most queues delay few of their keys. */
  #reserve(capacity: number): void {
    const known = this.#position.length;
    this.#heap = enlarged(this.#heap, capacity);
    this.#dueMs = enlarged(this.#dueMs, capacity);
    this.#order = enlarged(this.#order, capacity);
    this.#position = enlarged(this.#position, capacity).fill(NONE, known);
  }
}
