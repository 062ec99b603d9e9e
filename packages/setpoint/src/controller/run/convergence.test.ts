import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNotFound } from "../../client/api-error.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { controller, scoped } from "../controller.js";
import { failure, Website, World } from "../world.testing.js";
import type { LiveController } from "./live-controller.js";

type Step =
  | { readonly type: "write"; readonly site: number; readonly image: string; readonly replicas: number }
  | { readonly type: "delete"; readonly site: number }
  | { readonly type: "drift"; readonly child: number; readonly how: "delete" | "change" }
  | { readonly type: "faults"; readonly every: number; readonly code: 409 | 500 | 503 | 429 }
  | { readonly type: "restart" }
  | { readonly type: "wait"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("write" as const),
      site: fc.nat(2),
      image: fc.constantFrom("nginx", "caddy", "envoy"),
      replicas: fc.nat(3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("delete" as const), site: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("drift" as const),
      child: fc.nat(8),
      how: fc.constantFrom("delete" as const, "change" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("faults" as const),
      every: fc.integer({ min: 2, max: 4 }),
      code: fc.constantFrom(409 as const, 500 as const, 503 as const, 429 as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ type: "restart" }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 5_000 }) }) },
);

const REASONS = { 409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable" } as const;

/** Children in the same and in another namespace, an external effect, and a status. */
const websites = (outside: Set<string>) =>
  controller(Website, {
    owns: [scoped(ConfigMap, { namespaces: "all" })],
    retry: { initial: "100ms", max: "10s" },
    reconcile: async (site, ctx) => {
      const { name } = site.metadata;
      await ctx.effect("register", () => void outside.add(name));
      const data = { image: site.spec.image };
      for (let at = 0; at < (site.spec.replicas ?? 0); at++) {
        await ctx.apply(ConfigMap, { metadata: { name: `${name}-${at}` }, data });
      }
      await ctx.apply(ConfigMap, { metadata: { name, namespace: "other" }, data });
      await ctx.prune();
      ctx.status({ ready: site.spec.replicas ?? 0 });
    },
    finalize: async (site, ctx) => {
      await ctx.effect("unregister", () => void outside.delete(site.metadata.name));
    },
  });

/** Found by a random run: the deletion of a child in another namespace fails while the controller starts. */
const ORPHAN_KEPT_AT_START: Step[] = [
  { type: "write", site: 2, image: "nginx", replicas: 0 },
  { type: "wait", ms: 1 },
  { type: "faults", every: 2, code: 409 },
  { type: "delete", site: 2 },
  { type: "restart" },
  { type: "wait", ms: 1 },
];

async function children(world: World): Promise<readonly ConfigMap[]> {
  const { items } = await world.client.list(ConfigMap);
  return items.filter(({ metadata }) => metadata.name.startsWith("site-"));
}

async function take(world: World, current: Step, names: Set<string>): Promise<void> {
  const { client } = world;
  if (current.type === "write") {
    const name = `site-${current.site}`;
    const spec = { image: current.image, replicas: current.replicas };
    const existing = await world.website(name);
    if (existing?.metadata.deletionTimestamp) return;
    names.add(name);
    if (existing) await client.patch(Website, name, { type: "merge", body: { spec } }, { namespace: "team" });
    else await world.createWebsite(name, spec);
  } else if (current.type === "delete") {
    if (names.delete(`site-${current.site}`))
      await client.delete(Website, `site-${current.site}`, { namespace: "team" });
  } else if (current.type === "drift") {
    const existing = await children(world);
    const victim = existing[current.child % Math.max(1, existing.length)];
    if (!victim) return;
    const { name, namespace } = victim.metadata;
    const where = { ...(namespace ? { namespace } : {}), fieldManager: "somebody" };
    const body = { data: { image: "drifted" } };
    const drift =
      current.how === "delete"
        ? client.delete(ConfigMap, name, where)
        : client.patch(ConfigMap, name, { type: "merge", body }, where);
    await drift.catch((error: unknown) => {
      // The controller or the garbage collector was faster.
      if (!isNotFound(error)) throw error;
    });
  } else if (current.type === "faults") {
    let writes = 0;
    world.fault = ({ method }) =>
      method !== "GET" && ++writes % current.every === 0 ? failure(current.code, REASONS[current.code]) : undefined;
  } else if (current.type === "wait") {
    await world.clock.advance(current.ms);
  }
}

describe("a controller under faults", () => {
  it("converges whatever users, rivals, servers and restarts do", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const world = await World.create();
        const outside = new Set<string>();
        const names = new Set<string>();
        let run: LiveController = await world.run(websites(outside));
        for (const current of steps) {
          await take(world, current, names);
          if (current.type !== "restart") continue;
          await Promise.all([run.stop(0), world.clock.advance(15_000)]);
          run = await world.run(websites(outside));
        }
        world.fault = undefined;
        await world.clock.advance(120_000);

        const { items: sites } = await world.client.list(Website);
        expect(sites.map(({ metadata }) => metadata.name).sort()).toEqual([...names].sort());
        expect([...outside].sort()).toEqual([...names].sort());
        expect(sites.map(({ spec, status }) => status?.ready === (spec.replicas ?? 0))).not.toContain(false);
        const uids = new Set(sites.map(({ metadata }) => metadata.uid));
        const owned = (await children(world)).filter(
          // Children in the namespace of a deleted site are left to the garbage collector, which does not run here.
          ({ metadata }) => metadata.ownerReferences?.every(({ uid }) => uids.has(uid)) ?? true,
        );
        const expected = sites.flatMap(({ metadata: { name }, spec }) => [
          `other/${name} ${spec.image}`,
          ...Array.from({ length: spec.replicas ?? 0 }, (_, at) => `team/${name}-${at} ${spec.image}`),
        ]);
        const found = owned.map(({ metadata, data }) => `${metadata.namespace}/${metadata.name} ${data?.image}`);
        expect(found.sort()).toEqual(expected.sort());
        expect(run.status().queued).toBe(0);
        await world[Symbol.asyncDispose]();
      }),
      { numRuns: 12, examples: [[ORPHAN_KEPT_AT_START]] },
    );
  }, 120_000);
});
