import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SharedInformer } from "../informer/shared-informer.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { controller, scoped } from "./controller.js";
import { failure, Website, World } from "./world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

/** Makes a child in another namespace. */
const across = () =>
  controller(Website, {
    owns: [scoped(ConfigMap, { namespaces: "all" })],
    reconcile: async ({ metadata: { name } }, ctx) => {
      await ctx.apply(ConfigMap, { metadata: { name, namespace: "other" }, data: { x: "1" } });
    },
  });

describe("children of an object that is gone", () => {
  it("are found without a look at those of all others", async () => {
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

  it("are tried again ever more seldom where they cannot be deleted, and go when they can", async () => {
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

  it("are nothing to an object that has taken its name, however often they are tried", async () => {
    const runs: unknown[] = [];
    await world.run(
      controller(Website, {
        owns: [scoped(ConfigMap, { namespaces: "all" })],
        reconcile: async (site, ctx) => {
          if (site.spec.image === "caddy") {
            runs.push(ctx.state.runs);
            ctx.state.runs = runs.length;
            return ctx.requeueAfter("30s");
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
});
