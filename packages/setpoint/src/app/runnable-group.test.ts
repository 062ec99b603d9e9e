import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.js";
import { type Runnable, RunnableGroup } from "./runnable-group.js";

/** Runs until it is told to end, or to fail. */
function member(name: string) {
  let fail!: (error: Error) => void;
  const log: string[] = [];
  const runnable: Runnable = {
    name,
    run: (signal) =>
      new Promise((resolve, reject) => {
        log.push("started");
        fail = reject;
        signal.addEventListener("abort", () => {
          log.push("stopped");
          resolve();
        });
      }),
  };
  return { ...runnable, log, fail: (error: Error) => fail(error) };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("RunnableGroup", () => {
  it("an error that is not forgiven stops the others and is what run rejects with [case 36]", async () => {
    const [a, b] = [member("a"), member("b")];
    const running = new RunnableGroup({ name: "g", members: [a, b] }).run(new AbortController().signal);
    a.fail(new Error("oh"));
    await expect(running).rejects.toThrow("oh");
    expect(b.log).toEqual(["started", "stopped"]);
  });

  it("a forgiven error leaves the others running; the end of the signal is no error [case 36]", async () => {
    const [a, b] = [member("a"), member("b")];
    const stop = new AbortController();
    const seen: string[] = [];
    const onError = (_error: unknown, name: string) => {
      seen.push(name);
      return false;
    };
    const running = new RunnableGroup({ name: "g", members: [a, b], onError }).run(stop.signal);
    a.fail(new Error("oh"));
    await turn();
    expect([seen, b.log]).toEqual([["a"], ["started"]]);
    stop.abort();
    await expect(running).resolves.toBeUndefined();
    expect(b.log).toEqual(["started", "stopped"]);
  });

  it("one that does not end in time is named, with the error as the cause [case 36]", async () => {
    const clock = new VirtualClock();
    const a = member("a");
    const stuck = { name: "stuck", run: () => new Promise<void>(() => {}) };
    const group = new RunnableGroup({ name: "g", members: [a, stuck], exitWait: "5s", clock });
    const running = group.run(new AbortController().signal);
    const cause = new Error("oh");
    a.fail(cause);
    const ended = expect(running).rejects.toMatchObject({
      code: "RUNNABLE_STUCK",
      message: "group g: stuck did not end within 5000 ms",
      cause,
    });
    await clock.advance(5000);
    await ended;
  });

  it("one that is removed and does not end in time is named; the others go on", async () => {
    const clock = new VirtualClock();
    const a = member("a");
    const stuck = { name: "stuck", run: () => new Promise<void>(() => {}) };
    const group = new RunnableGroup({ name: "g", members: [a, stuck], exitWait: "5s", clock });
    const stop = new AbortController();
    const running = group.run(stop.signal);
    const removed = expect(group.remove("stuck")).rejects.toMatchObject({ code: "RUNNABLE_STUCK" });
    await clock.advance(5000);
    await removed;
    expect(a.log).toEqual(["started"]);
    stop.abort();
    await running;
  });

  it("a policy that throws forgives nothing", async () => {
    const a = member("a");
    const onError = (): boolean => {
      throw new Error("the policy's own");
    };
    const running = new RunnableGroup({ name: "g", members: [a], onError }).run(new AbortController().signal);
    a.fail(new Error("oh"));
    await expect(running).rejects.toThrow("the policy's own");
  });

  it("one that is added while running starts, one that is removed is stopped alone [case 37]", async () => {
    const [a, b] = [member("a"), member("b")];
    const stop = new AbortController();
    const group = new RunnableGroup({ name: "g", members: [a] });
    const running = group.run(stop.signal);
    group.add(b);
    expect(b.log).toEqual(["started"]);
    await group.remove("a");
    expect([a.log, b.log]).toEqual([["started", "stopped"], ["started"]]);
    expect(() => group.add(b)).toThrow("it has a b already");
    await expect(group.run(stop.signal)).rejects.toMatchObject({ code: "RUNNABLE_INVALID" });
    stop.abort();
    await running;
  });

  it("one that is added while the group ends waits for its next run, and leaves nothing on the signal", async () => {
    const clock = new VirtualClock();
    const late = member("late");
    const slow = { name: "slow", run: () => new Promise<void>(() => {}) };
    const group = new RunnableGroup({ name: "g", members: [slow], exitWait: "5s", clock });
    const stop = new AbortController();
    const running = group.run(stop.signal).catch(() => {});
    stop.abort();
    await turn();
    group.add(late);
    expect(late.log).toEqual([]);
    await clock.advance(5000);
    await running;
    const again = new AbortController();
    const next = group.run(again.signal);
    expect(late.log).toEqual(["started"]);
    late.fail(new Error("oh"));
    await expect(next).rejects.toThrow("oh");
    expect(getEventListeners(again.signal, "abort")).toEqual([]);
  });
});
