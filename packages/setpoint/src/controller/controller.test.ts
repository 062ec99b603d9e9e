import { describe, expect, expectTypeOf, it } from "vitest";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { ConfigMap, Namespace, Secret } from "../kinds/builtin/v1.js";
import type { KubeObject } from "../kinds/object.js";
import { requeueAfter } from "../loop/outcome.js";
import { controller, mapped, scoped } from "./controller.js";
import { watcher } from "./watcher.js";
import { Website } from "./world.testing.js";

const reconcile = (): void => {};

describe("controller", () => {
  it("has defaults", () => {
    expect(controller(Website, { reconcile })).toMatchObject({
      name: "websites",
      finalizer: "setpoint.dev/websites",
      fieldManager: "setpoint-websites",
      concurrency: 4,
      maxAttempts: 12,
      timeoutMs: 300_000,
      backoff: { initial: 100, max: 300_000 },
    });
  });

  it.each([
    ["a name with capitals", { name: "Websites" }],
    ["no worker", { concurrency: 0 }],
    ["half a retry", { retry: { attempts: 0.5 } }],
    ["a kind declared twice", { owns: [ConfigMap], uses: [ConfigMap] }],
  ])("refuses %s", (_, options) =>
    expect(() => controller(Website, { reconcile, ...options })).toThrow(
      expect.objectContaining({ code: "CONTROLLER_INVALID", message: expect.stringContaining("controller ") }),
    ),
  );

  it.each<[string, object, string]>([
    ["no reconcile", { reconcile: undefined }, "reconcile is undefined, not a function"],
    ["an invalid finalize", { finalize: true }, "finalize is true, not a function"],
    ["a misspelt option", { finalise: reconcile }, "there is no option finalise; there are name, owns, uses"],
    [
      "a kind that an import in a circle left out",
      { owns: [ConfigMap, undefined] },
      "owns[1]: undefined is not a kind",
    ],
    ["a kind in place of a list", { owns: ConfigMap }, "owns is not a list"],
    ["a text in place of a kind", { uses: ["v1/ConfigMap"] }, "uses[0]: v1/ConfigMap is not a kind"],
    ["a scope of nothing", { uses: [scoped(ConfigMap, { namespaces: [] })] }, "uses[0]: namespaces is [], not a list"],
    ["a watch without a map", { watches: [ConfigMap] }, "watches[0]: it has no mapping to keys: use mapped(Kind, …)"],
    [
      "a watch of config maps anywhere",
      { watches: [mapped(ConfigMap, () => [])] },
      'watches[0]: v1/ConfigMap needs a scope: namespaces: "all" to cache the whole cluster, or a list of namespaces',
    ],
    [
      "a misspelt predicate",
      { when: { change: ["spec"] } },
      "when: there is no option change; there are changed, matches",
    ],
    ["a misspelt retry", { retry: { attemps: 3 } }, "retry: there is no option attemps; there are initial, max"],
    [
      "a misspelt scope",
      { uses: [{ kind: ConfigMap, namespace: "all" }] },
      "uses[0]: there is no option namespace; there are kind, namespaces",
    ],
    ["an invalid match", { when: { matches: "spec" } }, "when.matches is spec, not a function"],
    [
      "an invalid trigger",
      { triggers: ["10m"] },
      "triggers[0]: 10m is not a trigger: use every(…), or an object with name and start",
    ],
    ["a namespace in place of a list", { namespaces: "team" }, 'namespaces is team; expected "all"'],
    ["an invalid selector", { labelSelector: "a in b" }, "labelSelector: "],
    ["an invalid verb", { writes: ["get"] }, "writes: get is not one of create, update, patch, delete, status"],
    ["a path in place of a list", { when: { changed: "spec" } }, "when.changed is spec, not a list of names"],
    ["an invalid factor", { retry: { factor: Number.NaN } }, "retry.factor is NaN, not 1 or more"],
  ])("refuses %s, with a message", (_, options, message) => {
    expect(() => controller(Website, { reconcile, ...options })).toThrow(
      expect.objectContaining({ code: "CONTROLLER_INVALID", message: expect.stringContaining(message) }),
    );
  });

  it("refuses a value that is not a kind", () => {
    expect(() => controller(undefined as never, { reconcile })).toThrow(
      "controller: undefined is not a kind as resource",
    );
    expect(() => controller("v1/ConfigMap" as never, { reconcile })).toThrow("v1/ConfigMap is not a kind");
    expect(() => controller(Website, undefined as never)).toThrow("controller: its options are undefined");
  });

  it("names the option of an invalid duration", () => {
    expect(() => controller(Website, { reconcile, timeout: "soon" as "1s" })).toThrow("controller websites: timeout");
  });

  it("types its context by its declarations", () => {
    controller(Website, {
      owns: [Deployment],
      uses: [scoped(ConfigMap, { namespaces: "all" })],
      reconcile: async (site, ctx) => {
        expectTypeOf(site.spec.image).toEqualTypeOf<string>();
        expectTypeOf(await ctx.find(ConfigMap, "x")).toEqualTypeOf<ConfigMap | undefined>();
        expectTypeOf(await ctx.get(Deployment, "x")).toEqualTypeOf<Deployment>();
        ctx.status({ ready: 1 });
        // @ts-expect-error: the status has no such field
        ctx.status({ redy: 1 });
        // @ts-expect-error: Secrets are not declared
        await ctx.find(Secret, "x");
        // @ts-expect-error: ConfigMaps are used, not owned
        await ctx.apply(ConfigMap, { metadata: { name: "x" } });
      },
    });
  });

  it("types its objects by its kind, also with a handler that takes any object", () => {
    const shared = (_object: KubeObject): void => {};
    controller(Website, { when: { matches: (site) => site.spec.image !== "" }, reconcile: shared });
    watcher(Website, { add: shared, update: (site, _old) => expectTypeOf(site).toEqualTypeOf<Website>() });
  });

  it("accepts its own kind, and scoped and plain kinds side by side", () => {
    controller(Website, {
      owns: [Deployment, scoped(Secret, { namespaces: ["infra"] })],
      uses: [ConfigMap, scoped(Namespace, { writes: ["patch"] })],
      writes: ["patch"],
      reconcile: async (site, ctx) => {
        expectTypeOf(await ctx.find(Website, "another")).toEqualTypeOf<Website | undefined>();
        expectTypeOf(await ctx.list(Website)).toEqualTypeOf<readonly Website[]>();
        expectTypeOf(await ctx.get(Namespace, "x")).toEqualTypeOf<Namespace>();
        expectTypeOf(await ctx.get(ConfigMap, "x")).toEqualTypeOf<ConfigMap>();
        await ctx.patch(Website, site.metadata.name, { type: "merge", body: {} });
        await ctx.apply(Secret, { metadata: { name: "x", namespace: "infra" } });
        // @ts-expect-error: a controller does not own its own kind unless it says so
        await ctx.apply(Website, { metadata: { name: "x" }, spec: { image: "nginx" } });
      },
      // A void result fits beside an outcome.
      finalize: async (site, ctx) => (site.spec.paused ? requeueAfter("1s") : ctx.delete(ConfigMap, "x")),
    });
  });
});
