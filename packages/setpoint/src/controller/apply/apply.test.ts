import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Deployment } from "../../kinds/builtin/apps/v1.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { requeueAfter } from "../../loop/outcome.js";
import type { ChildOptions, Desired } from "../context.js";
import { controller, scoped } from "../controller.js";
import { watcher } from "../watcher.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

function desiredDeployment(site: Website): Desired<Deployment> {
  const labels = { app: site.metadata.name };
  return {
    metadata: { name: site.metadata.name, labels },
    spec: {
      replicas: site.spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "web",
              image: site.spec.image,
              resources: { limits: { cpu: "1000m" } },
              ports: [{ containerPort: 80 }],
            },
          ],
        },
      },
    },
  };
}

function websites(options: ChildOptions = {}) {
  return controller(Website, {
    owns: [Deployment],
    reconcile: async (site, ctx) => {
      const deployment = await ctx.apply(Deployment, desiredDeployment(site), options);
      ctx.status({ ready: deployment.status?.readyReplicas ?? 0 });
    },
  });
}

const deployment = (): Promise<Deployment | undefined> => world.client.find(Deployment, "a", { namespace: "team" });
const applies = (): readonly string[] => world.writes.filter((write) => write.includes("/deployments/"));

describe("apply", () => {
  it("creates a child with an owner reference, and does not run again for it", async () => {
    await world.run(websites());
    const site = await world.createWebsite("a");
    await world.clock.settle();
    const made = await deployment();
    expect(made?.metadata.ownerReferences).toMatchObject([
      { kind: "Website", name: "a", uid: site.metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(made?.spec?.template.spec?.containers[0]?.image).toBe("nginx");
    expect(applies()).toHaveLength(1);
    expect(world.runs()).toHaveLength(1);
  });

  it.each(["constructor", "toString", "valueOf"])("handles a key called %s: stated, drifted, dropped", async (key) => {
    let data: Record<string, string> = { [key]: "mine", other: "1" };
    await world.run(
      controller(Website, {
        owns: [scoped(ConfigMap, { namespaces: "all" })],
        reconcile: (_, ctx) => ctx.apply(ConfigMap, { metadata: { name: "settings" }, data }).then(() => {}),
      }),
    );
    const here = { namespace: "team" };
    const stored = async () => (await world.client.get(ConfigMap, "settings", here)).data;
    await world.createWebsite("a");
    await world.clock.settle();
    expect(await stored()).toEqual({ [key]: "mine", other: "1" });
    await world.annotate("a", { touched: "once" });
    await world.clock.settle();
    expect(world.writes).toHaveLength(1);
    const drift = { type: "merge", body: { data: { [key]: null } } } as const;
    await world.client.patch(ConfigMap, "settings", drift, here);
    await world.clock.settle();
    expect(await stored()).toEqual({ [key]: "mine", other: "1" });
    data = { other: "1" };
    await world.annotate("a", { touched: "twice" });
    await world.clock.settle();
    expect(await stored()).toEqual({ other: "1" });
  });

  it("sends no request while the child is as desired, even if normalised, also after a restart", async () => {
    const first = await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    await world.annotate("a", { touched: "once" });
    await world.clock.settle();
    expect(world.runs()).toHaveLength(2);
    expect(applies()).toHaveLength(1);
    await Promise.all([first.stop(), world.clock.advance(1_000)]);

    const before = world.writes.length;
    await world.run(websites());
    expect(world.runs()).toHaveLength(3);
    expect(world.writes.slice(before)).toEqual([]);
  });

  it("applies a new empty field, and restores it if somebody removes it", async () => {
    let spec: Record<string, unknown> = { image: "x" };
    await world.run(
      controller(Website, {
        owns: [Website],
        when: { matches: ({ metadata }) => metadata.name === "a" },
        reconcile: async (_, ctx) => {
          await ctx.apply(Website, { metadata: { name: "child", labels: {} }, spec: spec as never });
        },
      }),
    );
    const child = async () => (await world.website("child"))?.spec;
    await world.createWebsite("a");
    await world.clock.settle();
    spec = { image: "x", tls: {}, rules: [] };
    await world.annotate("a", { touched: "once" });
    await world.clock.settle();
    expect(await child()).toEqual(spec);
    const before = world.writes.length;
    await world.annotate("a", { touched: "twice" });
    await world.clock.settle();
    expect(world.writes).toHaveLength(before);
    const body = { spec: { tls: null } } as never;
    await world.client.patch(Website, "child", { type: "merge", body }, { namespace: "team" });
    await world.clock.settle();
    expect(await child()).toEqual(spec);
  });

  it("updates the child when the desired state changes", async () => {
    await world.run(websites());
    const site = await world.createWebsite("a");
    await world.clock.settle();
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { ...site.spec, image: "caddy" } });
    await world.clock.settle();
    expect((await deployment())?.spec?.template.spec?.containers[0]?.image).toBe("caddy");
    expect(world.runs()).toHaveLength(2);
    expect(world.runs().at(-1)?.writes).toMatchObject([
      { verb: "apply", key: "team/a", paths: ["spec.template.spec.containers[0].image"] },
    ]);
  });

  it("corrects drift, and leaves fields of others alone", async () => {
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    const body = { metadata: { labels: { app: "wrong", theirs: "yes" } }, spec: { replicas: 7, paused: true } };
    await world.client.patch(Deployment, "a", { type: "merge", body }, { namespace: "team", fieldManager: "somebody" });
    await world.clock.settle();
    const repaired = await deployment();
    expect(repaired?.metadata.labels).toEqual({ app: "a", theirs: "yes" });
    expect(repaired?.spec).toMatchObject({ replicas: 1, paused: true });
    expect(world.runs().at(-1)?.causes).toMatchObject([{ type: "owned", key: "team/a", change: "updated" }]);
  });

  it("recreates a child that somebody deleted", async () => {
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    const { uid } = (await deployment())!.metadata;
    await world.client.delete(Deployment, "a", { namespace: "team" });
    await world.clock.settle();
    expect((await deployment())?.metadata.uid).toBeTypeOf("string");
    expect((await deployment())?.metadata.uid).not.toBe(uid);
  });

  it("removes a field that is no longer desired, also if that changed while the controller was down", async () => {
    const withLabels = (labels: Record<string, string>) =>
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: site.metadata.name, labels }, data: labels });
        },
      });
    const first = await world.run(withLabels({ kept: "1", dropped: "2" }));
    await world.createWebsite("a");
    await world.clock.settle();
    await Promise.all([first.stop(), world.clock.advance(1_000)]);
    await world.run(withLabels({ kept: "1" }));
    const made = await world.client.get(ConfigMap, "a", { namespace: "team" });
    expect(made.data).toEqual({ kept: "1" });
    expect(made.metadata.labels).toEqual({ kept: "1" });
  });

  it("yields only the declared field to another manager that takes it over", async () => {
    await world.run(websites({ yields: ["spec.replicas"] }));
    const site = await world.createWebsite("a", { replicas: 2 });
    await world.clock.settle();
    expect((await deployment())?.spec?.replicas).toBe(2);
    const body = { spec: { replicas: 5 } };
    await world.client.patch(
      Deployment,
      "a",
      { type: "merge", body },
      { namespace: "team", fieldManager: "autoscaler" },
    );
    await world.clock.settle();
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { ...site.spec, image: "caddy" } });
    await world.clock.settle();
    const scaled = await deployment();
    expect(scaled?.spec?.replicas).toBe(5);
    expect(scaled?.spec?.template.spec?.containers[0]?.image).toBe("caddy");
  });

  it("refuses an object that somebody else made, says so, and continues when it is gone", async () => {
    await world.client.create(ConfigMap, { metadata: { name: "a", namespace: "team" }, data: { theirs: "1" } });
    const errors: unknown[] = [];
    const maps = (options: ChildOptions) =>
      controller(Website, {
        owns: [ConfigMap],
        onError: (error) => errors.push(error),
        reconcile: async (site, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: site.metadata.name }, data: { ours: "1" } }, options);
        },
      });
    const run = await world.run(maps({}));
    await world.createWebsite("a");
    await world.clock.settle();
    expect(errors).toMatchObject([{ code: "CHILD_NOT_OWNED" }]);
    await world.client.delete(ConfigMap, "a", { namespace: "team" });
    await world.clock.settle();
    expect((await world.client.get(ConfigMap, "a", { namespace: "team" })).data).toEqual({ ours: "1" });
    await Promise.all([run.stop(), world.clock.advance(1_000)]);
  });

  it("adopts an object without a controller if told to", async () => {
    await world.client.create(ConfigMap, { metadata: { name: "a", namespace: "team" }, data: { theirs: "1" } });
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          await ctx.apply(
            ConfigMap,
            { metadata: { name: site.metadata.name }, data: { ours: "1" } },
            { existing: "adopt" },
          );
        },
      }),
    );
    const site = await world.createWebsite("a");
    await world.clock.settle();
    const adopted = await world.client.get(ConfigMap, "a", { namespace: "team" });
    expect(adopted.data).toEqual({ theirs: "1", ours: "1" });
    expect(adopted.metadata.ownerReferences).toMatchObject([{ uid: site.metadata.uid }]);
  });

  it("reads its own writes within a run and in the next one", async () => {
    const seen: unknown[] = [];
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          await ctx.apply(ConfigMap, {
            metadata: { name: "a", labels: { app: "a" } },
            data: { image: site.spec.image },
          });
          const listed = await ctx.list(ConfigMap, { labelSelector: "app=a", tracked: false });
          seen.push(
            (await ctx.get(ConfigMap, "a")).data?.image,
            listed.map(({ data }) => data?.image),
          );
        },
      }),
    );
    const site = await world.createWebsite("a");
    await world.clock.settle();
    await world.client.update(Website, { ...site, spec: { image: "caddy" } });
    await world.clock.settle();
    expect(seen).toEqual(["nginx", ["nginx"], "caddy", ["caddy"]]);
  });

  it("prunes owned children that are no longer applied", async () => {
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          for (let at = 0; at < (site.spec.replicas ?? 0); at++) {
            await ctx.apply(ConfigMap, { metadata: { name: `${site.metadata.name}-${at}` }, data: {} });
          }
          await ctx.prune();
        },
      }),
    );
    await world.client.create(ConfigMap, { metadata: { name: "a-theirs", namespace: "team" } });
    await world.createWebsite("a", { replicas: 3 });
    await world.createWebsite("b", { replicas: 1 });
    await world.clock.settle();
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { image: "nginx", replicas: 1 } });
    await world.clock.settle();
    const left = await world.client.list(ConfigMap, { namespace: "team" });
    expect(left.items.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith("kube"))).toEqual([
      "a-0",
      "a-theirs",
      "b-0",
    ]);
  });

  it("prunes children that became unwanted while it was down, also if it applies none of that kind", async () => {
    const settings = () =>
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          const { name } = site.metadata;
          if (site.spec.image !== "none") await ctx.apply(ConfigMap, { metadata: { name }, data: { x: "1" } });
          await ctx.prune(ConfigMap);
        },
      });
    const first = await world.run(settings());
    await world.createWebsite("a");
    await world.clock.settle();
    await Promise.all([first.stop(), world.clock.advance(1_000)]);
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { image: "none" } });
    await world.run(settings());
    await world.clock.settle();
    expect(await world.client.find(ConfigMap, "a", { namespace: "team" })).toBeUndefined();
  });

  it("runs again when a child that it created once is deleted, also of kinds cached by namespace", async () => {
    const seen: string[] = [];
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          seen.push(ctx.causes.map(({ type }) => type).join());
          if (ctx.action === "created") await ctx.create(ConfigMap, { metadata: { name: site.metadata.name } });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await world.client.delete(ConfigMap, "a", { namespace: "team" });
    await world.clock.settle();
    expect(seen).toEqual(["created", "owned"]);
  });

  it("refuses to create a child elsewhere that it would not find after a restart", async () => {
    await world.run(
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          const metadata = { name: site.metadata.name, namespace: "other" };
          if (site.spec.image === "create") await ctx.create(ConfigMap, { metadata });
          else await ctx.apply(ConfigMap, { metadata, data: { x: "1" } });
        },
      }),
    );
    for (const image of ["apply", "create"]) await world.createWebsite(image, { image });
    await world.clock.settle();
    const message = `v1/ConfigMap in other could not be found again after a restart: declare its namespaces, scoped(ConfigMap, { namespaces: "all" })`;
    expect(world.runs()).toMatchObject([
      { outcome: "terminal", reason: message },
      { outcome: "terminal", reason: message },
    ]);
    expect(await world.client.find(ConfigMap, "apply", { namespace: "other" })).toBeUndefined();
  });

  it("damps a fight of two writers, and names the field and the other writer", async () => {
    const run = await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    for (let round = 0; round < 40; round++) {
      const body = { spec: { replicas: 7 } };
      await world.client.patch(Deployment, "a", { type: "merge", body }, { namespace: "team", fieldManager: "rival" });
      await world.clock.advance(100);
    }
    const warning = world.events.find(({ reason }) => reason === "HotLoop");
    expect(warning?.message).toContain("spec.replicas");
    expect(warning?.message).toContain("rival");
    expect(applies().length).toBeLessThan(20);
    await world.clock.advance(120_000);
    expect((await deployment())?.spec?.replicas).toBe(1);
    expect(run.status().running).toEqual([]);
  });

  it("damps a writer that reverts its changes during its runs, too", async () => {
    const { clock } = world;
    await world.run(
      controller(Website, {
        owns: [Deployment],
        reconcile: async (site, ctx) => {
          await ctx.apply(Deployment, desiredDeployment(site));
          await clock.sleep(50);
        },
      }),
    );
    const rival = watcher(Deployment, {
      update: async ({ metadata, spec }) => {
        if (spec?.replicas === 7) return;
        await clock.sleep(10);
        const body = { spec: { replicas: 7 } };
        const where = { namespace: "team", fieldManager: "rival" };
        await world.client.patch(Deployment, metadata.name, { type: "merge", body }, where);
      },
    });
    await world.watch(rival);
    await world.createWebsite("a");
    await clock.advance(1_000);
    const body = { spec: { replicas: 7 } };
    await world.client.patch(Deployment, "a", { type: "merge", body }, { namespace: "team", fieldManager: "rival" });
    await clock.advance(60_000);
    expect(world.events.find(({ reason }) => reason === "HotLoop")?.message).toContain("rival");
    expect(applies().length).toBeGreaterThan(10);
    expect(applies().length).toBeLessThan(25);
  });

  it("damps a key that requeues itself and writes the same over and over", async () => {
    await world.client.create(ConfigMap, { metadata: { name: "beat", namespace: "team" } });
    await world.run(
      controller(Website, {
        uses: [ConfigMap],
        reconcile: async (_, ctx) => {
          await ctx.patch(ConfigMap, "beat", { type: "merge", body: { data: { beats: "yes" } } });
          return requeueAfter("100ms");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    const patches = world.writes.filter((write) => write.endsWith("/configmaps/beat"));
    expect(patches.length).toBeGreaterThan(10);
    expect(patches.length).toBeLessThan(25);
  });

  it("follows another object that changes often, without delay", async () => {
    const here = { namespace: "team" };
    await world.client.create(ConfigMap, { metadata: { name: "limits", ...here }, data: { replicas: "0" } });
    await world.run(
      controller(Website, {
        owns: [Deployment],
        uses: [ConfigMap],
        reconcile: async (site, ctx) => {
          const { data = {} } = await ctx.get(ConfigMap, "limits");
          const desired = desiredDeployment(site);
          await ctx.apply(Deployment, { ...desired, spec: { ...desired.spec!, replicas: Number(data.replicas) } });
        },
      }),
    );
    await world.createWebsite("a");
    for (let replicas = 1; replicas <= 30; replicas++) {
      const body = { data: { replicas: String(replicas) } };
      await world.client.patch(ConfigMap, "limits", { type: "merge", body }, here);
      await world.clock.advance(100);
      expect((await deployment())?.spec?.replicas).toBe(replicas);
    }
    expect(world.events.filter(({ reason }) => reason === "HotLoop")).toEqual([]);
  });
});
