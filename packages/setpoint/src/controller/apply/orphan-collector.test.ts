import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SharedInformer } from "../../informer/shared-informer.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { requeueAfter } from "../../loop/outcome.js";
import { controller, scoped } from "../controller.js";
import { failure, Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

/** Creates a child in another namespace. */
const across = () =>
  controller(Website, {
    owns: [scoped(ConfigMap, { namespaces: "all" })],
    reconcile: async ({ metadata: { name } }, ctx) => {
      await ctx.apply(ConfigMap, { metadata: { name, namespace: "other" }, data: { x: "1" } });
    },
  });

describe("children of a deleted object", () => {
  it("carry an owner annotation in other namespaces, and are deleted with it, also if it was deleted while down", async () => {
    const first = await world.run(across());
    await world.createWebsite("a");
    await world.createWebsite("b");
    await world.clock.settle();
    const find = (name: string) => world.client.find(ConfigMap, name, { namespace: "other" });
    expect((await find("a"))?.metadata.annotations?.["setpoint.dev/owner"]).toMatch(
      /^web.example.com\/v1\/Website team\/a /,
    );
    expect((await find("a"))?.metadata.ownerReferences).toBeUndefined();
    await world.client.delete(Website, "a", { namespace: "team" });
    await world.clock.settle();
    expect([await find("a"), (await find("b"))?.data]).toEqual([undefined, { x: "1" }]);

    await Promise.all([first.stop(), world.clock.advance(1_000)]);
    await world.client.delete(Website, "b", { namespace: "team" });
    await world.run(across());
    await world.clock.settle();
    expect(await find("b")).toBeUndefined();
  });

  it("do not include those of an object that is only out of scope", async () => {
    const within = (namespace: string) =>
      controller(Website, {
        namespaces: [namespace],
        owns: [scoped(ConfigMap, { namespaces: "all" })],
        reconcile: async (site, ctx) => {
          await ctx.apply(ConfigMap, {
            metadata: { name: site.metadata.name, namespace: "default" },
            data: { x: "1" },
          });
        },
      });
    await world.run(within("team"));
    await world.createWebsite("a");
    await world.clock.settle();
    await world.run(within("other"));
    await world.clock.settle();
    expect((await world.client.find(ConfigMap, "a", { namespace: "default" }))?.data).toEqual({ x: "1" });
  });

  it("are deleted also if another object takes its name at once", async () => {
    await world.run(
      controller(Website, {
        owns: [{ kind: ConfigMap, namespaces: "all" }],
        reconcile: async (site, ctx) => {
          ctx.state.image ??= site.spec.image;
          const data = { image: String(ctx.state.image) };
          await ctx.apply(ConfigMap, { metadata: { name: site.metadata.name, namespace: "other" }, data });
          return requeueAfter("1h");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await world.client.delete(Website, "a", { namespace: "team" });
    const successor = await world.createWebsite("a", { image: "caddy" });
    await world.clock.settle();
    const made = await world.client.get(ConfigMap, "a", { namespace: "other" });
    expect(made.data).toEqual({ image: "caddy" });
    expect(made.metadata.annotations?.["setpoint.dev/owner"]).toContain(successor.metadata.uid);
  });

  it("are found without listing the children of all others", async () => {
    await world.run(across());
    for (const name of ["a", "b", "c"]) await world.createWebsite(name);
    await world.clock.settle();
    using list = vi.spyOn(SharedInformer.prototype, "list");
    await world.client.delete(Website, "b", { namespace: "team" });
    await world.clock.settle();
    expect(list).not.toHaveBeenCalled();
    const { items } = await world.client.list(ConfigMap, { namespace: "other" });
    expect(items.flatMap(({ data, metadata }) => (data?.x ? [metadata.name] : []))).toEqual(["a", "c"]);
  });

  it("are retried with back-off while they cannot be deleted, and deleted when they can", async () => {
    await world.run(across());
    await world.createWebsite("a");
    await world.clock.settle();
    world.fault = ({ method }) => (method === "DELETE" ? failure(403, "Forbidden") : undefined);
    await world.client.delete(Website, "a", { namespace: "team" });
    await world.clock.advance(60_000);
    const tries = world.writes.filter((write) => write.startsWith("DELETE")).length;
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(15);
    world.fault = undefined;
    await world.clock.advance(300_000);
    expect(await world.client.find(ConfigMap, "a", { namespace: "other" })).toBeUndefined();
  });

  it("do not disturb a new object of the same name, however often their deletion is retried", async () => {
    const runs: unknown[] = [];
    await world.run(
      controller(Website, {
        owns: [scoped(ConfigMap, { namespaces: "all" })],
        reconcile: async (site, ctx) => {
          if (site.spec.image === "caddy") {
            runs.push(ctx.state.runs);
            ctx.state.runs = runs.length;
            return requeueAfter("30s");
          }
          await ctx.apply(ConfigMap, { metadata: { name: "child", namespace: "other" }, data: { x: "1" } });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    world.fault = ({ method }) => (method === "DELETE" ? failure(403, "Forbidden") : undefined);
    await world.client.delete(Website, "a", { namespace: "team" });
    await world.createWebsite("a", { image: "caddy" });
    await world.clock.advance(65_000);
    expect(runs).toEqual([undefined, 1, 2]);
  });

  it("are found whatever version of the owner's kind they name", async () => {
    const owner = { "setpoint.dev/owner": "web.example.com/v1beta1/Website team/gone some-uid" };
    const metadata = { name: "left", namespace: "other", annotations: owner };
    await world.client.create(ConfigMap, { metadata });
    await world.run(controller(Website, { owns: [scoped(ConfigMap, { namespaces: "all" })], reconcile: () => {} }));
    await world.clock.settle();
    expect(await world.client.find(ConfigMap, "left", { namespace: "other" })).toBeUndefined();
  });
});

describe("children in another cluster", () => {
  const homes: World[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await home[Symbol.asyncDispose]();
  });
  /** `world` is the cluster that all of them share. */
  const homeOf = async (): Promise<World> => {
    const home = await World.create(2 + homes.length);
    homes.push(home);
    return home;
  };
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 4; round++) for (const { clock } of [world, ...homes]) await clock.settle();
  };
  const sites = () =>
    controller(Website, {
      owns: [scoped(ConfigMap, { cluster: "edge", namespaces: "all" })],
      reconcile: async ({ metadata: { name } }, ctx) => {
        await ctx.in("edge").apply(ConfigMap, { metadata: { name }, data: { x: "1" } });
      },
    });
  const start = async (home: World) => {
    const run = await home.run(sites(), { clusters: { edge: world.cluster() } });
    await settle();
    return run;
  };
  const child = (name: string) => world.client.find(ConfigMap, name, { namespace: "team" });

  it("are collected after a restart", async () => {
    const home = await homeOf();
    const first = await start(home);
    await home.createWebsite("a");
    await home.createWebsite("b");
    await settle();
    expect((await child("a"))?.data).toEqual({ x: "1" });
    await Promise.all([first.stop(), home.clock.advance(1_000)]);
    await home.client.delete(Website, "a", { namespace: "team" });
    await start(home);
    expect([await child("a"), (await child("b"))?.data]).toEqual([undefined, { x: "1" }]);
  });

  it("are left alone by operators of a third cluster and of the cluster itself", async () => {
    const [one, other] = [await homeOf(), await homeOf()];
    await start(one);
    await one.createWebsite("a");
    await settle();
    const made = await child("a");
    await start(other);
    await world.run(controller(Website, { owns: [scoped(ConfigMap, { namespaces: "all" })], reconcile: () => {} }));
    await settle();
    expect((await child("a"))?.metadata.uid).toBe(made?.metadata.uid);
    // An object of that name in another cluster is no successor of the owner, and never waits for the child's deletion.
    await other.createWebsite("a");
    await settle();
    expect(other.runs("team/a")).toMatchObject([
      { outcome: "terminal", reason: "v1/ConfigMap in edge team/a belongs to Website team/a of another cluster" },
    ]);
    await other.client.delete(Website, "a", { namespace: "team" });
    await settle();
    expect((await child("a"))?.metadata.uid).toBe(made?.metadata.uid);
  });

  it("whose annotation names no cluster are annotated anew by their owner, and otherwise not deleted", async () => {
    const home = await homeOf();
    const { metadata } = await home.createWebsite("a");
    for (const [name, uid] of Object.entries({ a: metadata.uid, gone: "some-uid" })) {
      const annotations = { "setpoint.dev/owner": `web.example.com/v1/Website team/${name} ${uid}` };
      await world.client.create(ConfigMap, { metadata: { name, namespace: "team", annotations } });
    }
    await start(home);
    const marks = [await child("a"), await child("gone")].map((each) =>
      each?.metadata.annotations?.["setpoint.dev/owner"]?.split(" "),
    );
    expect(marks.map((mark) => mark?.length)).toEqual([4, 3]);
  });

  it("are refused if they would not be found after a restart", async () => {
    const home = await homeOf();
    const careless = controller(Website, {
      owns: [scoped(ConfigMap, { cluster: "edge" })],
      reconcile: async ({ metadata: { name } }, ctx) => {
        await ctx.in("edge").apply(ConfigMap, { metadata: { name } });
      },
    });
    await home.run(careless, { clusters: { edge: world.cluster() } });
    await home.createWebsite("a");
    await settle();
    const advice = 'scoped(ConfigMap, { cluster: "edge", namespaces: "all" })';
    expect(home.runs()).toMatchObject([{ outcome: "terminal", reason: expect.stringContaining(advice) }]);
    expect(await child("a")).toBeUndefined();
  });
});
