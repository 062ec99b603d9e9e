import { describe, expect, it } from "vitest";
import { ParsedObjects } from "./parsed-objects.js";

const LENGTH = 1000;

function cacheOf(size: number, maxObjects?: number) {
  const store = { size, bodyBytes: size * LENGTH };
  const cache = new ParsedObjects<{ readonly slot: number }>({ maxObjects, lengthOf: () => LENGTH, store });
  let parses = 0;
  const read = (slot: number): void => {
    if (cache.get(slot)) return;
    parses++;
    cache.add(slot, { slot });
  };
  const parsesOf = (...slots: readonly number[]): number => {
    const before = parses;
    for (const slot of slots) read(slot);
    return parses - before;
  };
  return { cache, parsesOf };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

describe("parsed objects", () => {
  it("survive a scan if they are read repeatedly", () => {
    const { parsesOf } = cacheOf(20_000);
    const inUse = range(0, 300);
    for (let pass = 0; pass < 3; pass++) parsesOf(...inUse);
    expect(parsesOf(...range(1000, 20_000))).toBe(19_000);
    expect(parsesOf(...inUse)).toBe(0);
  });

  it("grow with their use: a list somewhat larger than the first queue is soon parsed completely", () => {
    const { parsesOf } = cacheOf(400);
    const all = range(0, 400);
    for (let pass = 0; pass < 3; pass++) parsesOf(...all);
    expect(parsesOf(...all)).toBe(0);
  });

  it("stay few if every object is read only once", () => {
    const { cache, parsesOf } = cacheOf(20_000);
    parsesOf(...range(0, 20_000));
    expect(cache.size).toBeLessThanOrEqual((256 * 1024) / LENGTH + 1);
  });

  it("hold at most the JSON of an eighth of the store, besides the most recent ones", () => {
    const { cache, parsesOf } = cacheOf(20_000);
    for (let pass = 0; pass < 5; pass++) parsesOf(...range(0, 2_400));
    for (let pass = 0; pass < 5; pass++) parsesOf(...range(10_000, 12_400));
    expect(cache.size).toBeLessThanOrEqual(20_000 / 8 + (256 * 1024) / LENGTH + 1);
  });

  it("recognise an object in use by its slot when its next version is read", () => {
    const { cache, parsesOf } = cacheOf(20_000);
    parsesOf(7);
    cache.overwrite(7);
    expect(cache.get(7)).toBeUndefined();
    parsesOf(7);
    parsesOf(...range(1000, 20_000));
    expect(parsesOf(7)).toBe(0);
  });

  it("forget a released slot", () => {
    const { cache, parsesOf } = cacheOf(20_000);
    parsesOf(7);
    cache.release(7);
    parsesOf(7);
    parsesOf(...range(1000, 20_000));
    expect(parsesOf(7)).toBe(1);
  });

  it("are limited by the caller", () => {
    const { cache, parsesOf } = cacheOf(1000, 10);
    for (let pass = 0; pass < 4; pass++) parsesOf(...range(0, 100));
    expect(cache.size).toBeLessThanOrEqual(10);
    const none = cacheOf(1000, 0);
    none.parsesOf(...range(0, 10), ...range(0, 10));
    expect(none.cache.size).toBe(0);
  });
});
