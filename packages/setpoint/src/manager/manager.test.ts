import { describe, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { controller, mapped } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { Website, World } from "../controller/world.testing.js";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { Lease } from "../kinds/builtin/coordination.k8s.io/v1.js";
import { ConfigMap, Event } from "../kinds/builtin/v1.js";
import { type LogFields, type Logger, silentLogger } from "../loop/logger.js";
import { Manager, type ManagerOptions } from "./manager.js";

function managerOf(world: World, options: Partial<ManagerOptions> = {}): Manager {
  return new Manager({ client: world.cluster().client, clock: world.clock, random: seededRandom(1), ...options });
}

const websites = () =>
  controller(Website, {
    owns: [Deployment],
    async reconcile(site, ctx) {
      const labels = { app: site.metadata.name };
      const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: site.spec.image }] } };
      await ctx.apply(Deployment, {
        metadata: { name: site.metadata.name },
        spec: { selector: { matchLabels: labels }, template },
      });
      ctx.status({ phase: "Ready" });
      ctx.event("Normal", "Deployed", "the deployment is there");
    },
  });

describe("manager", () => {
  it("creates an object's children and status, and records an event", async () => {
    await using world = await World.create();
    await using manager = managerOf(world);
    manager.add(websites());
    await manager.start();
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    expect((await world.website("a"))?.status?.phase).toBe("Ready");
    expect(await world.client.find(Deployment, "a", { namespace: "team" })).toBeDefined();
    const events = await world.client.list(Event, { namespace: "team" });
    expect(events.items.map(({ reason }) => reason)).toEqual(["Deployed"]);
    expect(manager.trouble()).toEqual([]);
    expect(manager.metrics.exposition()).toContain(
      'controller_runtime_reconcile_total{controller="websites",result="success"}',
    );
    expect([...manager.timeline.runs()].length).toBeGreaterThan(0);
  });

  it("runs nothing while another holds the lease, with warm caches, and takes over when that one stops", async () => {
    await using world = await World.create();
    const first = managerOf(world, { leaderElection: { identity: "one" } });
    first.add(websites());
    await first.start();
    await using second = managerOf(world, { leaderElection: { identity: "two" } });
    second.add(websites());
    const steps: string[] = [];
    second.add(watcher(ConfigMap, { namespaces: ["team"], add: ({ metadata }) => void steps.push(metadata.name) }));
    const started = second.start();
    await world.createWebsite("a");
    await world.clock.advance(5_000);
    expect([first.isLeading, second.isLeading]).toEqual([true, false]);
    expect(second.trouble()).toEqual([]);
    expect([...second.timeline.runs()]).toEqual([]);
    expect([...second.informers.statuses()].map(({ kind, synced, objects }) => [kind, synced, objects])).toEqual([
      ["web.example.com/v1/Website", true, 1],
      ["apps/v1/Deployment", true, 1],
      ["v1/ConfigMap", true, 1],
    ]);
    expect(steps).toEqual([]);
    const stopping = first.stop();
    await world.clock.advance(5_000);
    await stopping;
    await started;
    await world.createWebsite("b");
    await world.clock.advance(1_000);
    expect(second.isLeading).toBe(true);
    expect(steps).toEqual(["kube-root-ca.crt"]);
    expect((await world.website("b"))?.status?.phase).toBe("Ready");
  });

  it("takes no key once it stops, lets runs end, and releases the lease after the last of them", async () => {
    await using world = await World.create();
    const manager = managerOf(world, { leaderElection: { identity: "one" } });
    const begun: string[] = [];
    await manager.add(
      controller(Website, {
        async reconcile({ metadata }) {
          begun.push(metadata.name);
          await world.clock.sleep(5_000);
        },
      }),
    );
    await manager.start();
    await world.createWebsite("a");
    await world.clock.settle();
    const holder = async () =>
      (await world.client.get(Lease, "setpoint", { namespace: "default" })).spec?.holderIdentity;
    const stopping = manager.stop();
    await world.createWebsite("late");
    await world.clock.advance(4_000);
    expect(await holder()).toBe("one");
    await world.clock.advance(1_000);
    await stopping;
    expect([begun, await holder()]).toEqual([["a"], ""]);
  });

  it("logs an error of a mapping", async () => {
    await using world = await World.create();
    const lines: LogFields[] = [];
    const log: Logger = { ...silentLogger, warn: (_, fields = {}) => void lines.push(fields), with: () => log };
    await using manager = managerOf(world, { log });
    const failing = (): never => {
      throw new Error("no such label");
    };
    await manager.add(
      controller(Website, { watches: [mapped(ConfigMap, failing, { namespaces: ["team"] })], reconcile() {} }),
    );
    await manager.start();
    await world.clock.settle();
    expect(lines).toEqual([]);
    await world.client.create(ConfigMap, { metadata: { name: "x", namespace: "team" } });
    await world.clock.settle();
    expect(lines).toMatchObject([
      { kind: "v1/ConfigMap", error: { code: "INFORMER_HANDLER_FAILED", cause: { message: "no such label" } } },
    ]);
  });

  it("starts a controller that is added while it runs, and stops one that is removed", async () => {
    await using world = await World.create();
    await using manager = managerOf(world);
    await manager.start();
    const declared = websites();
    manager.add(declared);
    expect(() => manager.add(declared)).toThrow("already");
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    expect((await world.website("a"))?.status?.phase).toBe("Ready");
    await manager.remove(declared);
    await world.createWebsite("b");
    await world.clock.advance(1_000);
    expect((await world.website("b"))?.status).toBeUndefined();
  });

  it("is not ready, and says why, if a controller cannot start", async () => {
    await using world = await World.create();
    await using manager = managerOf(world);
    const start = (): void => {
      throw new Error("no channel");
    };
    const broken = controller(Website, { triggers: [{ name: "feed", start }], reconcile: () => {} });
    manager.add(broken);
    await manager.start();
    await world.clock.advance(1_000);
    expect(manager.trouble()).toEqual(["controller websites could not start: no channel"]);
    await manager.remove(broken);
    expect(manager.trouble()).toEqual([]);
  });

  it("refuses inconsistent durations of leader election", async () => {
    await using world = await World.create();
    for (const more of [{}, { thread: {} }])
      expect(() => managerOf(world, { leaderElection: { lease: 5_000, ...more } })).toThrow(
        "lease 5000 ms, renewal 10000 ms, retry 2000 ms: each must be clearly below the one before",
      );
  });

  it("serves health to everyone and metrics and timeline to this machine, until it stops", async () => {
    await using world = await World.create();
    const any = { host: "127.0.0.1", port: 0 };
    await using manager = managerOf(world, { health: any, metrics: any });
    manager.add(websites());
    await manager.start();
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const get = async (path: string): Promise<Response> => fetch(`${manager.metricsUrl}${path}`);
    expect(await (await get("/metrics")).text()).toContain("workqueue_adds_total");
    const runs = (await (await get("/timeline?key=team/a")).json()) as { key: string; outcome: string }[];
    expect(runs[0]).toMatchObject({ key: "team/a", outcome: "done" });
    expect((await get("/nothing")).status).toBe(404);
    const ready = await fetch(`${manager.healthUrl}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, "[+]controllers ok\nok\n"]);
    const urls = [`${manager.healthUrl}/livez`, `${manager.metricsUrl}/metrics`];
    const stopping = manager.stop();
    await world.clock.advance(1_000);
    await stopping;
    for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  });
});
