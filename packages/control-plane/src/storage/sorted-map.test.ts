import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SortedMap } from "./sorted-map.js";

const entriesOf = <Value>(map: SortedMap<Value>, start?: string): (readonly [string, Value])[] => [...map.from(start)];

type Step =
  | { readonly type: "set"; readonly key: number }
  | { readonly type: "delete"; readonly key: number }
  | { readonly type: "copy" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("set" as const), key: fc.nat(400) }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant("delete" as const), key: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("copy" as const) }) },
);

describe("SortedMap", () => {
  it("agrees with a plain map, and its copies never change, under random writes", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 2000, size: "max" }), (steps) => {
        const map = new SortedMap<number>();
        const model = new Map<string, number>();
        const copies: { copy: SortedMap<number>; expected: [string, number][] }[] = [];
        const sorted = () => [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        steps.forEach((step, index) => {
          if (step.type === "copy") {
            copies.push({ copy: map.copy(), expected: sorted() });
          } else if (step.type === "set") {
            map.set(`key-${step.key}`, index);
            model.set(`key-${step.key}`, index);
          } else {
            expect(map.delete(`key-${step.key}`)).toBe(model.delete(`key-${step.key}`));
          }
        });
        expect(entriesOf(map)).toEqual(sorted());
        expect(map.size).toBe(model.size);
        for (const { copy, expected } of copies) {
          expect(entriesOf(copy)).toEqual(expected);
          expect(copy.size).toBe(expected.length);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("iterates from a key, whether it exists or not", () => {
    const map = new SortedMap<number>();
    for (let at = 0; at < 1000; at++) map.set(String(at).padStart(4, "0"), at);
    expect(entriesOf(map, "0500")[0]).toEqual(["0500", 500]);
    expect(entriesOf(map, "0500x")[0]).toEqual(["0501", 501]);
    expect(entriesOf(map, "0999x")).toEqual([]);
    expect(entriesOf(map, "").length).toBe(1000);
    for (let at = 0; at < 1000; at++) expect(map.get(String(at).padStart(4, "0"))).toBe(at);
  });

  it("lets a copy be written to without the original seeing it", () => {
    const map = new SortedMap<number>();
    for (let at = 0; at < 300; at++) map.set(`k${at}`, at);
    const copy = map.copy();
    for (let at = 0; at < 300; at++) copy.delete(`k${at}`);
    expect(copy.size).toBe(0);
    expect(map.size).toBe(300);
    expect(entriesOf(map).length).toBe(300);
  });
});
