import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SharedInformer } from "../informer/shared-informer.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { controller, scoped } from "./controller.js";
import { Website, World } from "./world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("children of an object that is gone", () => {
  it("are found without a look at those of all others", async () => {
    await world.run(
      controller(Website, {
        owns: [scoped(ConfigMap, { namespaces: "all" })],
        reconcile: async ({ metadata: { name } }, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name, namespace: "other" }, data: { x: "1" } });
        },
      }),
    );
    for (const name of ["a", "b", "c"]) await world.createWebsite(name);
    await world.clock.settle();
    using list = vi.spyOn(SharedInformer.prototype, "list");
    await world.client.delete(Website, "b", { namespace: "team" });
    await world.clock.settle();
    expect(list).not.toHaveBeenCalled();
    const { items } = await world.client.list(ConfigMap, { namespace: "other" });
    expect(items.flatMap(({ data, metadata }) => (data?.x ? [metadata.name] : []))).toEqual(["a", "c"]);
  });
});
