import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyBytes, SlotTable } from "./slot-table.js";

/** Keys by slot, as a store holds them. */
function table(seed = 1) {
  const keys: string[] = [];
  const wanted = new KeyBytes();
  const slots = new SlotTable({ seed, isKeyOf: (slot, key) => keys[slot] === key.toString() });
  return {
    slots,
    keys,
    get: (key: string) => slots.get(wanted.set(key)),
    set: (key: string, slot: number) => {
      keys[slot] = key;
      return slots.set(wanted.set(key), slot);
    },
    delete: (key: string) => slots.delete(wanted.set(key)),
  };
}

const operation = fc.record({
  do: fc.constantFrom("set" as const, "set" as const, "delete" as const),
  name: fc.integer({ min: 0, max: 300 }).map((number) => `default/${number}`),
});

describe("table of slots", () => {
  it("behaves like a Map, in the same order", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 800 }), fc.integer(), (operations, seed) => {
        const { slots, keys, get, set, delete: remove } = table(seed);
        const model = new Map<string, number>();
        const wrong: string[] = [];
        operations.forEach(({ do: what, name }, slot) => {
          const before = model.get(name);
          const found = what === "set" ? set(name, slot) : remove(name);
          if (found !== before) wrong.push(name);
          if (what === "set") model.set(name, slot);
          else model.delete(name);
        });
        for (const { name } of operations) if (get(name) !== model.get(name)) wrong.push(name);
        expect(wrong).toEqual([]);
        expect(slots.size).toBe(model.size);
        expect([...slots].map((slot) => [keys[slot], slot])).toEqual([...model]);
      }),
    );
  });

  it("shows each remaining entry once, and no removed one, to an iterator while it changes", () => {
    fc.assert(
      fc.property(fc.array(operation, { minLength: 50, maxLength: 600 }), (operations) => {
        const { slots, keys, set, delete: remove } = table();
        for (let number = 0; number < 200; number += 2) set(`default/${number}`, number);
        const gone = new Set<string>();
        const everGone = new Set<string>();
        const seen = new Map<string, number>();
        const wrong: string[] = [];
        let next = 1000;
        for (const slot of slots) {
          const key = keys[slot]!;
          if (gone.has(key)) wrong.push(key);
          seen.set(key, (seen.get(key) ?? 0) + 1);
          for (const { do: what, name } of operations.splice(0, 5)) {
            if (what === "set") {
              set(name, next++);
              gone.delete(name);
            } else {
              remove(name);
              gone.add(name);
              everGone.add(name);
            }
          }
        }
        for (let number = 0; number < 200; number += 2) {
          const key = `default/${number}`;
          if (!everGone.has(key) && seen.get(key) !== 1) wrong.push(key);
        }
        expect(wrong).toEqual([]);
      }),
    );
  });

  it("finds keys with non-ASCII characters", () => {
    const { get, set } = table();
    set("default/größe-名前", 7);
    expect(get("default/größe-名前")).toBe(7);
    expect(get("default/größe")).toBeUndefined();
  });

  it("reads a key of any length", () => {
    const key = `${"n".repeat(63)}/${"x".repeat(1000)}`;
    expect(new KeyBytes().set(key).toString()).toBe(key);
  });
});
