import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { controller, type Predicate } from "../controller.js";
import { watcher } from "../watcher.js";
import { Website, World } from "../world.testing.js";

const OURS = "setpoint.dev/websites";
const HELD = "example.com/audit";
const here = { namespace: "team" };

/** The rows of the app SDK's table of opinionated watchers and reconcilers, with the original's errors corrected. */
describe("the opinionated mode, row by row:", () => {
  let world: World;
  let calls: string[];
  beforeEach(async () => {
    world = await World.create();
    calls = [];
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const finalizersOf = async (name: string) => (await world.website(name))?.metadata.finalizers;
  const patch = (body: object) => world.client.patch(Website, "a", { type: "merge", body: body as never }, here);

  describe("a reconciler", () => {
    const sites = ({ during, when }: { during?: () => Promise<unknown>; when?: Predicate<Website> } = {}) =>
      controller(Website, {
        resync: "1h",
        ...(when ? { when } : {}),
        reconcile: async (_site, ctx) => {
          calls.push(ctx.action);
          await during?.();
        },
        finalize: (_site, ctx) => void calls.push(`finalize ${ctx.action}`),
      });

    it("does not miss a delete during the first reconcile of an object [case 24]", async () => {
      let isFirst = true;
      const during = async (): Promise<void> => {
        if (isFirst) await world.client.delete(Website, "a", here);
        isFirst = false;
      };
      await world.run(sites({ during }));
      await world.createWebsite("a");
      await world.clock.advance(1_000);
      expect(calls).toEqual(["created", "finalize deleted"]);
      expect(await world.website("a")).toBeUndefined();
    });

    it("gets resynced after a restart for an object that has its finalizer [case 32]", async () => {
      const first = await world.run(sites());
      await world.createWebsite("a");
      await world.clock.advance(0);
      await first.stop();
      await world.run(sites());
      await world.clock.advance(0);
      expect(calls).toEqual(["created", "resynced"]);
    });

    it("gets updated for a change, even at the same generation, and resynced for none [case 5]", async () => {
      await world.run(sites());
      await world.createWebsite("a");
      await world.clock.advance(0);
      await patch({ spec: { image: "httpd" } });
      await world.clock.advance(0);
      await patch({ metadata: { labels: { team: "web" } } });
      await world.clock.advance(0);
      expect(calls).toEqual(["created", "updated", "updated"]);
      await world.clock.advance(3_600_000 * 1.5);
      expect(calls).toEqual(["created", "updated", "updated", "resynced"]);
    });

    it("restores its removed finalizer on an update before it reconciles [case 33]", async () => {
      await world.run(sites());
      await world.createWebsite("a");
      await world.clock.advance(0);
      await patch({ metadata: { finalizers: null } });
      await world.clock.advance(0);
      expect(await finalizersOf("a")).toEqual([OURS]);
      expect(calls).toEqual(["created", "updated"]);
    });

    it("restores its removed finalizer on a resync before it reconciles", async () => {
      await world.run(sites({ when: { changed: ["spec"] } }));
      await world.createWebsite("a");
      await world.clock.advance(0);
      await patch({ metadata: { finalizers: null } });
      await world.clock.advance(0);
      expect([await finalizersOf("a"), calls]).toEqual([undefined, ["created"]]);
      await world.clock.advance(3_600_000 * 1.5);
      expect([await finalizersOf("a"), calls]).toEqual([[OURS], ["created", "resynced"]]);
    });

    it("does not run for the update that only added its own finalizer [case 30]", async () => {
      await world.run(sites());
      await world.createWebsite("a");
      await world.clock.advance(10_000);
      expect(await finalizersOf("a")).toEqual([OURS]);
      expect(calls).toEqual(["created"]);
    });

    it("does nothing when the object is gone [case 34]", async () => {
      await world.run(sites());
      await world.createWebsite("a");
      await world.clock.advance(0);
      await world.client.delete(Website, "a", here);
      await world.clock.advance(10_000);
      expect(calls).toEqual(["created", "finalize deleted"]);
      expect(world.runs("team/a")).toHaveLength(2);
    });

    it("counts and reports an error on every attempt, retries included [case 13]", async () => {
      const errors: number[] = [];
      const failing = controller(Website, {
        retry: { initial: "1s", jitter: 0, attempts: 2 },
        reconcile: () => Promise.reject(new Error("no")),
        onError: (_error, { attempt }) => void errors.push(attempt),
      });
      await world.run(failing);
      await world.createWebsite("a");
      await world.clock.advance(10_000);
      expect(errors).toEqual([0, 1, 2]);
    });

    it("goes on in the same order when another of its kind is removed; removing one twice is harmless [case 12]", async () => {
      const cluster = world.cluster();
      const run = (name: string) =>
        world.run(
          controller(Website, { name, reconcile: ({ metadata }) => void calls.push(`${name} ${metadata.name}`) }),
          { cluster },
        );
      const [, middle] = [await run("first"), await run("middle"), await run("last")];
      await world.createWebsite("a");
      await world.clock.advance(0);
      await middle.stop();
      await middle.stop();
      await world.createWebsite("b");
      await world.clock.advance(0);
      expect(calls).toEqual(["first a", "middle a", "last a", "first b", "last b"]);
    });
  });

  describe("a watcher", () => {
    const audit = (remove: () => unknown = () => undefined) =>
      watcher(Website, {
        finalizer: HELD,
        resync: "1h",
        retry: { attempts: 0 },
        add: () => calls.push("add"),
        update: () => calls.push("update"),
        sync: () => calls.push("sync"),
        delete: () => {
          calls.push("delete");
          return remove();
        },
      });

    it("gets an object again by a resync, although its generation is the same [case 29]", async () => {
      await world.watch(audit());
      await world.createWebsite("a");
      await world.clock.advance(1_000);
      await world.clock.advance(3_600_000 * 1.5);
      expect(calls).toEqual(["add", "sync"]);
    });

    it("without sync gets add after a restart, and update for a resync [case 28]", async () => {
      const plain = () =>
        watcher(Website, {
          finalizer: HELD,
          resync: "1h",
          add: () => calls.push("add"),
          update: (site, old) => calls.push(`update ${old.spec.image} to ${site.spec.image}`),
        });
      const first = await world.watch(plain());
      await world.createWebsite("a");
      await world.clock.advance(1_000);
      await first.stop();
      await world.watch(plain());
      await world.clock.advance(1_000);
      expect(calls).toEqual(["add", "add"]);
      await world.clock.advance(3_600_000 * 1.5);
      expect(calls.slice(2)).toEqual(["update nginx to nginx"]);
    });

    it("gets a delete that failed for good again by a resync: deletion is checked before the generation [case 27]", async () => {
      let fails = true;
      await world.watch(audit(() => (fails ? Promise.reject(new Error("not yet")) : undefined)));
      await world.createWebsite("a");
      await world.clock.advance(1_000);
      await world.client.delete(Website, "a", here);
      await world.clock.advance(1_000);
      expect(await finalizersOf("a")).toEqual([HELD]);
      fails = false;
      await world.clock.advance(3_600_000 * 1.5);
      expect(calls).toEqual(["add", "delete", "delete"]);
      expect(await world.website("a")).toBeUndefined();
    });

    it("reports no failure if the object is deleted while it is being added [case 24]", async () => {
      const errors: unknown[] = [];
      await world.watch(
        watcher(Website, {
          finalizer: HELD,
          onError: (error) => errors.push(error),
          add: async () => {
            calls.push("add");
            await world.client.delete(Website, "a", here);
          },
          delete: () => calls.push("delete"),
        }),
      );
      await world.createWebsite("a");
      await world.clock.advance(60_000);
      expect([calls, errors]).toEqual([["add", "delete"], []]);
      expect(await world.website("a")).toBeUndefined();
    });

    it("gets no second delete when the object is gone [case 34]", async () => {
      await world.watch(audit());
      await world.createWebsite("a");
      await world.clock.advance(1_000);
      await world.client.delete(Website, "a", here);
      await world.clock.advance(10_000);
      expect(calls).toEqual(["add", "delete"]);
    });
  });
});
