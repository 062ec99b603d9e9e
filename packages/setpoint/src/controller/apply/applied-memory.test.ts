import { Buffer } from "node:buffer";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Secret } from "../../kinds/builtin/v1.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("what a server made of an apply", () => {
  it("is remembered, so that applying the same again sends no request until either changes", async () => {
    const secrets = () =>
      controller(Website, {
        owns: [Secret],
        reconcile: async (site, ctx) => {
          await ctx.apply(Secret, { metadata: { name: "a" }, stringData: { image: site.spec.image } });
        },
      });
    const first = await world.run(secrets());
    const applied = () => world.writes.filter((write) => write.includes("/secrets/"));
    const image = async () => (await world.client.get(Secret, "a", { namespace: "team" })).data?.image;
    await world.createWebsite("a");
    await world.clock.settle();
    for (const touched of ["once", "twice"]) {
      await world.annotate("a", { touched });
      await world.clock.settle();
    }
    expect(world.runs()).toHaveLength(3);
    expect(applied()).toHaveLength(1);
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { image: "caddy" } });
    await world.clock.settle();
    expect([applied().length, await image()]).toEqual([2, Buffer.from("caddy").toString("base64")]);
    await Promise.all([first.stop(), world.clock.advance(1_000)]);
    // The memory is lost with the process, but `data` shows the result of `stringData`.
    await world.run(secrets());
    await world.clock.settle();
    expect(applied()).toHaveLength(2);
  });
});
