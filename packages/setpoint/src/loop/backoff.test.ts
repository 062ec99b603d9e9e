import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { Backoff } from "./backoff.js";

const exact = (): Backoff => new Backoff(seededRandom(1), { initial: 1, max: 20, jitter: 0 });

describe("Backoff", () => {
  it("doubles the delay up to the cap, for each key separately, until the key is forgotten [case 57]", () => {
    const backoff = exact();
    expect([1, 2, 3, 4, 5, 6, 7].map(() => backoff.fail("a"))).toEqual([1, 2, 4, 8, 16, 20, 20]);
    expect(backoff.fail("b")).toBe(1);
    expect(backoff.failures("a")).toBe(7);
    backoff.forget("a");
    expect([backoff.failures("a"), backoff.fail("a"), backoff.failures("b")]).toEqual([0, 1, 1]);
  });

  it("stays at the cap however often a key fails", () => {
    const backoff = exact();
    for (let failure = 0; failure < 2_000; failure++) backoff.fail("a");
    expect(backoff.fail("a")).toBe(20);
  });

  it("waits at least 2^(n-1) times the first delay before retry n; jitter only lengthens it [case 6]", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const backoff = new Backoff(seededRandom(seed), { initial: 1_000, max: 60_000 });
        for (let retry = 1; retry <= 8; retry++) {
          const delayMs = backoff.fail("a");
          const leastMs = Math.min(1_000 * 2 ** (retry - 1), 60_000);
          expect(delayMs).toBeGreaterThanOrEqual(leastMs);
          expect(delayMs).toBeLessThanOrEqual(Math.min(leastMs * 1.2, 60_000));
        }
      }),
    );
  });
});
