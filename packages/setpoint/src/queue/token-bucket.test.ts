import { describe, expect, it } from "vitest";
import { TokenBucket } from "./token-bucket.js";

describe("TokenBucket", () => {
  it("lets a burst through, then spaces what follows by its rate", () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 3 });
    expect([0, 0, 0, 0, 0].map((nowMs) => bucket.reserve(nowMs))).toEqual([0, 0, 0, 100, 200]);
  });

  it("refills with time, never beyond its burst", () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 });
    bucket.reserve(0);
    bucket.reserve(0);
    expect(bucket.reserve(100)).toBe(0);
    expect([3_600_000, 3_600_000, 3_600_000].map((nowMs) => bucket.reserve(nowMs))).toEqual([0, 0, 100]);
  });
});
