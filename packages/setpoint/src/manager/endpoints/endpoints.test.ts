import { getEventListeners } from "node:events";
import { get } from "node:http";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { controller } from "../../controller/controller.js";
import { type RunRecord, Timeline } from "../../controller/timeline/timeline.js";
import { watcher } from "../../controller/watcher.js";
import { Website, World } from "../../controller/world.testing.js";
import { ClusterRole, ClusterRoleBinding } from "../../kinds/builtin/rbac.authorization.k8s.io/v1.js";
import { ConfigMap, ServiceAccount } from "../../kinds/builtin/v1.js";
import { Manager, type ManagerOptions } from "../manager.js";
import { loopbackOnly, reviewedAccess } from "./access-guard.js";
import type { EndpointRequest } from "./endpoint-server.js";
import { timelineEndpoint } from "./timeline-endpoint.js";

const here = { host: "127.0.0.1", port: 0 };
const request = (headers: EndpointRequest["headers"], isLoopback = false): EndpointRequest => ({
  path: "/metrics",
  query: new URLSearchParams(),
  headers,
  isLoopback,
  signal: new AbortController().signal,
});

async function managerIn(world: World, options: Partial<ManagerOptions>): Promise<Manager> {
  const manager = new Manager({ client: world.cluster().client, clock: world.clock, metrics: here, ...options });
  await manager.add(controller(Website, { reconcile: (_site, ctx) => ctx.status({ phase: "Ready" }) }));
  await manager.add(watcher(ConfigMap, {}));
  await manager.start();
  return manager;
}

describe("guards of endpoints", () => {
  it("admit this machine, or callers that the cluster's RBAC allows, and nobody else", async () => {
    await using world = await World.create();
    const { client } = world;
    expect((await loopbackOnly(request({}, true)))?.status).toBe(403);
    expect((await loopbackOnly(request({ host: "localhost" })))?.status).toBe(403);
    for (const host of ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "[::1]"])
      expect(await loopbackOnly(request({ host }, true))).toBeUndefined();
    // A foreign page whose name resolves to this machine (DNS rebinding) is refused.
    for (const host of ["pages.example:8080", "127.0.0.1.pages.example", "localhost.pages.example"])
      expect((await loopbackOnly(request({ host }, true)))?.status).toBe(403);
    const guard = reviewedAccess(client, { clock: world.clock });
    expect((await guard(request({}, true)))?.status).toBe(401);
    expect((await guard(request({ authorization: "Bearer made-up" })))?.status).toBe(401);

    await client.create(ServiceAccount, { metadata: { namespace: "team", name: "scraper" } });
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { status } = await client.createSubresource<{ status: { token: string } }>(ServiceAccount, "scraper", {
      subresource: "token",
      body,
      namespace: "team",
    });
    const known = request({ authorization: `Bearer ${status.token}` });
    expect((await guard(known))?.status).toBe(403);
    const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
    await client.create(ClusterRole, { metadata: { name: "scrape" }, rules });
    await client.create(ClusterRoleBinding, {
      metadata: { name: "scrape" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "scrape" },
      subjects: [{ kind: "ServiceAccount", namespace: "team", name: "scraper" }],
    });
    await world.clock.advance(0);
    expect(await guard(known)).toBeUndefined();
    expect((await guard({ ...known, path: "/timeline" }))?.status).toBe(403);
  });
});

describe("the endpoints of a manager", () => {
  it("stream the timeline: first the existing runs, then each run as it ends", async () => {
    await using world = await World.create();
    await using manager = await managerIn(world, {});
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const gone = new AbortController();
    const answer = await fetch(`${manager.metricsUrl}/timeline?watch=true&controller=websites`, {
      signal: gone.signal,
    });
    const lines = linesOf(answer);
    expect((await lines.next()).value).toMatchObject({ key: "team/a", action: "created", outcome: "done" });
    await world.createWebsite("b");
    await world.clock.advance(1_000);
    expect((await lines.next()).value).toMatchObject({ key: "team/b" });
    gone.abort();
  });

  it("stream the timeline for any time, with one listener for its end", async () => {
    const timeline = new Timeline();
    const gone = new AbortController();
    const query = new URLSearchParams("watch=true");
    const answer = await timelineEndpoint(timeline, () => [])({ ...request({}, true), query });
    const lines = (answer as { lines: (signal: AbortSignal) => AsyncIterable<string> }).lines(gone.signal);
    const reader = lines[Symbol.asyncIterator]();
    for (let id = 1; id <= 20; id++) {
      const next = reader.next();
      timeline.add({ id } as RunRecord);
      expect((await next).value).toBe(`{"id":${id}}`);
    }
    expect(getEventListeners(gone.signal, "abort")).toHaveLength(1);
    const last = reader.next();
    gone.abort();
    expect((await last).done).toBe(true);
  });

  it("answer a malformed path", async () => {
    await using world = await World.create();
    await using manager = await managerIn(world, { health: here });
    const { port } = new URL(manager.healthUrl!);
    const status = await new Promise((resolve, reject) => {
      get({ port, host: here.host, path: "//" }, ({ statusCode }) => resolve(statusCode)).on("error", reject);
    });
    expect(status).toBe(404);
  });

  it("listen on all addresses by default, including IPv6", async () => {
    await using world = await World.create();
    await using manager = await managerIn(world, { health: { host: "", port: 0 } });
    const { port } = new URL(manager.healthUrl!);
    const loopbacks = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, scopeid }) => internal && !scopeid);
    const answers = loopbacks.map(async ({ family, address }) => {
      const host = family === "IPv6" ? `[${address}]` : address;
      return (await fetch(`http://${host}:${port}/readyz`)).status;
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  });

  it("show causes, reads, writes, outcome and times of a run", async () => {
    await using world = await World.create();
    await using manager = new Manager({ client: world.cluster().client, clock: world.clock, metrics: here });
    await manager.add(
      controller(Website, {
        uses: [ConfigMap],
        async reconcile(_site, ctx) {
          await ctx.find(ConfigMap, "settings");
          await ctx.list(ConfigMap, { labelSelector: "app=web" });
          await world.clock.sleep(250);
          ctx.status({ phase: "Ready" });
        },
      }),
    );
    await manager.start();
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const { resourceVersion } = (await world.website("a"))!.metadata;
    expect(await (await fetch(`${manager.metricsUrl}/timeline?key=team/a`)).json()).toMatchObject([
      {
        controller: "websites",
        kind: "web.example.com/v1/Website",
        causes: [{ type: "created", isInInitialList: false }],
        reads: ["object v1/ConfigMap team/settings", expect.stringMatching(/^list v1\/ConfigMap .*app=web/)],
        writes: [{ verb: "status", key: "team/a", paths: ["status.phase"], resourceVersion }],
        outcome: "done",
        durationMs: 250,
        waitedMs: 0,
      },
    ]);
  });

  it("name the endpoint whose address is taken", async () => {
    await using world = await World.create();
    await using first = await managerIn(world, {});
    const taken = { host: "127.0.0.1", port: Number(new URL(first.metricsUrl!).port) };
    await expect(managerIn(world, { health: taken })).rejects.toMatchObject({
      code: "ADDRESS_UNAVAILABLE",
      message: `health: cannot listen on 127.0.0.1:${taken.port}: another process does`,
    });
  });

  it("provide profiles only if they are enabled", async () => {
    await using world = await World.create();
    await using manager = await managerIn(world, { profiling: true });
    const get = (path: string): Promise<Response> => fetch(`${manager.metricsUrl}${path}`);
    await world.clock.settle();
    const timers = world.clock.pendingTimers;
    const profiling = get("/debug/profile?seconds=1");
    await expect.poll(() => world.clock.pendingTimers).toBeGreaterThan(timers);
    expect((await get("/debug/profile")).status).toBe(409);
    await world.clock.advance(1_000);
    const profile = (await (await profiling).json()) as { nodes: unknown[]; startTime: number };
    expect(profile.nodes.length).toBeGreaterThan(0);
    expect((await (await get("/debug/heap")).text()).slice(0, 12)).toBe('{"snapshot":');
    expect((await get("/debug/profile?seconds=0")).status).toBe(400);
    await using plain = await managerIn(world, {});
    expect((await fetch(`${plain.metricsUrl}/debug/heap`)).status).toBe(404);
  }, 60_000);

  it("show in readiness the phase and last error of each unhealthy informer, and no objects", async () => {
    await using world = await World.create();
    world.fault = ({ path }) => (/\/(websites|configmaps)/.test(path) ? new Error("cut off") : undefined);
    await using manager = await managerIn(world, { health: here });
    await world.clock.advance(1_000);
    const ready = await fetch(`${manager.healthUrl}/readyz`);
    expect(ready.status).toBe(503);
    const reasons = await ready.text();
    expect(reasons).toMatch(/informer v1\/ConfigMap: .*not synced; last error: .*cut off/);
    expect(reasons).toMatch(/informer web.example.com\/v1\/Website: .*not synced; last error: .*cut off/);
    expect((await fetch(`${manager.healthUrl}/livez`)).status).toBe(200);
    expect((await fetch(`${manager.healthUrl}/metrics`)).status).toBe(404);
    world.fault = undefined;
    await world.clock.advance(120_000);
    expect((await fetch(`${manager.healthUrl}/readyz`)).status).toBe(200);
  });
});

async function* linesOf(answer: Response): AsyncGenerator<Record<string, unknown>> {
  let text = "";
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString("utf8");
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield JSON.parse(text.slice(0, end)) as Record<string, unknown>;
      text = text.slice(end + 1);
    }
  }
}
