import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jitter, seededRandom, systemRandom } from "./random.js";

describe.each([
  ["the system's random source", systemRandom],
  ["a seeded random source", seededRandom(7)],
])("%s", (_, random) => {
  it("returns numbers in [0, 1) and the requested number of bytes", () => {
    const numbers = Array.from({ length: 1_000 }, () => random.next());
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(new Set(numbers).size).toBeGreaterThan(900);
    expect(random.bytes(16)).toHaveLength(16);
  });
});

describe("seededRandom", () => {
  it("repeats its sequence for the same seed, and differs for another", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const [first, second, other] = [seededRandom(seed), seededRandom(seed), seededRandom(seed + 1)];
        const numbers = Array.from({ length: 20 }, () => first.next());
        expect(Array.from({ length: 20 }, () => second.next())).toEqual(numbers);
        expect(Array.from({ length: 20 }, () => other.next())).not.toEqual(numbers);
      }),
    );
  });
});

describe("jitter", () => {
  it("stays in [base, base × (1 + factor))", () => {
    const random = seededRandom(1);
    for (let round = 0; round < 1_000; round++) {
      const jittered = jitter(random, 100, 0.5);
      expect(jittered).toBeGreaterThanOrEqual(100);
      expect(jittered).toBeLessThan(150);
    }
  });
});

describe("system random", () => {
  it("returns each byte once, and never bytes that it erased", () => {
    const drawn = Array.from({ length: 2_000 }, () => Buffer.from(systemRandom.bytes(16)).toString("hex"));
    expect(new Set(drawn).size).toBe(2_000);
    expect(drawn).not.toContain("0".repeat(32));
  });

  it("returns the requested number of bytes, beyond its pool too", () => {
    expect([0, 1, 1024, 1025, 10_000].map((length) => systemRandom.bytes(length).length)).toEqual([
      0, 1, 1024, 1025, 10_000,
    ]);
  });
});
