import { describe, expect, it } from "vitest";
import { VirtualClock } from "./virtual-clock.js";

describe("VirtualClock", () => {
  it("stands still until it is advanced", async () => {
    const clock = new VirtualClock(1_000);
    await clock.settle();
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
  });

  it("lets the consequences of a timer run before the next one fires", async () => {
    const clock = new VirtualClock();
    const steps: string[] = [];
    void clock.sleep(10).then(async () => {
      await Promise.resolve();
      steps.push(`first at ${clock.monotonic()}`);
      await clock.sleep(5);
      steps.push(`nested at ${clock.monotonic()}`);
    });
    void clock.sleep(20).then(() => steps.push(`second at ${clock.monotonic()}`));
    await clock.advance(60);
    expect(steps).toEqual(["first at 10", "nested at 15", "second at 20"]);
  });

  it("steps the wall clock without firing timers", async () => {
    const clock = new VirtualClock(0);
    let fired = false;
    clock.timer(10, () => {
      fired = true;
    });
    clock.stepWall(-3_600_000);
    await clock.settle();
    expect([clock.now(), clock.monotonic(), fired]).toEqual([-3_600_000, 0, false]);
  });

  it("reports what is waiting and for how long", () => {
    const clock = new VirtualClock();
    expect(clock.nextDueInMs).toBeUndefined();
    clock.timer(70, () => {});
    const early = clock.timer(30, () => {});
    expect([clock.pendingTimers, clock.nextDueInMs]).toEqual([2, 30]);
    early[Symbol.dispose]();
    expect([clock.pendingTimers, clock.nextDueInMs]).toEqual([1, 70]);
  });

  it("handles fifty thousand timers, most of them cancelled", async () => {
    const clock = new VirtualClock();
    let fired = 0;
    const timers = Array.from({ length: 50_000 }, (_, at) => clock.timer(1 + ((at * 7919) % 50_000), () => fired++));
    for (const [at, timer] of timers.entries()) if (at % 50) timer[Symbol.dispose]();
    await clock.advance(50_000);
    expect([fired, clock.pendingTimers]).toEqual([1_000, 0]);
  });
});
