import { describe, expect, it } from "vitest";
import type { Clock, Timer } from "../../clock/clock.js";
import { type BlockedLoop, EventLoopWatch } from "./event-loop-watch.js";

/** A clock whose timers fire when the test says so: late, as behind blocking code. */
class LateClock implements Clock {
  nowMs = 0;
  #callback: (() => void) | undefined;

  now(): number {
    return this.nowMs;
  }

  monotonic(): number {
    return this.nowMs;
  }

  timer(_delayMs: number, callback: () => void): Timer {
    this.#callback = callback;
    const timer: Timer = { unref: () => timer, [Symbol.dispose]: () => (this.#callback = undefined) };
    return timer;
  }

  sleep(): Promise<void> {
    return Promise.resolve();
  }

  get isTicking(): boolean {
    return this.#callback !== undefined;
  }

  fireAt(nowMs: number): void {
    this.nowMs = nowMs;
    const callback = this.#callback;
    this.#callback = undefined;
    callback?.();
  }
}

function watch(): { clock: LateClock; loop: EventLoopWatch; blocked: BlockedLoop[] } {
  const clock = new LateClock();
  const blocked: BlockedLoop[] = [];
  return { clock, blocked, loop: new EventLoopWatch(clock, (found) => blocked.push(found)) };
}

describe("EventLoopWatch", () => {
  it("names the run that was active last before the loop blocked", () => {
    const { clock, loop, blocked } = watch();
    loop.begin({ key: "team/waiting", lastSeenMs: 10 });
    loop.begin({ key: "team/busy", lastSeenMs: 400 });
    clock.fireAt(500);
    expect(blocked).toEqual([]);
    clock.fireAt(4_000);
    expect(blocked).toEqual([{ blockedMs: 3_000, key: "team/busy", others: ["team/waiting"] }]);
  });

  it("names a run that blocked right at its end, too", () => {
    const { clock, loop, blocked } = watch();
    const run = { key: "team/busy", lastSeenMs: 100 };
    loop.begin(run);
    loop.end(run);
    clock.fireAt(9_500);
    expect(blocked).toMatchObject([{ blockedMs: 9_000, key: "team/busy" }]);
  });

  it("does not name runs that were active only after the loop went on", () => {
    const { clock, loop, blocked } = watch();
    loop.begin({ key: "team/waiting", lastSeenMs: -1 });
    const busy = { key: "team/busy", lastSeenMs: 0 };
    loop.begin(busy);
    clock.nowMs = 1_500;
    loop.end(busy);
    loop.begin({ key: "team/next", lastSeenMs: 1_500 });
    clock.fireAt(1_501);
    expect(blocked).toEqual([{ blockedMs: 1_001, key: "team/busy", others: ["team/waiting", "team/next"] }]);
  });

  it("names a run that blocked and was active again since", () => {
    const { clock, loop, blocked } = watch();
    loop.begin({ key: "team/waiting", lastSeenMs: 0 });
    loop.begin({ key: "team/busy", lastSeenMs: 1_501, pause: { fromMs: 1, toMs: 1_501 } });
    clock.fireAt(1_502);
    expect(blocked).toMatchObject([{ key: "team/busy" }]);
  });

  it("ticks only while something runs", () => {
    const { clock, loop } = watch();
    expect(clock.isTicking).toBe(false);
    const run = { key: "team/a", lastSeenMs: 0 };
    loop.begin(run);
    expect(clock.isTicking).toBe(true);
    loop.end(run);
    clock.fireAt(500);
    expect(clock.isTicking).toBe(false);
  });
});
