import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DelayHeap } from "./delay-heap.js";

describe("DelayHeap", () => {
  it("returns slots by due time, equal ones in order of insertion", () => {
    const step = fc.record({
      slot: fc.nat(40),
      dueMs: fc.nat(20),
      isRemoval: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const heap = new DelayHeap();
        const expected = new Map<number, { dueMs: number; order: number }>();
        steps.forEach(({ slot, dueMs, isRemoval }, order) => {
          const known = expected.get(slot);
          if (isRemoval) {
            heap.remove(slot);
            expected.delete(slot);
          } else {
            heap.add(slot, dueMs);
            if (!known || dueMs < known.dueMs) expected.set(slot, { dueMs, order });
          }
        });
        const sorted = [...expected].sort(([, a], [, b]) => a.dueMs - b.dueMs || a.order - b.order);
        expect([heap.size, heap.earliestMs]).toEqual([sorted.length, sorted[0]?.[1].dueMs]);

        const popped: number[] = [];
        for (let nowMs = 0; nowMs <= 20; nowMs++) {
          for (let slot = heap.popDue(nowMs); slot >= 0; slot = heap.popDue(nowMs)) {
            expect(expected.get(slot)!.dueMs).toBe(nowMs);
            popped.push(slot);
          }
        }
        expect(popped).toEqual(sorted.map(([slot]) => slot));
      }),
    );
  });
});
