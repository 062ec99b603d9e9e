import { afterEach, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { StatefulSet } from "../kinds/builtin/apps/v1.js";
import { ConfigMap, Secret, Service } from "../kinds/builtin/v1.js";
import type { Condition } from "../kinds/condition.js";
import type { Kind, ObjectOf } from "../kinds/kind.js";
import type { KubeObject, UntypedObject } from "../kinds/object.js";
import { resource } from "../kinds/resource.js";
import type { KindIsNotDeclared, KindIsNotOwned, ReconcileContext } from "./context.js";
import { controller, mapped, scoped } from "./controller.js";
import type { FieldPath } from "./field-path-type.js";
import { Website, World } from "./world.testing.js";

const Shop = resource("web.example.com/v1/Shop", {
  spec: z.object({ size: z.int() }),
  status: z.object({ ready: z.int().optional() }),
  conditions: true,
});

const Region = resource("web.example.com/v1/Region", { spec: z.object({}), scope: "Cluster" });

/** Never run: the compiler checks what follows. */
const declared = controller(Shop, {
  uses: [scoped(ConfigMap, { indexes: { color: ({ data }) => [data?.color ?? ""] } }), Secret],
  owns: [StatefulSet],
  async reconcile(shop, ctx) {
    await ctx.byIndex(ConfigMap, { color: "red" });
    // @ts-expect-error: there is no index of that name
    await ctx.byIndex(ConfigMap, { colour: "red" });
    // @ts-expect-error: Secrets have no index here
    await ctx.byIndex(Secret, { color: "red" });
    expectTypeOf(shop.status?.conditions).toEqualTypeOf<readonly Condition[] | undefined>();
    expectTypeOf(shop.metadata.uid).toEqualTypeOf<string>();
    ctx.condition({ type: "Open", status: "True", reason: "Opened" });
    const labels = { app: shop.metadata.name };
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "nginx" }] } };
    const spec = { selector: { matchLabels: labels }, template };
    const volumeClaimTemplates = [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce" as const] } }];
    await ctx.apply(StatefulSet, { metadata: { name: "a" }, spec: { ...spec, volumeClaimTemplates } });
    // @ts-expect-error: it needs a selector
    await ctx.apply(StatefulSet, { metadata: { name: "a" }, spec: { template } });
    // @ts-expect-error: nor is there one without a spec
    await ctx.apply(StatefulSet, { metadata: { name: "a" } });
    // To adopt an object, some of its fields suffice.
    await ctx.apply(StatefulSet, { metadata: { name: "a" }, spec: { replicas: 2 } }, { existing: "adopt" });
    // @ts-expect-error: the fields of those are typed as well
    await ctx.apply(StatefulSet, { metadata: { name: "a" }, spec: { replica: 2 } }, { existing: "adopt" });
    expectTypeOf<Parameters<typeof ctx.find<typeof Service>>[0]>().toEqualTypeOf<KindIsNotDeclared>();
    expectTypeOf<Parameters<typeof ctx.apply<typeof Secret>>[0]>().toEqualTypeOf<KindIsNotOwned>();
    // @ts-expect-error: Services are not declared
    await ctx.list(Service);
    // @ts-expect-error: Secrets are used, not owned
    await ctx.prune(Secret);
  },
});

it("types the namespace of namespaced objects, the state and the paths of changes", () => {
  controller(Shop, {
    state: () => ({ tries: 0, seen: new Set<string>() }),
    when: { changed: ["spec.size", "metadata.labels[example.com/team]", "metadata.annotations", "status"] },
    watches: [mapped(StatefulSet, () => [], { when: { changed: ["spec.template.spec.containers[0].image"] } })],
    reconcile: (shop, ctx) => {
      expectTypeOf(shop.metadata.namespace).toEqualTypeOf<string>();
      expectTypeOf(ctx.state.tries).toEqualTypeOf<number>();
      // @ts-expect-error: there is no such state
      ctx.state.trys;
    },
    finalize: (shop, ctx) => {
      expectTypeOf([shop.metadata.namespace, ctx.state.tries]).toEqualTypeOf<(string | number)[]>();
    },
  });
  controller(Region, {
    reconcile: ({ metadata }) => {
      expectTypeOf(metadata.namespace).toEqualTypeOf<string | undefined>();
    },
  });
  // @ts-expect-error: the spec has no such field
  controller(Shop, { when: { changed: ["spec.sise"] }, reconcile: () => {} });
  // @ts-expect-error: nor has the object
  controller(Shop, { when: { changed: ["specs"] }, reconcile: () => {} });
  expectTypeOf<FieldPath<KubeObject>>().toEqualTypeOf<string>();
  expectTypeOf<FieldPath<UntypedObject>>().toEqualTypeOf<string>();
  expectTypeOf<"spec.template.spec.nodeName">().toExtend<FieldPath<ObjectOf<typeof StatefulSet>>>();
  // @ts-expect-error: pods have no such field
  expectTypeOf<"spec.template.spec.nodesName">().toExtend<FieldPath<ObjectOf<typeof StatefulSet>>>();
});

it("lets generic code take a context", async () => {
  const names = async <K extends Kind>(ctx: ReconcileContext, kind: K) =>
    (await ctx.list(kind)).map(({ metadata }) => metadata.name);
  controller(Shop, { uses: [Secret], reconcile: async (_, ctx) => void (await names(ctx, Secret)) });
});

it("types the names of indexes, conditions and metadata", () => {
  expectTypeOf<NonNullable<ObjectOf<typeof Shop>["status"]>["ready"]>().toEqualTypeOf<number | undefined>();
  expect(declared.uses).toHaveLength(2);
});

let world: World | undefined;
afterEach(() => world?.[Symbol.asyncDispose]());

it("starts with the declared state, anew for each object and after each success", async () => {
  world = await World.create();
  const seen: number[] = [];
  const sites = controller(Website, {
    state: () => ({ tries: 0 }),
    retry: { initial: "1s" },
    reconcile: (_, { state }) => {
      seen.push(++state.tries);
      if (state.tries === 2) return;
      throw new Error("again");
    },
  });
  await world.run(sites);
  await world.createWebsite("a");
  await world.clock.advance(5_000);
  await world.createWebsite("b");
  await world.clock.advance(5_000);
  await world.annotate("a", { touched: "yes" });
  await world.clock.advance(5_000);
  expect(seen).toEqual([1, 2, 1, 2, 1, 2]);
});

it.each(["apply", "prune"] as const)("refuses to %s a kind that is only in uses, also at run time", async (verb) => {
  world = await World.create();
  const sites = controller(Website, {
    uses: [ConfigMap],
    retry: { attempts: 0 },
    reconcile: async (_, ctx) => {
      const call = (ctx as unknown as ReconcileContext)[verb] as (...given: unknown[]) => Promise<unknown>;
      await call(ConfigMap, { metadata: { name: "a" } });
    },
  });
  await world.run(sites);
  await world.createWebsite("a");
  await world.clock.settle();
  expect(world.runs("team/a")[0]?.reason).toContain(
    `v1/ConfigMap is in uses, not in owns: to ${verb} it, move it to owns`,
  );
  expect(world.writes.filter((write) => write.includes("configmaps"))).toEqual([]);
});
