import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("a run that does not end", () => {
  it("is aborted when it takes too long, and retried", async () => {
    const errors: unknown[] = [];
    await world.run(
      controller(Website, {
        timeout: "10s",
        retry: { initial: "1h", max: "2h" },
        onError: (error) => errors.push(error),
        reconcile: (_, ctx) => world.clock.sleep(60_000, ctx.signal),
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(11_000);
    expect(errors).toMatchObject([{ code: "RECONCILE_TIMEOUT" }]);
  });

  it("is reported, others go on, and its key stays locked", async () => {
    const errors: unknown[] = [];
    const runs: string[] = [];
    let release = (): void => {};
    const run = await world.run(
      controller(Website, {
        timeout: "10s",
        concurrency: 1,
        retry: { initial: "1s", jitter: 0 },
        onError: (error) => errors.push(error),
        reconcile: (site) => {
          runs.push(site.metadata.name);
          if (runs.length > 1) return;
          return new Promise<void>((resolve) => {
            release = resolve;
          });
        },
      }),
    );
    await world.createWebsite("hanging");
    await world.createWebsite("b");
    await world.clock.advance(60_000);
    expect(errors).toMatchObject([{ code: "RECONCILE_HUNG" }]);
    expect(runs).toEqual(["hanging", "b"]);
    expect(run.status().running).toEqual(["team/hanging"]);
    release();
    await world.clock.advance(10_000);
    expect(runs).toEqual(["hanging", "b", "hanging"]);
  });

  it("does not delay a stop [case 18]", async () => {
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, error: (line) => void lines.push(line), with: () => log };
    let letGo = (): void => {};
    const reconcile = (): Promise<void> => new Promise((resolve) => (letGo = resolve));
    const run = await world.run(controller(Website, { reconcile }), { log });
    await world.createWebsite("a");
    await world.clock.settle();
    const stopped = run.stop(1_000);
    await world.clock.advance(15_000);
    await stopped;
    expect(run.status().phase).toBe("stopped");
    expect(lines).toEqual([expect.stringContaining("team/a continues although its signal is aborted")]);
    expect([...run.stuck]).toEqual(["team/a"]);
    letGo();
    await world.clock.settle();
    expect([...run.stuck]).toEqual([]);
  });

  it("may end before the stop does, and causes no error if it was aborted", async () => {
    const errors: unknown[] = [];
    const run = await world.run(
      controller(Website, {
        onError: (error) => errors.push(error),
        reconcile: async (site, ctx) => {
          await world.clock.sleep(site.metadata.name === "short" ? 5_000 : 600_000, ctx.signal);
        },
      }),
    );
    await world.createWebsite("short");
    await world.createWebsite("long");
    await world.clock.settle();
    const stopped = run.stop(10_000);
    await world.createWebsite("late");
    await world.clock.advance(11_000);
    await stopped;
    expect(world.runs().map(({ key, outcome }) => `${key} ${outcome}`)).toEqual([
      "team/short done",
      "team/long aborted",
    ]);
    expect(errors).toEqual([]);
  });

  it("keeps its key locked, or parked if it fails, whatever its error handler throws", async () => {
    const runs: string[] = [];
    const run = await world.run(
      controller(Website, {
        timeout: "10s",
        retry: { initial: "1s", jitter: 0, attempts: 2 },
        onError: () => {
          throw new Error("the handler's own");
        },
        reconcile: (site) => {
          runs.push(site.metadata.name);
          if (site.metadata.name === "failing") throw new Error("no");
          return new Promise<void>(() => {});
        },
      }),
    );
    await world.createWebsite("hanging");
    await world.createWebsite("failing");
    await world.clock.advance(60_000);
    expect(runs).toEqual(["hanging", "failing", "failing", "failing"]);
    expect(run.status()).toMatchObject({ running: ["team/hanging"], parked: ["team/failing"] });
  });

  it("keeps its key locked even if an observer throws", async () => {
    const runs: string[] = [];
    const observer = {
      runEnded: () => {
        throw new Error("the observer's own");
      },
    };
    const run = await world.run(
      controller(Website, {
        timeout: "10s",
        retry: { initial: "1s", jitter: 0 },
        reconcile: (site) => {
          runs.push(site.metadata.name);
          return new Promise<void>(() => {});
        },
      }),
      { observer },
    );
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    expect([runs, [...run.stuck]]).toEqual([["a"], ["team/a"]]);
  });
});
