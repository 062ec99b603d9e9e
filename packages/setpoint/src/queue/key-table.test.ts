import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashText, KeyTable } from "./key-table.js";

/** A hash so bad that nearly every key collides. */
const poorHash = (key: string): number => key.length % 3;
const goodHash = (key: string): number => hashText(key, 0, key.length, 7);

describe("KeyTable", () => {
  it.each([
    ["a good hash", goodHash],
    ["colliding hashes", poorHash],
  ])("finds exactly what was inserted and not removed, with %s", (_, hash) => {
    const step = fc.record({ key: fc.string({ maxLength: 5 }), isRemoval: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new KeyTable();
        const slots = new Map<string, number>();
        for (const { key, isRemoval } of steps) {
          const slot = slots.get(key);
          if (slot === undefined) slots.set(key, table.insert(key, hash(key)));
          else if (isRemoval && slots.delete(key)) table.remove(slot);
        }
        expect(table.size).toBe(slots.size);
        expect(new Set(slots.values()).size).toBe(slots.size);
        for (const { key } of steps) expect(table.find(key, hash(key))).toBe(slots.get(key) ?? -1);
        for (const [key, slot] of slots) {
          expect(table.keyOf(slot)).toBe(key);
          expect(slot).toBeLessThan(table.capacity);
        }
      }),
    );
  });

  it("grows, and reuses freed slots", () => {
    const table = new KeyTable();
    const keys = Array.from({ length: 5_000 }, (_, at) => `namespace-${at % 7}/name-${at}`);
    const slots = keys.map((key) => table.insert(key, goodHash(key)));
    expect(keys.map((key) => table.find(key, goodHash(key)))).toEqual(slots);
    const { capacity } = table;
    for (const slot of slots) table.remove(slot);
    for (const key of keys) table.insert(`${key}-again`, goodHash(`${key}-again`));
    expect([table.size, table.capacity]).toEqual([5_000, capacity]);
  });
});

describe("hashText", () => {
  it("spreads numbered names evenly", () => {
    const buckets = new Set(Array.from({ length: 4_096 }, (_, at) => goodHash(`team/web-${at}`) & 4_095));
    expect(buckets.size).toBeGreaterThan(4_096 * 0.6);
  });

  it("depends on its start", () => {
    expect(hashText("team/web", 0, 8, 1)).not.toBe(hashText("team/web", 0, 8, 2));
  });
});
