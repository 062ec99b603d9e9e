import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

const map = (name: string): Promise<ConfigMap | undefined> => world.client.find(ConfigMap, name, { namespace: "team" });

describe("writes of a run", () => {
  it("create, change and delete an owned object; the next read sees each, and the timeline shows it", async () => {
    const seen: unknown[] = [];
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        async reconcile({ metadata: { name } }, ctx) {
          await ctx.create(ConfigMap, { metadata: { name }, data: { step: "created" } });
          seen.push((await ctx.get(ConfigMap, name)).data);
          await ctx.patch(ConfigMap, name, { type: "merge", body: { data: { step: "patched" } } });
          seen.push((await ctx.get(ConfigMap, name)).data);
          seen.push((await map(name))?.metadata.ownerReferences?.[0]?.name);
          await ctx.delete(ConfigMap, name);
          seen.push(await ctx.find(ConfigMap, name));
          await ctx.delete(ConfigMap, name);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen.slice(0, 4)).toEqual([{ step: "created" }, { step: "patched" }, "a", undefined]);
    const { writes } = world.runs("team/a")[0]!;
    expect(writes.map(({ verb, kind, key }) => `${verb} ${kind} ${key}`)).toEqual([
      "create v1/ConfigMap team/a",
      "patch v1/ConfigMap team/a",
      "delete v1/ConfigMap team/a",
    ]);
    expect(await map("a")).toBeUndefined();
  });

  it("of a retry know the attempt, and what the first try created", async () => {
    const tries: string[] = [];
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        retry: { initial: "1s", jitter: 0 },
        async reconcile({ metadata: { name } }, ctx) {
          const known = await ctx.find(ConfigMap, name, { tracked: false });
          tries.push(`${ctx.attempt} ${known ? "there" : "absent"}`);
          if (!known) await ctx.create(ConfigMap, { metadata: { name } });
          if (ctx.attempt < 2) throw new Error("not yet");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(10_000);
    expect(tries).toEqual(["0 absent", "1 there", "2 there"]);
    expect(world.writes).toHaveLength(1);
  });

  it("keep a condition's transition time while its status stays, and update its generation", async () => {
    await world.run(
      controller(Website, {
        reconcile: ({ spec }, ctx) =>
          ctx.condition({ type: "Ready", status: spec.paused ? "False" : "True", reason: "Asked" }),
      }),
    );
    const change = (spec: object) =>
      world.client.patch(Website, "a", { type: "merge", body: { spec: spec as never } }, { namespace: "team" });
    const ready = async () => (await world.website("a"))?.status?.conditions?.[0];
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const first = await ready();
    await change({ image: "caddy" });
    await world.clock.advance(60_000);
    expect(await ready()).toEqual({ ...first, observedGeneration: 2 });
    await change({ paused: true });
    await world.clock.advance(1_000);
    const last = await ready();
    expect(last).toMatchObject({ status: "False", observedGeneration: 3 });
    expect(last?.lastTransitionTime).not.toBe(first?.lastTransitionTime);
  });
});
