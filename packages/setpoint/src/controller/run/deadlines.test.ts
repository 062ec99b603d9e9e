import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { Deadlines } from "./deadlines.js";

const LIMIT_MS = 10_000;

function world() {
  const clock = new VirtualClock();
  const ending = new AbortController();
  const deadlines = new Deadlines(clock, LIMIT_MS, ending.signal);
  const begin = (name: string): AbortController => {
    const run = new AbortController();
    deadlines.begin(run, () => new Error(`${name} took too long`));
    return run;
  };
  return { clock, ending, deadlines, begin };
}

describe("Deadlines", () => {
  it("aborts each run when its own time is over, with its reason", async () => {
    const { clock, begin } = world();
    const first = begin("first");
    await clock.advance(4_000);
    const second = begin("second");
    await clock.advance(LIMIT_MS - 4_000);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
    expect(first.signal.reason.message).toBe("first took too long");
    await clock.advance(3_999);
    expect(second.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(second.signal.aborted).toBe(true);
  });

  it("leaves finished runs alone, and measures later ones from their own start", async () => {
    const { clock, deadlines, begin } = world();
    const ended = begin("ended");
    await clock.advance(1_000);
    deadlines.end(ended);
    await clock.advance(8_000);
    const later = begin("later");
    await clock.advance(LIMIT_MS - 1);
    expect([ended.signal.aborted, later.signal.aborted]).toEqual([false, false]);
    await clock.advance(1);
    expect([ended.signal.aborted, later.signal.aborted]).toEqual([false, true]);
  });

  it("works again after a time without runs", async () => {
    const { clock, deadlines, begin } = world();
    deadlines.end(begin("early"));
    await clock.advance(5 * LIMIT_MS);
    const late = begin("late");
    await clock.advance(LIMIT_MS);
    expect(late.signal.aborted).toBe(true);
  });

  it("aborts all runs, and later ones, with the reason of the signal", () => {
    const { ending, begin } = world();
    const [first, second] = [begin("first"), begin("second")];
    ending.abort(new Error("the lease is lost"));
    const late = begin("late");
    for (const run of [first, second, late]) expect(run.signal.reason.message).toBe("the lease is lost");
  });

  it("does nothing after disposal", async () => {
    const { clock, ending, deadlines, begin } = world();
    const run = begin("run");
    deadlines[Symbol.dispose]();
    ending.abort();
    await clock.advance(2 * LIMIT_MS);
    expect(run.signal.aborted).toBe(false);
  });
});
