import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConfigMap, Service } from "../../kinds/builtin/v1.js";
import { controller, scoped } from "../controller.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("the children of a controller:", () => {
  it("a yielded field is applied again once the other manager gives it up", async () => {
    await world.run(
      controller(Website, {
        owns: [scoped(ConfigMap, { namespaces: "all" })],
        reconcile: async (_, ctx) => {
          const desired = { metadata: { name: "a" }, data: { size: "2", color: "red" } };
          await ctx.apply(ConfigMap, desired, { yields: ["data.size"] });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    const here = { namespace: "team" };
    const autoscale = async (data: Record<string, string>) => {
      const theirs = { metadata: { name: "a", ...here }, data };
      await world.client.apply(ConfigMap, theirs, { ...here, fieldManager: "autoscaler", force: true });
      await world.clock.settle();
      return (await world.client.get(ConfigMap, "a", here)).data;
    };
    expect(await autoscale({ size: "5" })).toEqual({ size: "5", color: "red" });
    expect(await autoscale({})).toEqual({ size: "2", color: "red" });
  });

  it("a yielded path within a list is refused", async () => {
    await world.run(
      controller(Website, {
        owns: [Service],
        reconcile: async ({ metadata: { name } }, ctx) => {
          const desired = { metadata: { name }, spec: { ports: [{ port: 80 }] } };
          await ctx.apply(Service, desired, { yields: ["spec.ports[0].port"] });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    const reason = 'yields: "spec.ports[0].port" leads through a list; name the list or a field above it';
    expect(world.runs()).toMatchObject([{ outcome: "terminal", reason }]);
    expect(await world.client.find(Service, "a", { namespace: "team" })).toBeUndefined();
  });

  describe("if the cache does not hold the child", () => {
    const labelled = (labels: Record<string, string>) =>
      controller(Website, {
        owns: [scoped(ConfigMap, { namespaces: "all", labelSelector: "app=web" })],
        reconcile: async (site, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: site.metadata.name, labels }, data: { ours: "1" } });
        },
      });
    const data = async () => (await world.client.find(ConfigMap, "a", { namespace: "team" }))?.data;

    it("a foreign object that a selector hides is refused, and others are created", async () => {
      await world.client.create(ConfigMap, { metadata: { name: "a", namespace: "team" }, data: { theirs: "1" } });
      await world.run(labelled({ app: "web" }));
      await world.createWebsite("a");
      await world.createWebsite("b");
      await world.clock.settle();
      const message = 'v1/ConfigMap team/a was created by another writer; pass existing: "adopt" to take it over';
      expect(world.runs("team/a")).toMatchObject([{ outcome: "terminal", reason: message }]);
      expect(await data()).toEqual({ theirs: "1" });
      expect(world.runs("team/b")).toMatchObject([{ outcome: "done" }]);
    });

    it("a child that the controller's own selector would hide is refused", async () => {
      await world.run(labelled({ app: "other" }));
      await world.createWebsite("a");
      await world.clock.settle();
      expect(world.runs()).toMatchObject([{ outcome: "terminal", reason: expect.stringContaining("app=web") }]);
      expect(await data()).toBeUndefined();
    });

    it.each(["theirs", "adopted", "ours"])(
      "an object created between the cache read and the request is found: %s",
      async (whose) => {
        const cluster = world.cluster();
        const apply = cluster.client.apply.bind(cluster.client);
        const site = await world.createWebsite("a");
        const { apiVersion, kind, metadata } = site;
        const owner = { apiVersion, kind, name: "a", uid: metadata.uid, controller: true };
        vi.spyOn(cluster.client, "apply").mockImplementationOnce(async (...given) => {
          await world.client.create(ConfigMap, {
            metadata: { name: "a", namespace: "team", ...(whose === "ours" ? { ownerReferences: [owner] } : {}) },
            data: { x: "theirs" },
          });
          return apply(...given);
        });
        const existing = whose === "adopted" ? "adopt" : "refuse";
        await world.run(
          controller(Website, {
            owns: [scoped(ConfigMap, { namespaces: "all" })],
            reconcile: async (_, ctx) => {
              await ctx.apply(ConfigMap, { metadata: { name: "a" }, data: { x: "ours" } }, { existing });
            },
          }),
          { cluster },
        );
        await world.clock.settle();
        const outcome = whose === "theirs" ? "terminal" : "done";
        expect(world.runs()[0]).toMatchObject({ outcome });
        expect(await data()).toEqual({ x: whose === "theirs" ? "theirs" : "ours" });
      },
    );
  });

  it("a child of another controller is refused, even if adoption is allowed", async () => {
    const uid = "00000000-0000-0000-0000-000000000001";
    const reference = { apiVersion: "other.example.com/v1", kind: "Website", name: "a", uid, controller: true };
    await world.client.create(ConfigMap, {
      metadata: { name: "a", namespace: "other", annotations: { "setpoint.dev/owner": `v1/Node b ${uid}` } },
    });
    const refused = controller(Website, {
      owns: [scoped(ConfigMap, { namespaces: "all" })],
      reconcile: async ({ spec: { image: namespace } }, ctx) => {
        await ctx.apply(ConfigMap, { metadata: { name: "a", namespace } }, { existing: "adopt" });
      },
    });
    await world.run(refused);
    await world.client.create(ConfigMap, {
      metadata: { name: "a", namespace: "team", ownerReferences: [reference], finalizers: ["example.com/keep"] },
    });
    await world.clock.settle();
    await world.createWebsite("a", { image: "team" });
    await world.createWebsite("b", { image: "other" });
    await world.clock.settle();
    // A kind of the same name in another group is no predecessor of ours.
    expect(world.runs("team/a")).toMatchObject([
      { outcome: "terminal", reason: "v1/ConfigMap team/a belongs to Website a" },
    ]);
    expect(world.runs("team/b")).toMatchObject([
      { outcome: "terminal", reason: "v1/ConfigMap other/a belongs to Node b" },
    ]);
  });

  it("children that another controller made for the same object, or that were created once, are not pruned", async () => {
    const made = (name: string, part: string) =>
      controller(Website, {
        name,
        owns: [ConfigMap],
        reconcile: async (_, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: part }, data: {} });
          if (!(await ctx.find(ConfigMap, `${part}-once`))) {
            await ctx.create(ConfigMap, { metadata: { name: `${part}-once` } });
          }
          await ctx.prune();
        },
      });
    const cluster = world.cluster();
    await world.run(made("first", "one"), { cluster });
    await world.run(made("second", "two"), { cluster });
    await world.createWebsite("a");
    await world.clock.settle();
    await world.annotate("a", { touched: "once" });
    await world.clock.settle();
    expect(world.writes.filter((write) => write.startsWith("DELETE"))).toEqual([]);
    const { items } = await world.client.list(ConfigMap, { namespace: "team" });
    const names = items.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith("kube"));
    expect(names).toEqual(["one", "one-once", "two", "two-once"]);
  });

  it("a child in a namespace that is not watched is refused", async () => {
    await world.run(
      controller(Website, {
        namespaces: ["team"],
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          await ctx.create(ConfigMap, { metadata: { name: site.metadata.name, namespace: "other" } });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    const reason = "v1/ConfigMap is watched in team, not in other; declare it with its namespaces";
    expect(world.runs()).toMatchObject([{ outcome: "terminal", reason }]);
    expect(await world.client.find(ConfigMap, "a", { namespace: "other" })).toBeUndefined();
  });
});
