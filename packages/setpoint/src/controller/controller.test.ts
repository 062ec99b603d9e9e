import { describe, expect, expectTypeOf, it } from "vitest";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { ConfigMap, Namespace, Secret } from "../kinds/builtin/v1.js";
import { controller, scoped } from "./controller.js";
import { Website } from "./world.testing.js";

const reconcile = (): void => {};

describe("controller", () => {
  it("states its defaults", () => {
    expect(controller(Website, { reconcile })).toMatchObject({
      name: "websites",
      finalizer: "setpoint.dev/websites",
      fieldManager: "setpoint-websites",
      concurrency: 4,
      maxAttempts: 12,
      timeoutMs: 300_000,
      backoff: { initialMs: 100, maxMs: 300_000 },
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

  it("names the option of a duration that is none", () => {
    expect(() => controller(Website, { reconcile, timeout: "soon" as "1s" })).toThrow("controller websites: timeout");
  });

  it("types its context by what is declared", () => {
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

  it("knows its own kind, and kinds with and without a scope beside each other", () => {
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
      // What a function without a result returns fits beside an outcome.
      finalize: async (site, ctx) => (site.spec.paused ? ctx.requeueAfter("1s") : ctx.delete(ConfigMap, "x")),
    });
  });
});
