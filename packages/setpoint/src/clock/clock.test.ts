import { describe, expect, it } from "vitest";
import type { Clock } from "./clock.js";
import { systemClock } from "./system-clock.js";
import { VirtualClock } from "./virtual-clock.js";

interface Subject {
  readonly clock: Clock;
  /** Lets at least this much time pass. */
  pass(durationMs: number): Promise<void>;
}

const subjects: Record<string, () => Subject> = {
  "the system's clock": () => ({ clock: systemClock, pass: (durationMs) => systemClock.sleep(durationMs) }),
  "a virtual clock": () => {
    const clock = new VirtualClock();
    return { clock, pass: (durationMs) => clock.advance(durationMs) };
  },
};

describe.each(Object.entries(subjects))("%s", (_, subject) => {
  it("fires timers in order of due time, then of creation", async () => {
    const { clock, pass } = subject();
    const fired: string[] = [];
    clock.timer(30, () => fired.push("late"));
    clock.timer(10, () => fired.push("early, first made"));
    clock.timer(10, () => fired.push("early, then made"));
    await pass(40);
    expect(fired).toEqual(["early, first made", "early, then made", "late"]);
  });

  it("never calls back from within timer(), nor after disposal", async () => {
    const { clock, pass } = subject();
    const fired: string[] = [];
    clock.timer(-5, () => fired.push("overdue"));
    const cancelled = clock.timer(1, () => fired.push("disposed"));
    expect(fired).toEqual([]);
    cancelled[Symbol.dispose]();
    await pass(20);
    expect(fired).toEqual(["overdue"]);
  });

  it("lets a timer be disposed after it fired, and twice", async () => {
    const { clock, pass } = subject();
    const timer = clock.timer(0, () => {}).unref();
    await pass(5);
    timer[Symbol.dispose]();
    timer[Symbol.dispose]();
  });

  it("accepts delays longer than setTimeout can", async () => {
    const { clock, pass } = subject();
    let fired = false;
    using _timer = clock.timer(2 ** 32, () => {
      fired = true;
    });
    await pass(20);
    expect(fired).toBe(false);
  });

  it("never goes back while something sleeps", async () => {
    const { clock, pass } = subject();
    const [wall, elapsed] = [clock.now(), clock.monotonic()];
    await Promise.all([clock.sleep(5), pass(10)]);
    expect(clock.monotonic()).toBeGreaterThan(elapsed);
    expect(clock.now()).toBeGreaterThanOrEqual(wall);
  });

  it("ends a sleep with the signal's reason", async () => {
    const { clock, pass } = subject();
    const controller = new AbortController();
    const asleep = clock.sleep(3_600_000, controller.signal);
    controller.abort(new Error("woken"));
    await expect(asleep).rejects.toThrow("woken");
    await expect(clock.sleep(0, controller.signal)).rejects.toThrow("woken");
    await pass(1);
  });
});
