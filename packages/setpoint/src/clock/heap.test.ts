import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Heap, type HeapEntry } from "./heap.js";

interface Numbered extends HeapEntry {
  readonly value: number;
}

const numbered = (value: number): Numbered => ({ value, position: -1 });

describe("Heap", () => {
  it("returns its entries in order, whatever was removed in between", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ value: fc.integer(), removed: fc.boolean() })), (plan) => {
        const heap = new Heap<Numbered>((left, right) => left.value < right.value);
        const entries = plan.map(({ value }) => numbered(value));
        for (const entry of entries) heap.push(entry);
        const kept = entries.filter((entry, at) => !(plan[at]!.removed && heap.remove(entry)));

        const popped: number[] = [];
        for (let next = heap.pop(); next; next = heap.pop()) popped.push(next.value);
        expect(popped).toEqual(kept.map(({ value }) => value).sort((left, right) => left - right));
      }),
    );
  });

  it("refuses to remove an entry that it does not hold", () => {
    const heap = new Heap<Numbered>((left, right) => left.value < right.value);
    const entry = numbered(1);
    heap.push(entry);
    expect(heap.remove(entry)).toBe(true);
    expect(heap.remove(entry)).toBe(false);
    expect(heap.size).toBe(0);
  });
});
