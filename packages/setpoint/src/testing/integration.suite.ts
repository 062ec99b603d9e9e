import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { isNotServed } from "../client/api-error.js";
import type { Client } from "../client/client.js";
import { systemClock } from "../clock/system-clock.js";
import { controller, scoped } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { Website, websiteDefinition } from "../controller/world.testing.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { ConfigMap, Event, Namespace } from "../kinds/builtin/v1.js";
import { Manager, type ManagerOptions } from "../manager/manager.js";
import type { Part } from "../manager/part.js";

/** An API server to run against, in real time. */
export interface Server extends AsyncDisposable {
  /** A client with a connection of its own, as a process would have. */
  connect(): Promise<Client>;
}

const namespace = "team";
const here = { namespace };

/** What controllers, watchers and the manager promise, on whatever API server. */
export function integrationSuite(title: string, start: () => Promise<Server>): void {
  describe(`controllers on ${title}`, () => {
    let server: Server;
    let admin: Client;
    let managers: { readonly manager: Manager; readonly client: Client }[] = [];

    beforeAll(async () => {
      server = await start();
      admin = await server.connect();
      for (const name of [namespace, "other"]) await admin.create(Namespace, { metadata: { name } });
      await admin.create(CustomResourceDefinition, websiteDefinition());
      await eventually(async () => {
        const served = await admin.list(Website).catch((error: unknown) => {
          if (!isNotServed(error)) throw error;
        });
        expect(served).toBeDefined();
      });
    }, 900_000);
    afterAll(async () => {
      await admin?.[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    });
    afterEach(async () => {
      for (const { manager } of managers) await manager.stop();
      for (const { metadata } of (await admin.list(Website, here)).items) {
        await admin.patch(Website, metadata.name, { type: "merge", body: { metadata: { finalizers: null } } }, here);
        await admin.delete(Website, metadata.name, here).catch(() => {});
      }
      for (const where of [here, { namespace: "other" }]) {
        for (const { metadata } of (await admin.list(ConfigMap, where)).items) {
          if (metadata.name !== "kube-root-ca.crt") await admin.delete(ConfigMap, metadata.name, where).catch(() => {});
        }
      }
      for (const { client } of managers) await client[Symbol.asyncDispose]();
      managers = [];
    });

    async function run(workloads: readonly Part[], options: Partial<ManagerOptions> = {}): Promise<Manager> {
      const client = await server.connect();
      const manager = new Manager({ ...options, client });
      managers.push({ manager, client });
      for (const workload of workloads) void manager.add(workload);
      void manager.start().catch(() => {});
      return manager;
    }
    const create = (name: string, image = "nginx"): Promise<Website> =>
      admin.create(Website, { metadata: { namespace, name }, spec: { image } });
    const patch = (name: string, body: object): Promise<Website> =>
      admin.patch(Website, name, { type: "merge", body: body as never }, here);
    const child = (name: string, where = namespace): Promise<ConfigMap | undefined> =>
      admin.find(ConfigMap, name, { namespace: where });
    const site = (name: string): Promise<Website | undefined> => admin.find(Website, name, here);

    it("makes children and prunes those that are no longer desired", async () => {
      await run([
        controller(Website, {
          owns: [ConfigMap],
          async reconcile({ metadata: { name }, spec }, ctx) {
            for (const part of spec.image.split(","))
              await ctx.apply(ConfigMap, { metadata: { name: `${name}-${part}` } });
            await ctx.prune();
          },
        }),
      ]);
      await create("a", "x,y");
      await eventually(async () => expect([!!(await child("a-x")), !!(await child("a-y"))]).toEqual([true, true]));
      await patch("a", { spec: { image: "y" } });
      await eventually(async () => expect([!!(await child("a-x")), !!(await child("a-y"))]).toEqual([false, true]));
    });

    it("refuses children that others made, unless they are to be adopted", async () => {
      await run([
        controller(Website, {
          owns: [ConfigMap],
          async reconcile({ metadata: { name }, spec }, ctx) {
            const existing = spec.image === "adopt" ? ({ existing: "adopt" } as const) : {};
            await ctx.apply(ConfigMap, { metadata: { name }, data: { by: "us" } }, existing);
          },
        }),
      ]);
      await admin.create(ConfigMap, { metadata: { namespace, name: "a" }, data: { by: "them" } });
      await create("a");
      await eventually(async () =>
        expect((await site("a"))?.status?.conditions?.[0]).toMatchObject({
          type: "Reconciled",
          status: "False",
          reason: "TerminalError",
        }),
      );
      expect((await child("a"))?.data).toEqual({ by: "them" });
      await patch("a", { spec: { image: "adopt" } });
      await eventually(async () => expect((await child("a"))?.data).toEqual({ by: "us" }));
      expect((await child("a"))?.metadata.ownerReferences?.[0]?.name).toBe("a");
    });

    it("runs again when what it has read changes, or appears", async () => {
      await run([
        controller(Website, {
          uses: [ConfigMap],
          async reconcile(_, ctx) {
            ctx.status({ phase: (await ctx.find(ConfigMap, "settings"))?.data?.phase ?? "none" });
          },
        }),
      ]);
      const phase = (expected: string): Promise<void> =>
        eventually(async () => expect((await site("a"))?.status?.phase).toBe(expected));
      await create("a");
      await phase("none");
      await admin.create(ConfigMap, { metadata: { namespace, name: "settings" }, data: { phase: "one" } });
      await phase("one");
      await admin.patch(ConfigMap, "settings", { type: "merge", body: { data: { phase: "two" } } }, here);
      await phase("two");
    });

    it("sets conditions with their generation, and records events", async () => {
      await run([
        controller(Website, {
          reconcile(_, ctx) {
            ctx.condition({ type: "Ready", status: "True", reason: "Done" });
            ctx.event("Normal", "Done", "it is done");
          },
        }),
      ]);
      await create("events");
      await eventually(async () => {
        const { status, metadata } = (await site("events"))!;
        expect(status?.conditions?.[0]).toMatchObject({ type: "Ready", observedGeneration: metadata.generation });
      });
      await eventually(async () => {
        const { items } = await admin.list(Event, { ...here, fieldSelector: "involvedObject.name=events" });
        expect(items.map(({ reason }) => reason)).toEqual(["Done"]);
      });
    });

    it("finalizes what was deleted while it was down", async () => {
      const finalized: string[] = [];
      const declared = () =>
        controller(Website, { reconcile: () => {}, finalize: ({ metadata }) => void finalized.push(metadata.name) });
      const first = await run([declared()]);
      await create("a");
      await eventually(async () => expect((await site("a"))?.metadata.finalizers).toEqual(["setpoint.dev/websites"]));
      await first.stop();
      await admin.delete(Website, "a", here);
      expect((await site("a"))?.metadata.deletionTimestamp).toBeDefined();
      await run([declared()]);
      await eventually(async () => expect(await site("a")).toBeUndefined());
      expect(finalized).toEqual(["a"]);
    });

    it("collects children in other namespaces itself", async () => {
      await run([
        controller(Website, {
          owns: [scoped(ConfigMap, { namespaces: "all" })],
          async reconcile({ metadata: { name } }, ctx) {
            await ctx.apply(ConfigMap, { metadata: { name, namespace: "other" } });
          },
        }),
      ]);
      await create("a");
      await eventually(async () => expect(await child("a", "other")).toBeDefined());
      await admin.delete(Website, "a", here);
      await eventually(async () => expect(await child("a", "other")).toBeUndefined());
    });

    it("shows a watcher each step, in order", async () => {
      const steps: string[] = [];
      await run([
        watcher(Website, {
          name: "steps",
          add: ({ spec }) => void steps.push(`add ${spec.image}`),
          update: (old, { spec }) => void steps.push(`${old.spec.image} to ${spec.image}`),
          delete: ({ spec }) => void steps.push(`delete ${spec.image}`),
        }),
      ]);
      await create("a", "one");
      await eventually(() => expect(steps).toEqual(["add one"]));
      await patch("a", { spec: { image: "two" } });
      await patch("a", { spec: { image: "three" } });
      await admin.delete(Website, "a", here);
      const expected = ["add one", "one to two", "two to three", "delete three"];
      await eventually(() => expect(steps).toEqual(expected));
    });

    it("leaves paused objects alone until they are resumed", async () => {
      const seen: string[] = [];
      await run([controller(Website, { reconcile: ({ metadata }) => void seen.push(metadata.name) })]);
      const annotations = { "setpoint.dev/paused": "true" };
      await admin.create(Website, { metadata: { namespace, name: "paused", annotations }, spec: { image: "x" } });
      await create("free");
      await eventually(() => expect(seen).toEqual(["free"]));
      await patch("paused", { metadata: { annotations: { "setpoint.dev/paused": null } } });
      await eventually(() => expect(seen).toEqual(["free", "paused"]));
    });

    it("lets one of two processes work, and the other take over", async () => {
      const declared = () => controller(Website, { reconcile: (_, ctx) => ctx.status({ phase: "Seen" }) });
      const options = { name: "suite", leaderElection: { namespace } };
      const first = await run([declared()], options);
      await eventually(() => expect(first.isLeading).toBe(true));
      const second = await run([declared()], options);
      await create("a");
      await eventually(async () => expect((await site("a"))?.status?.phase).toBe("Seen"));
      expect(second.isLeading).toBe(false);
      await first.stop();
      await eventually(() => expect(second.isLeading).toBe(true));
      await create("b");
      await eventually(async () => expect((await site("b"))?.status?.phase).toBe("Seen"));
    });
  });
}

/** Tries until it holds. */
async function eventually(check: () => Promise<void> | void): Promise<void> {
  for (let tries = 300; ; tries--) {
    try {
      return await check();
    } catch (error) {
      if (tries === 0) throw error;
      await systemClock.sleep(50);
    }
  }
}
