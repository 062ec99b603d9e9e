import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigMap, Namespace } from "../../kinds/builtin/v1.js";
import { untypedKind } from "../../kinds/untyped-kind.js";
import { requeueAfter } from "../../loop/outcome.js";
import { type ControllerOptions, controller, scoped } from "../controller.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

const web = { labelSelector: "team=web" };
const label = (name: string, team: string | null) =>
  world.client.patch(Namespace, name, { type: "merge", body: { metadata: { labels: { team } } } });

/** A controller that selects namespaces by label, with its calls. */
function following(more: Partial<ControllerOptions<Website>> = {}) {
  const calls: string[] = [];
  const sites = controller(Website, {
    namespaces: web,
    reconcile: ({ metadata }) => void calls.push(`${metadata.namespace}/${metadata.name}`),
    gone: (key) => void calls.push(`gone ${key}`),
    ...more,
  });
  return { calls, sites };
}

describe("a controller that selects namespaces by label", () => {
  it("reconciles objects of those namespaces only, existing and new ones", async () => {
    await label("team", "web");
    await world.createWebsite("a");
    await world.createWebsite("b", {}, "other");
    const { calls, sites } = following();
    const run = await world.run(sites);
    await world.createWebsite("c");
    await world.createWebsite("d", {}, "other");
    await world.clock.advance(1_000);
    expect(calls.toSorted()).toEqual(["team/a", "team/c"]);
    expect([...run.keys()].toSorted()).toEqual(["team/a", "team/c"]);
    expect(run.status().informers.map(({ kind }) => kind)).toContain("v1/Namespace");
    run.trigger("other/b", "test");
    await world.clock.advance(1_000);
    expect(calls).toHaveLength(2);
  });

  it("follows label changes: it takes a namespace up when it matches and leaves it when it no longer does", async () => {
    await world.createWebsite("a");
    const { calls, sites } = following();
    await world.run(sites);
    expect(calls).toEqual([]);
    await label("team", "web");
    await world.clock.advance(1_000);
    expect(calls).toEqual(["team/a"]);
    await label("team", null);
    await world.clock.advance(1_000);
    expect(calls).toEqual(["team/a", "gone team/a"]);
    await world.annotate("a", { touched: "yes" });
    await world.clock.advance(60_000);
    expect(calls).toHaveLength(2);
    await label("team", "web");
    await world.clock.advance(1_000);
    expect(calls.slice(2)).toEqual(["team/a"]);
    expect(world.writes).toEqual([]);
  });

  it("takes up a matching namespace that is created later, and drops one that is deleted", async () => {
    const { calls, sites } = following();
    await world.run(sites);
    await world.client.create(Namespace, { metadata: { name: "late", labels: { team: "web" } } });
    await world.createWebsite("a", {}, "late");
    await world.clock.advance(1_000);
    expect(calls).toEqual(["late/a"]);
    await world.client.delete(Namespace, "late");
    await world.clock.advance(60_000);
    expect(calls).toEqual(["late/a", "gone late/a"]);
  });

  it("drops pending requeues of a namespace that no longer matches", async () => {
    await label("team", "web");
    const { calls, sites } = following({
      reconcile: ({ metadata }) => {
        calls.push(metadata.name);
        return requeueAfter("1m");
      },
    });
    await world.run(sites);
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    await label("team", "other");
    await world.clock.advance(600_000);
    expect(calls).toEqual(["a", "gone team/a"]);
  });

  it("keeps the children of an owner whose namespace no longer matches, and finalizes when it matches again", async () => {
    await label("team", "web");
    const finalized: string[] = [];
    const { sites } = following({
      owns: [ConfigMap],
      finalize: ({ metadata }) => void finalized.push(metadata.name),
      reconcile: async ({ metadata }, ctx) => {
        await ctx.apply(ConfigMap as never, { metadata: { name: metadata.name } } as never);
      },
    });
    await world.run(sites);
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    await label("team", null);
    await world.clock.advance(1_000);
    expect(await world.client.find(ConfigMap, "a", { namespace: "team" })).toBeDefined();
    await world.client.delete(Website, "a", { namespace: "team" });
    await world.clock.advance(60_000);
    expect(finalized).toEqual([]);
    await label("team", "web");
    await world.clock.advance(1_000);
    expect(finalized).toEqual(["a"]);
    expect(await world.website("a")).toBeUndefined();
  });

  it("lists across all namespaces return selected ones only, and change as these come and go", async () => {
    for (const namespace of ["team", "other"])
      await world.client.create(ConfigMap, { metadata: { name: "shared", namespace } });
    await label("team", "web");
    const seen: string[][] = [];
    const maps = untypedKind("v1/ConfigMap", { plural: "configmaps", scope: "Namespaced" });
    const Pods = untypedKind("v1/Pod", { scope: "Namespaced" });
    await world.client.create(Pods, {
      metadata: { name: "p", namespace: "other" },
      spec: { containers: [{ name: "c", image: "i" }] },
    } as never);
    const sites = controller(Website, {
      namespaces: web,
      uses: [Pods, scoped(maps, { namespaces: "all" })],
      reconcile: async (_, ctx) => {
        const pods = await ctx.list(Pods, { namespaces: "all" });
        const all = await ctx.list(maps, { namespaces: "all", fieldSelector: "metadata.name=shared" });
        seen.push([...pods, ...all].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
      },
    });
    await world.run(sites);
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    expect(seen.at(-1)).toEqual(["other/shared", "team/shared"]);
    await label("other", "web");
    await world.clock.advance(1_000);
    expect(seen.at(-1)).toEqual(["other/p", "other/shared", "team/shared"]);
    await label("other", null);
    await world.clock.advance(1_000);
    expect(seen.at(-1)).toEqual(["other/shared", "team/shared"]);
  });
});

it.each([
  [{ labelSelector: "team in" }, "namespaces: labelSelector"],
  [{ labelSelector: 3 }, "namespaces: labelSelector is 3"],
  [{ matchLabels: { team: "web" } }, 'expected "all", a list of names or { labelSelector }'],
  [{ labelSelector: "a=b", names: [] }, "names"],
  ["some", 'expected "all"'],
  [[], "not a list of names"],
])("refuses namespaces %j", (namespaces, words) => {
  expect(() => controller(Website, { namespaces: namespaces as never, reconcile: () => {} })).toThrow(words);
});

it('accepts "all" for all namespaces', async () => {
  await world.createWebsite("a");
  await world.createWebsite("b", {}, "other");
  const { calls, sites } = following({ namespaces: "all" });
  await world.run(sites);
  await world.clock.advance(1_000);
  expect(calls.toSorted()).toEqual(["other/b", "team/a"]);
});
