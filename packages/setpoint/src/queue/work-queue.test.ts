import { describe, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.js";

type Causes = readonly string[];

function newQueue(options: Partial<WorkQueueOptions<Causes>> = {}): { clock: VirtualClock; queue: WorkQueue<Causes> } {
  const clock = new VirtualClock();
  const merge = (earlier: Causes, later: Causes): Causes => [...earlier, ...later];
  return { clock, queue: new WorkQueue({ clock, random: seededRandom(1), merge, ...options }) };
}

/** A worker that records what it got, with the time. */
function work(queue: WorkQueue<Causes>, clock: VirtualClock): string[] {
  const served: string[] = [];
  void (async () => {
    for (let item = await queue.get(); item; item = await queue.get()) {
      served.push(`${item.key} at ${clock.monotonic()}`);
      queue.done(item);
    }
    served.push("end");
  })();
  return served;
}

describe("WorkQueue", () => {
  it("hands a key to the worker that waited longest", async () => {
    const { queue } = newQueue();
    const [first, second] = [queue.get(), queue.get()];
    queue.add("a/x", ["created"]);
    expect(await first).toMatchObject({ key: "a/x", cause: ["created"] });
    queue.add("a/y", ["created"]);
    expect((await second)!.key).toBe("a/y");
  });

  it("releases waiting workers when they are dismissed, and loses no key", async () => {
    const { queue } = newQueue();
    const waiting = [queue.get(), queue.get()];
    queue.dismiss();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    queue.add("a/x", []);
    expect((await queue.get())!.key).toBe("a/x");
    const later = queue.get();
    queue.add("a/y", []);
    expect((await later)!.key).toBe("a/y");
  });

  it("runs an item due in 200 ms not after 50, and once after 300 [case 15]", async () => {
    const { clock, queue } = newQueue();
    const served = work(queue, clock);
    queue.add("a/x", [], { after: 200 });
    await clock.advance(50);
    expect(served).toEqual([]);
    await clock.advance(250);
    expect(served).toEqual(["a/x at 200"]);
  });

  it("needs one timer for all delayed keys", async () => {
    const { clock, queue } = newQueue();
    const served = work(queue, clock);
    for (let at = 100; at > 0; at--) queue.add(`a/${at}`, [], { after: at });
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(100);
    expect(served).toEqual(Array.from({ length: 100 }, (_, at) => `a/${at + 1} at ${at + 1}`));
    expect(clock.pendingTimers).toBe(0);
  });

  it("counts retries, but not delayed adds, until the key is forgotten [case 16]", () => {
    const { queue } = newQueue({ backoff: { initial: 100, jitter: 0 } });
    queue.add("a/x", ["requeue"], { after: 10 });
    expect(queue.retries("a/x")).toBe(0);
    expect([queue.retry("a/x", ["retry"]), queue.retry("a/x", ["retry"])]).toEqual([100, 200]);
    expect(queue.retries("a/x")).toBe(2);
    queue.forget("a/x");
    expect([queue.retries("a/x"), queue.retry("a/x", ["retry"])]).toEqual([0, 100]);
  });

  it("retries after a requested time instead of the back-off, and counts it", () => {
    const { queue } = newQueue({ backoff: { initial: 100, jitter: 0 } });
    expect([queue.retry("a/x", [], { after: 7 }), queue.retries("a/x"), queue.retry("a/x", [])]).toEqual([7, 1, 200]);
  });

  it("limits all retries together on request", () => {
    const { queue } = newQueue({ backoff: { initial: 1, jitter: 0 }, retryLimit: { perSecond: 10, burst: 2 } });
    expect(["a", "b", "c", "d"].map((key) => queue.retry(key, []))).toEqual([1, 1, 100, 200]);
  });

  it("cancels pending retries of one key only, also while that key runs [case 17]", async () => {
    const { clock, queue } = newQueue();
    queue.add("a/x", ["first"]);
    const running = queue.take()!;
    queue.add("a/x", ["retry"], { after: 10 });
    queue.add("a/y", ["retry"], { after: 10 });
    expect(queue.cancel("a/x")).toBe(true);
    queue.done(running);
    const served = work(queue, clock);
    await clock.advance(100);
    expect(served).toEqual(["a/y at 10"]);
  });

  it("after shutDown hands out queued keys, drops delayed ones, refuses adds and ends its workers [case 18]", async () => {
    const { clock, queue } = newQueue();
    queue.add("a/x", []);
    queue.add("a/later", [], { after: 50 });
    queue.shutDown();
    queue.add("a/refused", []);
    const served = work(queue, clock);
    await clock.advance(100);
    expect(served).toEqual(["a/x at 0", "end"]);
    expect([clock.pendingTimers, queue.isShutDown]).toEqual([0, true]);
  });

  it("is drained only when a key that was added again has run again [case 56]", async () => {
    const { clock, queue } = newQueue();
    queue.add("a/x", ["first"]);
    const item = queue.take()!;
    queue.add("a/x", ["second"]);
    queue.shutDown();
    let isDrained = false;
    void queue.drained().then(() => {
      isDrained = true;
    });
    queue.done(item);
    await clock.settle();
    expect(isDrained).toBe(false);
    const again = queue.take()!;
    expect(again.cause).toEqual(["second"]);
    queue.done(again);
    await clock.settle();
    expect(isDrained).toBe(true);
  });

  it("gives up waiting for a drain with the signal", async () => {
    const { queue } = newQueue();
    queue.add("a/x", []);
    const controller = new AbortController();
    const drained = queue.drained(controller.signal);
    controller.abort();
    await drained;
    expect(queue.depth).toBe(1);
  });

  it("reports to its observer what arrived, how long it waited and how long it took", async () => {
    const seen: string[] = [];
    const { clock, queue } = newQueue({
      backoff: { initial: 10, jitter: 0 },
      observer: {
        added: () => seen.push("added"),
        taken: (waitedMs) => seen.push(`taken after ${waitedMs}`),
        finished: (workedMs) => seen.push(`finished after ${workedMs}`),
        retried: () => seen.push("retried"),
      },
    });
    queue.add("a/x", []);
    queue.add("a/x", []);
    await clock.advance(5);
    const item = queue.take()!;
    expect([...queue.running].map(({ key, startedMs }) => `${key} since ${startedMs}`)).toEqual(["a/x since 5"]);
    queue.add("a/x", []);
    queue.add("a/x", []);
    await clock.advance(7);
    queue.done(item);
    queue.done(queue.take()!);
    queue.retry("a/x", []);
    await clock.advance(10);
    expect(seen).toEqual([
      "added",
      "taken after 5",
      "added",
      "finished after 7",
      "taken after 0",
      "finished after 0",
      "retried",
      "added",
    ]);
    expect([queue.depth, queue.delayed]).toEqual([1, 0]);
  });
});
