import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IndexSet } from "./index-set.js";

const indexes = fc.uniqueArray(fc.nat(40));

const behavesAsSet = (left: number[], right: number[]): void => {
  const [a, b] = [IndexSet.of(left), IndexSet.of(right)];
  expect(String(IndexSet.parse(String(a), 41))).toBe(String(a));
  expect(a.size).toBe(left.length);
  expect(a.sharedSize(b)).toBe(left.filter((index) => right.includes(index)).length);
  expect(a.union(b).size).toBe(new Set([...left, ...right]).size);
  for (let index = 0; index <= 41; index++) {
    expect(a.has(index)).toBe(left.includes(index));
    let absent = index;
    while (left.includes(absent)) absent++;
    expect(a.nextAbsent(index)).toBe(absent);
  }
};

describe("completion indexes", () => {
  it("are a set, read and written as ranges", () => {
    fc.assert(fc.property(indexes, indexes, behavesAsSet));
  });

  it("store only the ends of a range", () => {
    const all = IndexSet.parse("0-2147483646", 2_147_483_647);
    expect(all.size).toBe(2_147_483_647);
    expect(all.nextAbsent(5)).toBe(2_147_483_647);
    expect(all.sharedSize(IndexSet.parse("7,9-3000000000", 2_147_483_647))).toBe(2_147_483_639);
  });
});
