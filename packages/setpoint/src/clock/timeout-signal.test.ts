import { describe, expect, it } from "vitest";
import { timeoutSignal } from "./timeout-signal.js";
import { VirtualClock } from "./virtual-clock.js";

describe("timeoutSignal", () => {
  it("aborts with a TimeoutError when its time is over", async () => {
    const clock = new VirtualClock();
    const { signal } = timeoutSignal(clock, 100);
    await clock.advance(99);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("aborts with the parent's reason, and leaves no timer behind", () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    const { signal } = timeoutSignal(clock, 100, parent.signal);
    parent.abort(new Error("the parent's"));
    expect(signal.reason).toEqual(new Error("the parent's"));
    expect(clock.pendingTimers).toBe(0);
  });

  it("is aborted from the start under an aborted parent", () => {
    const clock = new VirtualClock();
    const { signal } = timeoutSignal(clock, 100, AbortSignal.abort("gone"));
    expect(signal.reason).toBe("gone");
    expect(clock.pendingTimers).toBe(0);
  });

  it("never aborts once it is disposed", async () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    const deadline = timeoutSignal(clock, 100, parent.signal);
    deadline[Symbol.dispose]();
    parent.abort();
    await clock.advance(200);
    expect(deadline.signal.aborted).toBe(false);
  });

  it("aborts with the caller's reason if one is given", async () => {
    const clock = new VirtualClock();
    const { signal } = timeoutSignal(clock, 5, undefined, () => new Error("reconcile of a/b took too long"));
    await clock.advance(5);
    expect(signal.reason).toEqual(new Error("reconcile of a/b took too long"));
  });
});
