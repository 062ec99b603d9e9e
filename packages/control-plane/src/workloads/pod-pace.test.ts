import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { PodPace } from "./pod-pace.js";

describe("the rate of pod creation", () => {
  it("allows a burst, then kube-controller-manager's rate, for each namespace", async () => {
    const clock = new VirtualClock();
    const pace = new PodPace(clock);
    expect(pace.take("a", 4_000)).toEqual({ granted: 4_000, waitMs: undefined });
    expect(pace.take("a", 4_000)).toEqual({ granted: 1_000, waitMs: 1_000 });
    expect(pace.take("b", 500)).toEqual({ granted: 500, waitMs: undefined });
    await clock.advance(10_000);
    expect(pace.take("a", 4_000)).toEqual({ granted: 200, waitMs: 1_000 });
    await clock.advance(3_600_000);
    expect(pace.take("a", 9_000).granted).toBe(5_000);
  });
});
