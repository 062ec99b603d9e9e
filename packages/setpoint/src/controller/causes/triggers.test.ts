import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../../kinds/builtin/v1.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { controller, mapped, scoped, type Trigger } from "../controller.js";
import { Website, World } from "../world.testing.js";
import { every } from "./trigger.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("a controller", () => {
  it("runs for a mapped watch within its predicate", async () => {
    const seen: string[] = [];
    await world.run(
      controller(Website, {
        watches: [
          mapped(ConfigMap, ({ metadata }) => (metadata.labels?.site ? [`team/${metadata.labels.site}`] : []), {
            namespaces: "all",
            when: { changed: ["data"] },
          }),
        ],
        reconcile: (site, ctx) => void seen.push(`${site.metadata.name} ${ctx.causes[0]?.type}`),
      }),
    );
    await world.createWebsite("a");
    await world.createWebsite("b");
    await world.clock.settle();
    seen.length = 0;
    const map = await world.client.create(ConfigMap, {
      metadata: { name: "x", namespace: "other", labels: { site: "a" } },
      data: { color: "red" },
    });
    await world.clock.settle();
    const labelled = await world.client.update(ConfigMap, {
      ...map,
      metadata: { ...map.metadata, annotations: { x: "1" } },
    });
    await world.clock.settle();
    expect(seen).toEqual(["a dependency"]);
    const labels = { site: "b" };
    await world.client.update(ConfigMap, {
      ...labelled,
      metadata: { ...labelled.metadata, labels },
      data: { color: "blue" },
    });
    await world.clock.settle();
    expect(seen.sort()).toEqual(["a dependency", "a dependency", "b dependency"]);
  });

  it("does not run for a mapped object that the predicate does not match, new or changed", async () => {
    let runs = 0;
    const matches = ({ data }: ConfigMap): boolean => data?.use === "yes";
    await world.run(
      controller(Website, {
        watches: [mapped(ConfigMap, () => ["team/a"], { namespaces: ["other"], when: { matches } })],
        reconcile: () => void runs++,
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    const map = await world.client.create(ConfigMap, { metadata: { name: "x", namespace: "other" } });
    await world.clock.settle();
    expect(runs).toBe(1);
    await world.client.update(ConfigMap, { ...map, data: { use: "yes" } });
    await world.clock.settle();
    expect(runs).toBe(2);
  });

  it("runs for a timer on the process clock by default", async () => {
    let runs = 0;
    await world.run(controller(Website, { triggers: [every("10m")], reconcile: () => void runs++ }));
    await world.createWebsite("a");
    await world.clock.advance(1_200_000);
    expect(runs).toBe(3);
    expect(() => every(0)).toThrow(expect.objectContaining({ code: "DURATION_INVALID" }));
  });

  it("runs for a timer, once for each of its objects", async () => {
    let runs = 0;
    await world.run(controller(Website, { triggers: [every("10m", world.clock)], reconcile: () => void runs++ }));
    await world.createWebsite("a");
    await world.createWebsite("b");
    await world.clock.advance(60_000);
    expect(runs).toBe(2);
    await world.clock.advance(1_200_000);
    expect(runs).toBe(6);
    expect(world.runs().at(-1)?.causes).toEqual([{ type: "trigger", name: "every 10m" }]);
  });

  it("runs for a channel that other code feeds", async () => {
    let feed: (key: string) => void = () => {};
    const channel: Trigger = {
      name: "webhook",
      start: ({ enqueue }) => {
        feed = enqueue;
      },
    };
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, error: (line) => void lines.push(line), with: () => log };
    await world.run(controller(Website, { triggers: [channel], reconcile: () => {} }), { log });
    await world.createWebsite("a");
    await world.clock.settle();
    feed("team/a");
    feed("team/unknown");
    feed("a");
    await world.clock.settle();
    expect(lines).toEqual(['trigger webhook asks for "a", which is not a key of a Website: write namespace/name']);
    expect(world.runs("team/a").map(({ causes }) => causes[0]?.type)).toEqual(["created", "trigger"]);
  });

  it("runs for a change in a list or index that it read", async () => {
    const seen: string[] = [];
    await world.run(
      controller(Website, {
        uses: [scoped(ConfigMap, { namespaces: "all", indexes: { color: (map) => [map.data?.color ?? ""] } })],
        reconcile: async (site, ctx) => {
          const listed = await ctx.list(ConfigMap, { labelSelector: "list=yes" });
          const indexed = await ctx.byIndex(ConfigMap, { color: "red" });
          const names = (maps: readonly ConfigMap[]): string => maps.map((map) => map.metadata.name).join(" ");
          seen.push(`${site.metadata.name}: ${names(listed)} / ${names(indexed)}`);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await world.client.create(ConfigMap, { metadata: { name: "x", namespace: "team", labels: { list: "yes" } } });
    await world.clock.settle();
    await world.client.create(ConfigMap, { metadata: { name: "y", namespace: "other", labels: { list: "yes" } } });
    await world.clock.settle();
    await world.client.create(ConfigMap, { metadata: { name: "z", namespace: "other" }, data: { color: "red" } });
    await world.clock.settle();
    expect(seen).toEqual(["a:  / ", "a: x / ", "a: x / z"]);
  });

  it("does not run for its own write, even if it looks up its own kind", async () => {
    await world.run(
      controller(Website, {
        uses: [scoped(Website, { indexes: { image: ({ spec }) => [spec.image] } })],
        reconcile: async (site, ctx) => {
          ctx.status({ ready: (await ctx.byIndex(Website, { image: site.spec.image })).length });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect(world.runs().map(({ key, causes }) => `${key} ${causes[0]?.type}`)).toEqual(["team/a created"]);
    await world.createWebsite("b", {}, "other");
    await world.clock.settle();
    expect((await world.website("a"))?.status?.ready).toBe(2);
  });

  it("runs for its own index, whatever other controllers of the same cache call theirs", async () => {
    const found: string[] = [];
    const byColor = (name: string, values: (map: ConfigMap) => readonly string[]) =>
      controller(Website, {
        name,
        uses: [scoped(ConfigMap, { namespaces: "all", indexes: { color: values } })],
        reconcile: async (_, ctx) => {
          const maps = await ctx.byIndex(ConfigMap, { color: "red" });
          found.push(`${name}: ${maps.map(({ metadata }) => metadata.name).join(" ")}`);
        },
      });
    const cluster = world.cluster();
    const first = await world.run(
      byColor("one", ({ data }) => [data?.color ?? ""]),
      { cluster },
    );
    await world.run(
      byColor("two", ({ data }) => [data?.colour ?? ""]),
      { cluster },
    );
    await world.client.create(ConfigMap, { metadata: { name: "x", namespace: "team" }, data: { color: "red" } });
    await world.client.create(ConfigMap, { metadata: { name: "y", namespace: "team" }, data: { colour: "red" } });
    await world.createWebsite("a");
    await world.clock.settle();
    expect(found.sort()).toEqual(["one: x", "two: y"]);
    await Promise.all([first.stop(), world.clock.advance(1_000)]);
    await world.run(
      byColor("three", ({ data }) => Object.values(data ?? {})),
      { cluster },
    );
    await world.clock.settle();
    expect(found.at(-1)).toBe("three: x y");
  });

  it("does not run for objects that its last run did not read", async () => {
    const seen: (string | undefined)[] = [];
    await world.run(
      controller(Website, {
        uses: [ConfigMap],
        reconcile: async ({ spec }, ctx) => {
          seen.push((await ctx.find(ConfigMap, spec.image))?.data?.color);
        },
      }),
    );
    const paint = async (name: string, color: string): Promise<void> => {
      const here = { namespace: "team" };
      if (await world.client.find(ConfigMap, name, here))
        await world.client.patch(ConfigMap, name, { type: "merge", body: { data: { color } } }, here);
      else await world.client.create(ConfigMap, { metadata: { name, ...here }, data: { color } });
      await world.clock.settle();
    };
    await paint("first", "red");
    await paint("second", "green");
    await world.createWebsite("a", { image: "first" });
    await world.clock.settle();
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { image: "second" } });
    await world.clock.settle();
    await paint("first", "blue");
    expect(seen).toEqual(["red", "green"]);
    await paint("second", "yellow");
    expect(seen).toEqual(["red", "green", "yellow"]);
  });

  it("does not run for reads that are untracked or bypass the cache", async () => {
    const seen: (string | undefined)[] = [];
    await world.run(
      controller(Website, {
        uses: [Secret],
        reconcile: async (_, ctx) => {
          const cached = await ctx.find(Secret, "token", { tracked: false });
          const live = await ctx.find(Secret, "token", { cached: false });
          seen.push(cached?.metadata.name, live?.metadata.name);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await world.client.create(Secret, { metadata: { name: "token", namespace: "team" } });
    await world.clock.settle();
    expect(seen).toEqual([undefined, undefined]);
    await world.annotate("a", { touched: "yes" });
    await world.clock.settle();
    expect(seen.slice(2)).toEqual(["token", "token"]);
  });

  it("does not run for a list that bypasses the cache, which returns the server's state, also of all namespaces", async () => {
    const seen: string[] = [];
    const make = (name: string, namespace: string, app: string) =>
      world.client.create(Secret, { metadata: { name, namespace, labels: { app } } });
    await world.run(
      controller(Website, {
        uses: [Secret],
        reconcile: async (_, ctx) => {
          for (const place of [{ namespace: "team" }, { namespaces: "all" as const }]) {
            const found = await ctx.list(Secret, { cached: false, ...place, labelSelector: "app=web" });
            seen.push(found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join());
          }
        },
      }),
    );
    await make("one", "team", "web");
    await make("two", "other", "web");
    await make("three", "team", "shop");
    await world.createWebsite("a");
    await world.clock.settle();
    await make("four", "team", "web");
    await world.clock.settle();
    expect(seen).toEqual(["team/one", "other/two,team/one"]);
    expect(world.runs()).toHaveLength(1);
  });

  it("never lists the Secrets of all namespaces unless told to", async () => {
    await world.run(
      controller(Website, {
        uses: [Secret],
        reconcile: async (_, ctx) => {
          await ctx.find(Secret, "token");
          await expect(ctx.list(Secret, { namespaces: "all" })).rejects.toMatchObject({ code: "SCOPE_NOT_WATCHED" });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect(world.runs()).toMatchObject([{ outcome: "done" }]);
    expect(world.requests.filter(({ path }) => path.startsWith("/api/v1/secrets"))).toEqual([]);
  });

  it("runs for a resync if one is configured", async () => {
    const actions: string[] = [];
    await world.run(controller(Website, { resync: "1h", reconcile: (_, ctx) => void actions.push(ctx.action) }));
    await world.createWebsite("a");
    await world.clock.advance(3_600_000 * 1.5);
    expect(actions).toEqual(["created", "resynced"]);
  });

  it("stays within the namespaces and labels that it watches", async () => {
    const seen: string[] = [];
    await world.run(
      controller(Website, {
        namespaces: ["other"],
        reconcile: (site) => void seen.push(site.metadata.namespace ?? ""),
      }),
    );
    await world.createWebsite("a");
    await world.createWebsite("a", {}, "other");
    await world.clock.settle();
    expect(seen).toEqual(["other"]);
  });
});
