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
  it("rejects with an unforgiven error of one member, and stops the others [case 36]", async () => {
    const [a, b] = [member("a"), member("b")];
    const running = new RunnableGroup({ name: "g", members: [a, b] }).run(new AbortController().signal);
    a.fail(new Error("oh"));
    await expect(running).rejects.toThrow("oh");
    expect(b.log).toEqual(["started", "stopped"]);
  });

  it("keeps the others running after a forgiven error; an aborted signal is no error [case 36]", async () => {
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

  it("names a member that does not end in time, with the first error as the cause [case 36]", async () => {
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

  it("names a removed member that does not end in time; the others go on", async () => {
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

  it("forgives nothing if the error policy itself throws", async () => {
    const a = member("a");
    const onError = (): boolean => {
      throw new Error("the policy's own");
    };
    const running = new RunnableGroup({ name: "g", members: [a], onError }).run(new AbortController().signal);
    a.fail(new Error("oh"));
    await expect(running).rejects.toThrow("the policy's own");
  });

  it("starts a member that is added while running, and stops only the one that is removed [case 37]", async () => {
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

  it("starts a member that is added during the shutdown in its next run, and leaves no listener on the signal", async () => {
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
