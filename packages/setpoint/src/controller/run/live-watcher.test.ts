import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SetpointError } from "../../errors/error.js";
import { controller } from "../controller.js";
import { type WatcherOptions, watcher } from "../watcher.js";
import { Website, World } from "../world.testing.js";

let world: World;
let seen: string[];
beforeEach(async () => {
  world = await World.create();
  seen = [];
});
afterEach(() => world[Symbol.asyncDispose]());

const never = (): Promise<void> => new Promise(() => {});

/** A lease that a test ends: `expire` by the clock only, `lose` also notifies everybody. */
function lease() {
  const lost = new AbortController();
  let isHeld = true;
  const error = new SetpointError("LEASE_LOST", "another process leads");
  return {
    fence: {
      lost: lost.signal,
      check: () => {
        if (!isHeld) throw error;
      },
    },
    expire: () => {
      isHeld = false;
    },
    lose: () => {
      isHeld = false;
      lost.abort(error);
    },
  };
}

describe("a watcher whose lease is lost", () => {
  const finalizer = "example.com/websites";
  const held = (options: WatcherOptions<Website> = {}) =>
    watcher(Website, { finalizer, retry: { initial: "1s" }, ...options });

  it("sends no request after the lease has expired by its own clock, even if nobody told it", async () => {
    const { fence, expire } = lease();
    const errors: unknown[] = [];
    await world.watch(held({ add: expire, onError: (error) => errors.push(error) }), { fence });
    await world.createWebsite("a");
    await world.clock.settle();
    expect(world.writes).toHaveLength(1);
    expect((await world.website("a"))?.metadata.finalizers).toEqual([`${finalizer}-wip`]);
    expect(errors[0]).toMatchObject({ code: "LEASE_LOST" });
    const sent = world.requests.length;
    await world.createWebsite("b");
    await world.clock.advance(600_000);
    expect(world.requests.slice(sent)).toEqual([]);
  });

  it("has its step aborted by its signal, and starts no other", async () => {
    const { fence, lose } = lease();
    const errors: unknown[] = [];
    await world.watch(
      held({
        onError: (error) => errors.push(error),
        async add({ metadata }, { signal }) {
          seen.push(`add ${metadata.name}`);
          await world.clock.sleep(60_000, signal).catch(() => seen.push(`ended by ${signal.reason.code}`));
        },
      }),
      { fence },
    );
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    lose();
    await world.createWebsite("b");
    await world.clock.advance(600_000);
    expect(seen).toEqual(["add a", "ended by LEASE_LOST"]);
    expect(world.writes).toHaveLength(1);
    expect(errors).toEqual([]);
  });
});

it("stopped watchers and controllers leave no listener on a lease that is still held", async () => {
  const { fence } = lease();
  for (let round = 0; round < 3; round++) {
    const watching = await world.watch(watcher(Website, {}), { fence });
    const running = await world.run(controller(Website, { reconcile: () => {} }), { fence });
    await watching.stop();
    await running.stop();
  }
  expect(getEventListeners(fence.lost, "abort")).toEqual([]);
});

describe("a watcher that stops", () => {
  it("handles queued steps, and drops delayed retries", async () => {
    const run = await world.watch(
      watcher(Website, {
        concurrency: 1,
        retry: { initial: "1m" },
        async add({ metadata }) {
          await world.clock.sleep(1_000);
          seen.push(metadata.name);
          if (metadata.name === "a") throw new Error("not now");
        },
      }),
    );
    for (const name of ["a", "b", "c"]) await world.createWebsite(name);
    await world.clock.settle();
    const stopped = run.stop(10_000);
    await world.createWebsite("late");
    await world.clock.advance(600_000);
    await stopped;
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it("does not wait for a hung step, and names it [case 18]", async () => {
    const errors: unknown[] = [];
    const run = await world.watch(watcher(Website, { add: never, onError: (error) => errors.push(error) }));
    await world.createWebsite("a");
    await world.clock.settle();
    const stopped = run.stop(1_000);
    await world.clock.advance(15_000);
    await stopped;
    expect(errors).toMatchObject([{ code: "RECONCILE_HUNG", message: expect.stringContaining("add of team/a") }]);
  });
});

describe("a step that takes too long", () => {
  it("is aborted by its signal, and retried", async () => {
    const errors: unknown[] = [];
    await world.watch(
      watcher(Website, {
        timeout: "10s",
        retry: { initial: "1s", jitter: 0 },
        onError: (error) => errors.push(error),
        add: async (_, { attempt, signal }) => {
          seen.push(`${attempt}`);
          if (attempt === 0) await world.clock.sleep(60_000, signal);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(20_000);
    expect(errors).toMatchObject([{ code: "RECONCILE_TIMEOUT", message: expect.stringContaining("add of team/a") }]);
    expect(seen).toEqual(["0", "1"]);
  });

  it("is reported if it does not end; other objects go on, and its own wait until it does", async () => {
    const errors: unknown[] = [];
    let letGo = (): void => {};
    const run = await world.watch(
      watcher(Website, {
        concurrency: 1,
        timeout: "10s",
        retry: { initial: "1s", jitter: 0, attempts: 0 },
        onError: (error) => errors.push(error),
        add: ({ metadata }) => {
          seen.push(`add ${metadata.name}`);
          if (metadata.name === "a") return new Promise<void>((resolve) => (letGo = resolve));
        },
        update: ({ metadata }, _, { merged }) => {
          seen.push(`update ${metadata.name} to ${metadata.annotations?.at}${merged ? ", merged" : ""}`);
        },
      }),
    );
    await world.createWebsite("a");
    await world.createWebsite("b");
    await world.clock.advance(30_000);
    expect(errors).toMatchObject([{ code: "RECONCILE_HUNG", message: expect.stringContaining("add of team/a") }]);
    expect([seen, [...run.stuck]]).toEqual([["add a", "add b"], ["team/a"]]);

    const updates = 100;
    for (let at = 1; at <= updates; at++) await world.annotate("a", { at: `${at}` });
    await world.annotate("b", { at: "1" });
    await world.clock.settle();
    expect([run.backlog, seen.slice(2)]).toEqual([0, ["update b to 1"]]);

    seen = [];
    letGo();
    await world.clock.settle();
    expect([...run.stuck]).toEqual([]);
    expect(seen.length).toBeLessThan(updates);
    expect([seen[0], seen.at(-1)]).toEqual(["update a to 1", `update a to ${updates}, merged`]);
  });

  it("does not delay a later stop", async () => {
    const run = await world.watch(watcher(Website, { timeout: "10s", add: never }));
    await world.createWebsite("a");
    await world.clock.advance(30_000);
    let isStopped = false;
    void run.stop(60_000).then(() => (isStopped = true));
    await world.clock.settle();
    expect(isStopped).toBe(true);
  });
});

describe("a watcher", () => {
  it("handles 90 objects of 100 ms in 3 s with three workers, and stops after the running steps [case 20]", async () => {
    let [active, most, ended] = [0, 0, 0];
    const run = await world.watch(
      watcher(Website, {
        concurrency: 3,
        add: async () => {
          most = Math.max(most, ++active);
          await world.clock.sleep(100);
          active--;
          ended++;
        },
      }),
    );
    for (let at = 0; at < 90; at++) await world.createWebsite(`site-${at}`);
    await world.clock.advance(2_999);
    expect([most, ended]).toEqual([3, 87]);
    await world.clock.advance(1);
    expect(ended).toBe(90);

    for (let at = 0; at < 9; at++) await world.createWebsite(`late-${at}`);
    await world.clock.settle();
    const stopped = run.stop(0);
    await world.clock.advance(100);
    await stopped;
    expect(ended).toBe(93);
  });

  it("counts the waiting steps, down to none [case 21]", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const run = await world.watch(watcher(Website, { concurrency: 1, add: () => gate }));
    for (const name of ["a", "b", "c"]) await world.createWebsite(name);
    await world.clock.settle();
    expect(run.backlog).toBe(2);
    release();
    await world.clock.settle();
    expect(run.backlog).toBe(0);
  });

  it("handles many objects at once without a MaxListeners warning", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    await world.watch(watcher(Website, { concurrency: 20, add: () => world.clock.sleep(1_000) }));
    for (let at = 0; at < 20; at++) await world.createWebsite(`s-${at}`);
    await world.clock.advance(2_000);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  it("loses no step if a policy throws", async () => {
    await world.watch(
      watcher(Website, {
        retry: { initial: "1m", jitter: 0 },
        supersedes: () => {
          throw new Error("the policy's own");
        },
        add() {
          seen.push("add");
          if (seen.length === 1) throw new Error("no");
        },
        update: () => void seen.push("update"),
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await world.annotate("a", { touched: "yes" });
    await world.clock.advance(90_000);
    expect(seen).toEqual(["add", "update", "add"]);
  });

  it("loses no step if an error handler throws", async () => {
    await world.watch(
      watcher(Website, {
        concurrency: 1,
        retry: { initial: "1s", jitter: 0 },
        onError: () => {
          throw new Error("the handler's own");
        },
        add({ metadata }) {
          seen.push(metadata.name);
          if (seen.length === 1) throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.createWebsite("b");
    await world.clock.advance(10_000);
    expect(seen).toEqual(["a", "b", "a"]);
  });
});
