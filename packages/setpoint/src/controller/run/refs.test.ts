import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCondition } from "../../kinds/condition.js";
import { done, waitFor } from "../../loop/outcome.js";
import { type ControllerOptions, controller } from "../controller.js";
import "./ref-schedule.js"; // loaded in advance: virtual time does not wait for a file
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

/** The image of a website names the websites that it refers to: `a,b`. */
const refs = ({ spec }: Website): readonly string[] => (spec.image === "" ? [] : spec.image.split(","));

interface Call {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly end: (fail?: unknown) => Promise<void>;
}

/** A controller with refs whose every run waits for the test; runs are logged by name. */
class Site {
  readonly log: string[] = [];
  readonly calls: Call[] = [];

  async start(options: Partial<ControllerOptions<Website>> = {}): Promise<void> {
    const reconcile: ControllerOptions<Website>["reconcile"] = async (site, ctx) => {
      const { name } = site.metadata;
      ctx.requireRefs();
      this.log.push(name);
      const { signal } = ctx;
      await new Promise<void>((resolve, reject) => {
        const end = (fail?: unknown): Promise<void> => {
          this.calls.splice(this.calls.indexOf(call), 1);
          if (fail === undefined) resolve();
          else reject(fail);
          return world.clock.settle();
        };
        const call: Call = { name, signal, end };
        this.calls.push(call);
      });
      signal.throwIfAborted();
    };
    await world.run(controller(Website, { refs, reconcile, retry: { initial: "1m" }, ...options }));
  }

  get running(): readonly string[] {
    return this.calls.map(({ name }) => name).sort();
  }

  call(name: string): Call {
    return this.calls.find((call) => call.name === name)!;
  }

  async finishAll(): Promise<void> {
    await world.clock.settle();
    while (this.calls[0]) await this.calls[0].end();
  }
}

const make = (name: string, ...refNames: readonly string[]) => world.createWebsite(name, { image: refNames.join(",") });
const point = (name: string, ...refNames: readonly string[]) =>
  world.client.patch(
    Website,
    name,
    { type: "merge", body: { spec: { image: refNames.join(",") } } },
    { namespace: "team" },
  );
const reconciled = async (name: string) =>
  findCondition((await world.website(name))?.status?.conditions ?? [], "Reconciled");

describe("a controller that declares refs", () => {
  it("runs objects after the ones they refer to, whatever their order in the queue and the number of workers", async () => {
    await make("test", "deploy");
    await make("deploy", "migrate");
    await make("migrate");
    await make("other");
    const site = new Site();
    await site.start({ concurrency: 1 });
    await site.finishAll();
    expect(site.log.filter((name) => name !== "other")).toEqual(["migrate", "deploy", "test"]);
    expect(site.log).toHaveLength(4);
    const held = world.runs("team/deploy").find(({ outcome }) => outcome === "held");
    expect(held?.reason).toContain("waits for Website/team/migrate, which it refers to");
  });

  it("keeps dependents waiting while an object waits, and runs them when it is done", async () => {
    let isDone = false;
    const log: string[] = [];
    await world.run(
      controller(Website, {
        refs,
        reconcile: (object) => {
          log.push(object.metadata.name);
          return object.metadata.name === "migrate" && !isDone ? waitFor("JobDone", { recheck: "1m" }) : done();
        },
      }),
    );
    await make("migrate");
    await make("deploy", "migrate");
    await world.clock.settle();
    expect(log).toEqual(["migrate"]);
    isDone = true;
    await world.clock.advance(61_000);
    expect(log).toEqual(["migrate", "migrate", "deploy"]);
    expect(world.runs("team/deploy").at(-1)?.causes).toContainEqual({
      type: "dependency",
      kind: "Website",
      key: "team/migrate",
      change: "updated",
    });
  });

  it("cancels a run when an object above it has to run, waits for it, then runs both once", async () => {
    const site = new Site();
    await site.start();
    await make("a");
    await make("b", "a");
    await world.clock.settle();
    await site.call("a").end();
    const below = site.call("b");
    await world.annotate("a", { "example.com/touched": "1" });
    await world.clock.settle();
    expect([below.signal.aborted, site.running]).toEqual([true, ["b"]]);
    await below.end();
    expect(site.running).toEqual(["a"]);
    await site.finishAll();
    expect(site.log).toEqual(["a", "b", "a", "b"]);
    expect(await reconciled("b")).toMatchObject({ status: "True" });
  });

  it("shows a wait on objects whose ref is missing or has failed, and runs them when it has run", async () => {
    const site = new Site();
    await site.start();
    await make("b", "a");
    await world.clock.settle();
    expect(await reconciled("b")).toMatchObject({ reason: "RefsReady", message: "Website team/a is not there" });
    await make("a");
    await world.clock.settle();
    await site.call("a").end(new Error("no disk"));
    expect(site.running).toEqual([]);
    expect(await reconciled("b")).toMatchObject({ message: "Website team/a has failed: no disk" });
    await world.clock.advance(120_000);
    await site.finishAll();
    expect(site.log).toEqual(["a", "a", "b"]);
  });

  it("runs no object of a cycle, reports it on each, and runs all when it is cut", async () => {
    const site = new Site();
    await site.start();
    await make("a", "c");
    await make("b", "a");
    await make("c", "b");
    await site.finishAll();
    for (const name of ["a", "b", "c"]) {
      expect(await reconciled(name)).toMatchObject({ status: "False", reason: "TerminalError" });
    }
    expect(site.log).toEqual([]);
    await point("a");
    await site.finishAll();
    expect(site.log).toEqual(["a", "b", "c"]);
    expect(await reconciled("c")).toMatchObject({ status: "True" });
  });

  it("finalizes an object although its ref never comes to rest, and tells its dependents", async () => {
    const log: string[] = [];
    await world.run(
      controller(Website, {
        refs,
        reconcile: ({ metadata }, ctx) => {
          log.push(metadata.name);
          return metadata.name === "a" ? waitFor("Never") : ctx.requireRefs();
        },
        finalize: ({ metadata }) => void log.push(`finalize ${metadata.name}`),
      }),
    );
    await make("b");
    await make("c", "b");
    await world.clock.settle();
    await make("a");
    await point("b", "a");
    await world.clock.settle();
    log.length = 0;
    await world.client.delete(Website, "b", { namespace: "team" });
    await world.clock.settle();
    expect(log).toEqual(["finalize b", "c"]);
    expect(await reconciled("c")).toMatchObject({ message: "Website team/b is not there" });
  });

  it("repeats a run for an update of its own object before dependents run", async () => {
    const site = new Site();
    await site.start();
    await make("a");
    await make("b", "a");
    await world.clock.settle();
    await world.annotate("a", { "example.com/touched": "1" });
    await world.clock.settle();
    expect(site.call("a").signal.aborted).toBe(false);
    await site.finishAll();
    expect(site.log).toEqual(["a", "a", "b"]);
  });

  it("does not let a paused object block others, and runs all in order after a restart", async () => {
    await make("a");
    await world.annotate("a", { "setpoint.dev/paused": "true" });
    await make("b", "a");
    const site = new Site();
    await site.start();
    await site.finishAll();
    expect(site.log).toEqual(["b"]);
  });

  it("fails an object whose refs cannot be read, with its name", async () => {
    const site = new Site();
    await site.start({ refs: ({ spec }) => (spec.image === "bad" ? ["x/y/z", 7 as never] : []) });
    await world.createWebsite("a", { image: "bad" });
    await make("b");
    await site.finishAll();
    expect(site.log).toEqual(["b"]);
    expect((await reconciled("a"))?.message).toContain("controller websites: refs of team/a");
  });
});
