import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { validating } from "../app/admission.js";
import { app } from "../app/app.js";
import { OldOrder, Order, orders, Shop } from "../app/app.testing.js";
import { manifestOf } from "../app/manifest.js";
import type { AppProvider } from "../app/provider.js";
import { createClient } from "../client/api-client.js";
import type { Client } from "../client/client.js";
import type { Transport } from "../client/transport/transport.js";
import { systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { controller } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { ValidatingWebhookConfiguration } from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { Lease } from "../kinds/builtin/coordination.k8s.io/v1.js";
import { ConfigMap, Secret } from "../kinds/builtin/v1.js";
import type { Logger } from "../loop/logger.js";
import { TestEnvironment } from "../testing/test-environment.js";
import { Manager, type ManagerOptions } from "./manager.js";
import { run } from "./run.js";

/** TLS is checked against real time, whatever the control plane's clock says. */
const real = { clock: systemClock, random: systemRandom };
const here = { namespace: "default" };

function managerOf(env: TestEnvironment, options: Partial<ManagerOptions> = {}): Manager {
  return new Manager({ client: env.client, clock: env.clock, webhooks: real, ...options });
}

describe("an app in a manager", () => {
  it("installs its kinds, serves its webhooks and routes, and runs its loops, checks and metrics", async () => {
    await using env = await TestEnvironment.create();
    const seen: string[] = [];
    const shop = app({
      ...{ name: "shop", kinds: orders.kinds, validate: orders.validators, mutate: orders.mutators },
      routes: orders.routes,
      loops: [
        controller(Order, { reconcile: ({ metadata }) => void seen.push(`reconcile ${metadata.name}`) }),
        watcher(Order, { add: ({ metadata }) => seen.push(`add ${metadata.name}`) }),
      ],
      runnables: [{ name: "feed", run: async () => void seen.push("feed") }],
      checks: [{ name: "stock", check: () => "empty shelves" }],
      metrics: [
        { name: "shop_open", type: "gauge", help: "Open.", collect: () => [{ labels: { door: "front" }, value: 1 }] },
      ],
    });
    await using manager = managerOf(env, { health: { host: "127.0.0.1", port: 0 } });
    await manager.add(shop);
    await manager.start();
    await env.client.create(Order, { metadata: { ...here, name: "a" }, spec: { item: "tea", count: 2 } });
    const refused = env.client.create(Order, { metadata: { ...here, name: "b" }, spec: { item: "tea", count: 11 } });
    await expect(refused).rejects.toMatchObject({ status: 409 });
    expect((await env.client.get(OldOrder, "a", here)).spec).toEqual({ item: "tea", pieces: 2 });
    await env.advance("1s");
    expect(seen.toSorted()).toEqual(["add a", "feed", "reconcile a"]);
    expect(manager.webhookPort).toBeGreaterThan(0);
    expect(manager.metrics.exposition()).toContain('shop_open{door="front"} 1');
    expect(manager.metrics.exposition()).toMatch(
      /controller_runtime_webhook_requests_total\{webhook="\/shop\/validate",code="200"\} [2-9]/,
    );
    expect(manager.metrics.exposition()).toContain(
      'controller_runtime_webhook_latency_seconds_count{webhook="/shop/mutate"}',
    );
    expect(manager.metrics.exposition()).toContain(
      'controller_runtime_webhook_requests_in_flight{webhook="/shop/validate"} 0',
    );
    const ready = await fetch(`${manager.healthUrl}/readyz`);
    expect(await ready.text()).toContain("[-]stock failed: empty shelves");
    await manager.remove(shop);
    expect((await env.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    expect(manager.metrics.exposition()).not.toContain("shop_open{");
  }, 60_000);

  it("is served and started also when it is added to a running manager, beside others", async () => {
    await using env = await TestEnvironment.create();
    const seen: string[] = [];
    await using manager = managerOf(env);
    await manager.start();
    expect(manager.webhookPort).toBeUndefined();
    await manager.add(orders);
    const shops = app({
      name: "shops",
      kinds: [Shop],
      loops: [controller(Shop, { reconcile: ({ metadata }) => void seen.push(metadata.name) })],
    });
    await manager.add(shops);
    await expect(manager.add(shops)).rejects.toThrow("already");
    expect((await env.client.list(CustomResourceDefinition)).items.map(({ metadata }) => metadata.name)).toEqual([
      "orders.shop.example.com",
      "shops.shop.example.com",
    ]);
    const many = env.client.create(Order, { metadata: { ...here, name: "b" }, spec: { item: "tea", count: 11 } });
    await expect(many).rejects.toMatchObject({ status: 409 });
    await env.client.create(Shop, { metadata: { name: "corner" }, spec: { open: true } });
    await env.advance("1s");
    expect(seen).toEqual(["corner"]);
  });

  it("is served when add() resolves, also while the manager is starting", async () => {
    await using env = await TestEnvironment.create();
    await using manager = managerOf(env, { health: { host: "127.0.0.1", port: 0 } });
    const started = manager.start();
    await manager.add(orders);
    expect(manager.webhookPort).toBeGreaterThan(0);
    const many = env.client.create(Order, { metadata: { ...here, name: "b" }, spec: { item: "tea", count: 11 } });
    await expect(many).rejects.toMatchObject({ status: 409 });
    await started;
  });

  it("answers webhooks until the last run has ended, because runs may depend on them", async () => {
    await using env = await TestEnvironment.create();
    const seen: string[] = [];
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const shops = app({
      name: "shops",
      kinds: [Order, Shop],
      validate: [validating(Shop, { create: ({ metadata }) => void seen.push(`admitted ${metadata.name}`) })],
      loops: [
        controller(Order, {
          async reconcile({ metadata: { name } }) {
            seen.push(`begun ${name}`);
            await released;
            await env.client.create(Shop, { metadata: { name }, spec: { open: true } });
          },
        }),
      ],
    });
    await using manager = managerOf(env);
    await manager.add(shops);
    await manager.start();
    await env.client.create(Order, { metadata: { ...here, name: "a" }, spec: { item: "tea", count: 1 } });
    await env.idle();
    const stopping = manager.stop();
    await env.idle();
    release();
    await stopping;
    expect(seen).toEqual(["begun a", "admitted a"]);
    expect((await env.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  });

  it("is served by the same server as apps that are added at the same time", async () => {
    await using env = await TestEnvironment.create();
    const shops = app({ name: "shops", kinds: [Shop], validate: [validating(Shop, { create: () => {} })] });
    await using manager = managerOf(env);
    await manager.start();
    await Promise.all([manager.add(orders), manager.add(shops)]);
    const urls = (await env.client.list(ValidatingWebhookConfiguration)).items.map(
      ({ webhooks }) => new URL(webhooks?.[0]?.clientConfig.url ?? "").port,
    );
    expect(urls).toEqual([String(manager.webhookPort), String(manager.webhookPort)]);
    await manager.stop();
    expect((await env.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  });

  it("leaves nothing behind if the manager is stopped while it is added, and is refused after that", async () => {
    await using env = await TestEnvironment.create();
    const seen: string[] = [];
    const shops = app({
      name: "shops",
      kinds: [Shop],
      validate: [validating(Shop, { create: () => {} })],
      loops: [controller(Shop, { reconcile: ({ metadata }) => void seen.push(metadata.name) })],
    });
    await using manager = managerOf(env);
    await manager.start();
    const adding = manager.add(shops).catch((error: unknown) => error);
    await manager.stop();
    expect(await adding).toBeInstanceOf(Error);
    expect((await env.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    await expect(manager.add(app({ name: "late", kinds: [Shop] }))).rejects.toThrow(
      "app late was added to a manager that is stopping",
    );
    await env.advance("1s");
    expect(seen).toEqual([]);
  });

  it("that is removed answers webhooks until its last run has ended, and can be added again", async () => {
    await using env = await TestEnvironment.create();
    const seen: string[] = [];
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const shops = app({
      name: "shops",
      kinds: [Order, Shop],
      validate: [validating(Shop, { create: ({ metadata }) => void seen.push(`admitted ${metadata.name}`) })],
      loops: [
        controller(Order, {
          async reconcile({ metadata: { name } }) {
            await released;
            await env.client.create(Shop, { metadata: { name }, spec: { open: true } });
          },
        }),
      ],
    });
    await using manager = managerOf(env);
    await manager.add(shops);
    await manager.start();
    await env.client.create(Order, { metadata: { ...here, name: "a" }, spec: { item: "tea", count: 1 } });
    await env.idle();
    const removing = manager.remove(shops);
    await env.idle();
    release();
    await removing;
    expect(seen).toEqual(["admitted a"]);
    await env.client.create(Shop, { metadata: { name: "b" }, spec: { open: true } });
    await manager.add(shops);
    await env.client.create(Shop, { metadata: { name: "c" }, spec: { open: true } });
    expect(seen).toEqual(["admitted a", "admitted c"]);
  });

  it("can be removed without having been added, like any other part [case 12]", async () => {
    await using env = await TestEnvironment.create({ kinds: [Order, Shop] });
    const seen: string[] = [];
    await using manager = managerOf(env);
    await manager.add(watcher(Order, { add: ({ metadata }) => seen.push(metadata.name) }));
    await manager.start();
    const strangers = [orders, controller(Shop, { reconcile: () => undefined }), watcher(Shop, { add: () => {} })];
    for (const part of strangers) await manager.remove(part);
    await manager.removeRunnable("nobody");
    await env.client.create(Order, { metadata: { ...here, name: "a" }, spec: { item: "tea", count: 1 } });
    await env.advance("1s");
    expect([seen, manager.trouble()]).toEqual([["a"], []]);
  });

  it("removes its finalizer from the objects of a kind that it has given up", async () => {
    await using env = await TestEnvironment.create({ kinds: [Shop] });
    const finalizers = ["example.com/old", "example.com/another"];
    await env.client.create(Shop, { metadata: { name: "corner", finalizers }, spec: { open: true } });
    await using manager = managerOf(env);
    await manager.add(app({ name: "shops", kinds: [Shop], givenUp: [{ kind: Shop, finalizer: "example.com/old" }] }));
    await manager.start();
    await env.idle();
    expect((await env.client.get(Shop, "corner")).metadata.finalizers).toEqual(["example.com/another"]);
  });

  it("is not installed if somebody else installs it", async () => {
    await using env = await TestEnvironment.create();
    await using manager = managerOf(env, { webhooks: { ...real, install: false } });
    await manager.add(orders);
    await manager.start();
    expect(manager.webhookPort).toBeGreaterThan(0);
    expect((await env.client.list(CustomResourceDefinition)).items).toEqual([]);
    expect((await env.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  });
});

describe("runnables of a manager", () => {
  const fails = { name: "feed", run: () => Promise.reject(new Error("no feed")) };

  it("the manager ends with the failure of one, and run rejects with it [case 36]", async () => {
    await using env = await TestEnvironment.create();
    const shop = app({ name: "shop", kinds: [], runnables: [fails] });
    await expect(run(shop, { client: env.client, clock: env.clock, env: {}, log: silent })).rejects.toThrow("no feed");
  });

  it("the others go on after a forgiven failure [case 36]", async () => {
    await using env = await TestEnvironment.create();
    const failed: string[] = [];
    await using manager = managerOf(env, { onError: (error, name) => failed.push(`${name}: ${error}`) === 0 });
    manager.addRunnable(fails);
    await manager.start();
    await env.idle();
    expect(failed).toEqual(["feed: Error: no feed"]);
    expect(manager.ended.aborted).toBe(false);
  });

  it("one that is added while running starts, and one that is removed is stopped alone [case 37]", async () => {
    await using env = await TestEnvironment.create();
    await using manager = managerOf(env);
    await manager.start();
    const lives = new Map<string, boolean>();
    const living = (name: string) => ({
      name,
      run: (signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          lives.set(name, true);
          signal.addEventListener("abort", () => {
            lives.set(name, false);
            resolve();
          });
        }),
    });
    manager.addRunnable(living("a"));
    manager.addRunnable(living("b"));
    await env.idle();
    await manager.removeRunnable("a");
    expect(Object.fromEntries(lives)).toEqual({ a: false, b: true });
  });
});

it("runnables of a manager end with its lease", async () => {
  await using env = await TestEnvironment.create({ manager: { leaderElection: here } });
  const log: string[] = [];
  const process = await env.start([]);
  process.manager.addRunnable({
    name: "feed",
    run: (signal) =>
      new Promise((resolve) => {
        log.push("started");
        signal.addEventListener("abort", () => resolve(void log.push("ended")), { once: true });
      }),
  });
  await env.idle();
  const cut = process.cut();
  await env.advance("16s");
  expect([process.manager.isLeading, log]).toEqual([false, ["started", "ended"]]);
  cut[Symbol.dispose]();
});

describe("run", () => {
  it("creates apps from their providers, with configuration and manifest", async () => {
    await using env = await TestEnvironment.create();
    const stop = new AbortController();
    const provider: AppProvider<{ readonly region: string }> = {
      name: "orders",
      manifest: JSON.stringify(manifestOf(orders)),
      create: (config) => {
        given = config;
        stop.abort();
        return orders;
      },
    };
    let given: unknown;
    const folder = mkdtempSync(join(tmpdir(), "setpoint-apps-"));
    const config = join(folder, "operator.yaml");
    writeFileSync(config, "apps: { orders: { region: eu } }\n");
    const options = { client: env.client, clock: env.clock, env: {}, log: silent, signal: stop.signal };
    await run([provider], { ...options, config, webhooks: real });
    rmSync(folder, { recursive: true });
    expect(given).toEqual({ region: "eu" });
    const another = { ...provider, create: () => app({ name: "orders", kinds: [Shop] }) };
    await expect(run(another, options)).rejects.toMatchObject({ code: "MANIFEST_MISMATCH" });
  });

  it("prefers the leader election options in code to configured ones", async () => {
    await using env = await TestEnvironment.create({ kinds: [Shop], namespaces: ["ours"] });
    const stop = new AbortController();
    const variables = {
      SETPOINT_LEADER_ELECTION_NAME: "configured",
      SETPOINT_LEADER_ELECTION_NAMESPACE: "theirs",
    };
    const running = run(controller(Shop, { reconcile: () => undefined }), {
      ...{ client: env.client, clock: env.clock, env: variables, log: silent, signal: stop.signal },
      leaderElection: { namespace: "ours" },
    });
    await env.advance("5s");
    expect(await env.client.find(Lease, "configured", { namespace: "ours" })).toBeDefined();
    stop.abort();
    await env.advance("5s");
    await running;
  });

  it("refuses a configuration without a provider", async () => {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-apps-"));
    const config = join(folder, "operator.yaml");
    writeFileSync(config, "apps: { ordres: {} }\n");
    const provider = { name: "orders", create: () => orders };
    await expect(run(provider, { config, env: {}, log: silent })).rejects.toMatchObject({
      code: "CONFIGURATION_INVALID",
      message: "apps.ordres: no provider has that name; there are orders",
    });
    rmSync(folder, { recursive: true });
  });

  it("refuses invalid parts before it connects", async () => {
    const refused = (runs: unknown) => expect(run(runs as never, { env: {}, log: silent })).rejects;
    await refused([]).toMatchObject({
      code: "CONTROLLER_INVALID",
      message: expect.stringContaining("the list is empty"),
    });
    await refused(undefined).toThrow("undefined is not a controller(…), watcher(…) or app(…); a circular import");
    await refused([() => {}]).toThrow("is not a controller(…)");
  });
});

it("stops answering after a crash of its process, and another process takes over", async () => {
  const sites = controller(Shop, {
    owns: [ConfigMap],
    async reconcile(_, ctx) {
      await ctx.apply(ConfigMap, { metadata: { namespace: "default", name: "made" } });
    },
  });
  const shop = app({
    name: "shop",
    kinds: [Shop],
    loops: [sites],
    validate: [validating(Shop, { create() {} })],
  });
  await using env = await TestEnvironment.create({ loops: [shop], manager: { webhooks: real } });
  const first = env.operator;
  first.crashAfterWrite(1);
  const create = (name: string) => env.client.create(Shop, { metadata: { name }, spec: { open: true } });
  await create("a");
  await env.idle();
  expect(first.hasCrashed).toBe(true);
  await expect(create("b")).rejects.toThrow("connection refused");
  await env.start();
  await create("c");
});

it("gives advice to an account that may not install webhooks", async () => {
  await using env = await TestEnvironment.create();
  const lines: string[] = [];
  const log: Logger = { ...silent, error: (line: string) => void lines.push(line), with: () => log };
  await using manager = managerOf(env, { client: weakClient(env), log });
  await manager.add(app({ name: "shop", kinds: [Shop], validate: [validating(Shop, { create: () => undefined })] }));
  await expect(manager.start()).rejects.toMatchObject({ code: "API_FORBIDDEN" });
  expect(lines).toEqual([expect.stringContaining("grant what `setpoint rbac` prints")]);
});

it("masks values of Secrets in the errors of its handlers", async () => {
  await using env = await TestEnvironment.create({ kinds: [Order] });
  await env.client.create(Secret, { metadata: { ...here, name: "db" }, stringData: { password: "correct-horse" } });
  const reading = controller(Order, {
    uses: [Secret],
    async reconcile(_, ctx) {
      await ctx.find(Secret, "db");
    },
  });
  const moody = validating(Order, {
    update() {
      throw new Error("cannot log in with correct-horse");
    },
  });
  await using manager = managerOf(env);
  await manager.add(app({ name: "shop", kinds: [Order], loops: [reading], validate: [moody] }));
  await manager.start();
  await env.client.create(Order, { metadata: { ...here, name: "a" }, spec: { item: "tea", count: 1 } });
  await env.advance("1s");
  const body = { spec: { count: 2 } };
  const refused = env.client.patch(Order, "a", { type: "merge", body }, here);
  await expect(refused).rejects.toThrow("cannot log in with ***");
});

describe("preflight", () => {
  it("names the kinds that are not served and the verbs that are not allowed, one per line, and runs the rest", async () => {
    await using env = await TestEnvironment.create({ kinds: [Shop] });
    const warned: [line: string, fields: unknown][] = [];
    const log: Logger = { ...silent, warn: (...line) => void warned.push(line as never), with: () => log };
    await using manager = managerOf(env, { client: weakClient(env), log });
    await manager.add(controller(Order, { owns: [Shop], reconcile: () => undefined }));
    await manager.start();
    await env.advance("1s");
    const may = (verbs: string, resource: string) => ({
      apiGroups: [resource.includes("events") ? "" : "shop.example.com"],
      resources: [resource],
      verbs: verbs.split(", "),
    });
    expect(warned.filter(([line]) => line.startsWith("preflight"))).toEqual([
      [
        "preflight: the server does not serve orders of shop.example.com/v1: install its CustomResourceDefinition",
        { type: "kind", kind: "shop.example.com/v1/Order" },
      ],
      [
        "preflight: this account may not get, list, watch orders.shop.example.com, nor update orders.shop.example.com/finalizers",
        { type: "permission", rules: [may("get, list, watch", "orders"), may("update", "orders/finalizers")] },
      ],
      [
        "preflight: this account may not get, list, watch, create, patch, delete shops.shop.example.com",
        { type: "permission", rules: [may("get, list, watch, create, patch, delete", "shops")] },
      ],
      [
        "preflight: this account may not create, patch events",
        { type: "permission", rules: [may("create, patch", "events")] },
      ],
    ]);
    expect(manager.trouble().join()).toContain("shop.example.com/v1/Order");
  });
});

/** A client of a user without any permission. */
function weakClient(env: TestEnvironment): Client {
  const transport: Transport = {
    request: (request) =>
      env.client.raw({ ...request, headers: { ...request.headers, "impersonate-user": "weak" }, retry: false }),
    [Symbol.asyncDispose]: async () => {},
  };
  return createClient({ transport, server: "in-process", clock: env.clock });
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
