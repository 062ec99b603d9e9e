import { describe, expect, it } from "vitest";
import type { Desired } from "../../controller/context.js";
import { controller, scoped } from "../../controller/controller.js";
import { Website } from "../../controller/world.testing.js";
import { Deployment } from "../../kinds/builtin/apps/v1.js";
import { ConfigMap, Event } from "../../kinds/builtin/v1.js";
import { eventually, here, type IntegrationWorld, settled } from "./integration-world.testing.js";

function desired({ metadata: { name }, spec }: Website): Desired<Deployment> {
  const labels = { app: name };
  const container = {
    name: "web",
    image: spec.image,
    ports: [{ containerPort: 80 }],
    resources: { limits: { cpu: "1000m", memory: "1024Mi" } },
    env: [{ name: "COLOR", value: "red" }],
  };
  return {
    metadata: { name, labels },
    spec: {
      replicas: spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container], tolerations: [] } },
    },
  };
}

const websites = () =>
  controller(Website, {
    owns: [Deployment],
    async reconcile(site, ctx) {
      const deployment = await ctx.apply(Deployment, desired(site), { yields: ["spec.replicas"] });
      ctx.status({ ready: deployment.status?.readyReplicas ?? 0 });
      ctx.condition({ type: "Available", status: "True", reason: "Applied" });
    },
  });

/** A ConfigMap with the object's name and this data. */
const withMap = (data: Readonly<Record<string, string>>) =>
  controller(Website, {
    owns: [ConfigMap],
    async reconcile({ metadata }, ctx) {
      await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data });
    },
  });

export function childSuite(given: () => IntegrationWorld): void {
  describe("children", () => {
    const deployment = (): Promise<Deployment | undefined> => given().client.find(Deployment, "a", here);

    it("take two writes and one run, then nothing, also after a restart", async () => {
      const world = given();
      const first = await world.run([websites()]);
      await world.createSite("a");
      await eventually(async () => expect((await world.site("a"))?.status?.conditions).toHaveLength(1));
      await settled();
      expect(world.writes).toEqual(["apply Deployment", "patch Website status"]);
      expect([...first.timeline.runs()]).toHaveLength(1);
      await first.stop();
      world.writes.length = 0;
      const second = await world.run([websites()]);
      await eventually(() => expect([...second.timeline.runs()]).toHaveLength(1));
      await settled();
      expect(world.writes).toEqual([]);
    });

    it("are pruned when they are no longer desired", async () => {
      const world = given();
      await world.run([
        controller(Website, {
          owns: [ConfigMap],
          async reconcile({ metadata: { name }, spec }, ctx) {
            for (const part of spec.image.split(","))
              await ctx.apply(ConfigMap, { metadata: { name: `${name}-${part}` } });
            await ctx.prune();
          },
        }),
      ]);
      const there = async () => [!!(await world.map("a-x")), !!(await world.map("a-y"))];
      await world.createSite("a", "x,y");
      await eventually(async () => expect(await there()).toEqual([true, true]));
      await world.patchSite("a", { spec: { image: "y" } });
      await eventually(async () => expect(await there()).toEqual([false, true]));
    });

    it("that others made are refused, unless they are to be adopted", async () => {
      const world = given();
      await world.run([
        controller(Website, {
          owns: [ConfigMap],
          async reconcile({ metadata: { name }, spec }, ctx) {
            const existing = spec.image === "adopt" ? ({ existing: "adopt" } as const) : {};
            await ctx.apply(ConfigMap, { metadata: { name }, data: { by: "us" } }, existing);
          },
        }),
      ]);
      await world.client.create(ConfigMap, { metadata: { ...here, name: "a" }, data: { by: "them" } });
      await world.createSite("a");
      await eventually(async () =>
        expect((await world.site("a"))?.status?.conditions?.[0]).toMatchObject({
          type: "Reconciled",
          status: "False",
          reason: "TerminalError",
        }),
      );
      expect((await world.map("a"))?.data).toEqual({ by: "them" });
      await world.patchSite("a", { spec: { image: "adopt" } });
      await eventually(async () => expect((await world.map("a"))?.data).toEqual({ by: "us" }));
      expect((await world.map("a"))?.metadata.ownerReferences?.[0]?.name).toBe("a");
    });

    it("are corrected when they drift, except for fields of others and yielded ones", async () => {
      const world = given();
      await world.run([websites()]);
      await world.createSite("a");
      await eventually(async () => expect(await deployment()).toBeDefined());
      const body = { metadata: { labels: { app: "wrong", theirs: "yes" } }, spec: { replicas: 3, paused: true } };
      await world.client.patch(Deployment, "a", { type: "merge", body }, { ...here, fieldManager: "somebody" });
      await eventually(async () => expect((await deployment())?.metadata.labels).toEqual({ app: "a", theirs: "yes" }));
      await settled();
      expect((await deployment())?.spec).toMatchObject({ replicas: 3, paused: true });
    });

    it("lose a field that was dropped while their controller was down", async () => {
      const world = given();
      const first = await world.run([withMap({ kept: "1", dropped: "2" })]);
      await world.createSite("a");
      await eventually(async () => expect(await world.map("a")).toBeDefined());
      await first.stop();
      await world.run([withMap({ kept: "1" })]);
      await eventually(async () => expect((await world.map("a"))?.data).toEqual({ kept: "1" }));
    });

    it("in other namespaces are garbage-collected by the runtime", async () => {
      const world = given();
      await world.run([
        controller(Website, {
          owns: [scoped(ConfigMap, { namespaces: "all" })],
          async reconcile({ metadata: { name } }, ctx) {
            await ctx.apply(ConfigMap, { metadata: { name, namespace: "other" } });
          },
        }),
      ]);
      await world.createSite("a");
      await eventually(async () => expect(await world.map("a", "other")).toBeDefined());
      await world.client.delete(Website, "a", here);
      await eventually(async () => expect(await world.map("a", "other")).toBeUndefined());
    });

    it("in another cluster are read, written and garbage-collected like local ones", async () => {
      const world = given();
      // Another connection is another cluster to a manager, even to the same server.
      await using edge = await world.connect();
      const where = { namespace: "other" };
      const manager = await world.run(
        [
          controller(Website, {
            owns: [scoped(ConfigMap, { cluster: "edge", namespaces: ["other"] })],
            async reconcile({ metadata: { name } }, ctx) {
              const settings = await ctx.in("edge").find(ConfigMap, "settings", where);
              const data = { color: settings?.data?.color ?? "none" };
              await ctx.in("edge").apply(ConfigMap, { metadata: { name, ...where }, data });
            },
          }),
        ],
        { clusters: { edge } },
      );
      await world.createSite("a");
      await eventually(async () => expect((await world.map("a", "other"))?.data).toEqual({ color: "none" }));
      await world.client.create(ConfigMap, { metadata: { name: "settings", ...where }, data: { color: "red" } });
      await eventually(async () => expect((await world.map("a", "other"))?.data).toEqual({ color: "red" }));
      await world.client.delete(Website, "a", here);
      await eventually(async () => expect(await world.map("a", "other")).toBeUndefined());
      await manager.stop();
    });

    it("that somebody else keeps changing are damped, with the field and its writer named", async () => {
      const world = given();
      await world.run([withMap({ color: "red" })]);
      const rival = controller(Website, {
        name: "rival",
        uses: [ConfigMap],
        async reconcile({ metadata: { name } }, ctx) {
          const known = await ctx.find(ConfigMap, name);
          if (known?.data?.color !== "red") return;
          const patch = { type: "merge", body: { data: { color: "blue" } } } as const;
          await world.client.patch(ConfigMap, name, patch, { ...here, fieldManager: "rival" });
        },
      });
      await world.run([rival]);
      await world.createSite("a");
      await eventually(async () => {
        const { items } = await world.client.list(Event, { ...here, fieldSelector: "reason=HotLoop" });
        expect(items[0]?.message).toMatch(/wrote data\.color of v1\/ConfigMap team\/a .* rival writes it too/);
      });
    });
  });
}
