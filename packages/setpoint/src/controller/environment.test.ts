import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SetpointError } from "../errors/error.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { controller, scoped } from "./controller.js";
import { failure, Website, World } from "./world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

const map = (name: string, namespace = "team") => world.client.find(ConfigMap, name, { namespace });

describe("a controller in its environment", () => {
  it("writes nothing, and starts no effect, once its lease is lost", async () => {
    let isHeld = true;
    const effects: string[] = [];
    const errors: unknown[] = [];
    const fence = {
      check: () => {
        if (!isHeld) throw new SetpointError("LEASE_LOST", "another process leads");
      },
    };
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        onError: (error) => errors.push(error),
        reconcile: async (site, ctx) => {
          isHeld = site.metadata.name !== "late";
          await ctx.effect("dns", () => void effects.push(site.metadata.name)).catch(() => {});
          await ctx.apply(ConfigMap, { metadata: { name: site.metadata.name } }).catch((error) => {
            ctx.status({ phase: "Failed" });
            throw error;
          });
        },
      }),
      { fence },
    );
    await world.createWebsite("early");
    await world.clock.settle();
    await world.createWebsite("late");
    await world.clock.settle();
    expect(effects).toEqual(["early"]);
    expect([(await map("early")) !== undefined, await map("late")]).toEqual([true, undefined]);
    expect((await world.website("late"))?.status).toBeUndefined();
    expect(errors[0]).toMatchObject({ code: "LEASE_LOST" });
    expect(world.runs("team/early")[0]?.effects).toEqual(["dns"]);
  });

  it("sends no request once its lease has expired, even if nobody told it", async () => {
    const lost = new AbortController();
    let isHeld = true;
    const fence = {
      lost: lost.signal,
      check: () => {
        if (isHeld) return;
        lost.abort(new SetpointError("LEASE_LOST", "another process leads"));
        lost.signal.throwIfAborted();
      },
    };
    const ends: unknown[] = [];
    await world.run(
      controller(Website, {
        uses: [ConfigMap],
        async reconcile(_, ctx) {
          isHeld = false;
          for (const read of [
            () => ctx.find(ConfigMap, "x", { cached: false }),
            () => ctx.list(ConfigMap, { cached: false }),
          ])
            await read().catch((error) => ends.push(error));
        },
      }),
      { fence },
    );
    await world.createWebsite("a");
    const sent = world.requests.length;
    await world.clock.settle();
    expect(world.requests.slice(sent)).toEqual([]);
    expect(ends).toHaveLength(2);
  });

  it("reads and owns objects in another cluster, and deletes its orphans there", async () => {
    const edge = await World.create();
    try {
      await world.run(
        controller(Website, {
          owns: [scoped(ConfigMap, { cluster: "edge", namespaces: "all" })],
          reconcile: async (site, ctx) => {
            const settings = await ctx.in("edge").find(ConfigMap, "settings");
            const data = { color: settings?.data?.color ?? "none" };
            await ctx.in("edge").apply(ConfigMap, { metadata: { name: site.metadata.name }, data });
          },
        }),
        { clusters: { edge: edge.cluster() } },
      );
      const settle = async (): Promise<void> => {
        for (let round = 0; round < 3; round++) for (const { clock } of [world, edge]) await clock.settle();
      };
      await settle();
      await world.createWebsite("a");
      await settle();
      const there = () => edge.client.find(ConfigMap, "a", { namespace: "team" });
      expect((await there())?.data).toEqual({ color: "none" });
      expect(await map("a")).toBeUndefined();
      await edge.client.create(ConfigMap, {
        metadata: { name: "settings", namespace: "team" },
        data: { color: "red" },
      });
      await settle();
      expect((await there())?.data).toEqual({ color: "red" });
      await world.client.delete(Website, "a", { namespace: "team" });
      await settle();
      expect(await there()).toBeUndefined();
    } finally {
      await edge[Symbol.asyncDispose]();
    }
  });

  it("is refused if a cluster that it uses is not configured", async () => {
    const declared = controller(Website, { uses: [scoped(ConfigMap, { cluster: "edge" })], reconcile: () => {} });
    await expect(world.run(declared)).rejects.toMatchObject({ code: "CLUSTER_UNKNOWN" });
  });

  it("reaches the same end state whichever of its writes it crashes after", async () => {
    const websites = () =>
      controller(Website, {
        owns: [ConfigMap],
        retry: { initial: "1s", jitter: 0 },
        reconcile: async (site, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: `${site.metadata.name}-1` }, data: { x: "1" } });
          await ctx.apply(ConfigMap, { metadata: { name: `${site.metadata.name}-2` }, data: { x: "2" } });
          ctx.status({ ready: 2 });
        },
        finalize: () => {},
      });
    for (let crashAfter = 0; crashAfter < 5; crashAfter++) {
      const name = `crash-${crashAfter}`;
      let writes = 0;
      // The process has crashed: none of its requests reaches the server from now on.
      world.fault = ({ method }) =>
        method !== "GET" && writes++ >= crashAfter ? failure(503, "ServiceUnavailable") : undefined;
      const crashed = await world.run(websites());
      await world.createWebsite(name);
      await world.clock.advance(3_000);
      await Promise.all([crashed.stop(0), world.clock.advance(30_000)]);
      world.fault = undefined;
      const next = await world.run(websites());
      await world.clock.advance(3_000);
      expect((await map(`${name}-1`))?.data).toEqual({ x: "1" });
      expect((await map(`${name}-2`))?.data).toEqual({ x: "2" });
      const site = await world.website(name);
      expect([site?.status, site?.metadata.finalizers]).toEqual([{ ready: 2 }, ["setpoint.dev/websites"]]);
      await Promise.all([next.stop(0), world.clock.advance(1_000)]);
    }
  });
});
