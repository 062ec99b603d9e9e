import { afterEach, beforeEach, expect, it } from "vitest";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { requeueAfter, waitFor } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

it.each([
  ["wait", () => waitFor("Database"), "recheck"],
  ["requeue", () => requeueAfter("5m"), "requeue"],
])("a %s that another cause ends early does not list its timer as a cause", async (_, outcome, timer) => {
  await world.run(
    controller(Website, {
      uses: [ConfigMap],
      async reconcile(_site, ctx) {
        await ctx.find(ConfigMap, "settings");
        return outcome();
      },
    }),
  );
  await world.createWebsite("a");
  await world.clock.settle();
  await world.client.create(ConfigMap, { metadata: { namespace: "team", name: "settings" } });
  await world.clock.settle();
  expect(world.runs().at(-1)?.causes).toMatchObject([{ type: "dependency" }]);
  await world.clock.advance(300_000);
  expect(world.runs().at(-1)?.causes).toMatchObject([{ type: timer }]);
});
