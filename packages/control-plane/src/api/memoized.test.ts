import { describe, expect, it } from "vitest";
import { latest, perObject, perText } from "./memoized.js";

/** A function that counts its calls. */
function counted<Key>() {
  const calls: Key[] = [];
  return { calls, compute: (key: Key) => calls.push(key) };
}

describe("memoized functions", () => {
  it("compute once for each object, including undefined results", () => {
    const { calls, compute } = counted<object>();
    const of = perObject((key: object) => void compute(key));
    const [a, b] = [{}, {}];
    for (const key of [a, b, a, b]) expect(of(key)).toBeUndefined();
    expect(calls).toEqual([a, b]);
  });

  it("keep as many strings as the limit allows, and forget the oldest", () => {
    const { calls, compute } = counted<string>();
    const of = perText(2, compute);
    for (const text of ["a", "b", "a", "c", "b", "a"]) of(text);
    expect(calls).toEqual(["a", "b", "c", "a"]);
  });

  it("keep the latest result, by identity or by a comparison", () => {
    const numbers = counted<number>();
    const of = latest(numbers.compute);
    for (const key of [1, 1, 2, 1]) of(key);
    expect(numbers.calls).toEqual([1, 2, 1]);
    const texts = counted<string>();
    const byLength = latest(texts.compute, (a, b) => a.length === b.length);
    expect([byLength("a"), byLength("b"), byLength("cc")]).toEqual([1, 1, 2]);
  });

  it("keep nothing of a call that throws", () => {
    let calls = 0;
    const of = perText(2, () => {
      if (++calls === 1) throw new TypeError("once");
      return calls;
    });
    expect(() => of("a")).toThrow("once");
    expect(of("a")).toBe(2);
  });
});
