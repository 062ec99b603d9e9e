import { Buffer } from "node:buffer";
import { describe, expect, it, vi } from "vitest";
import type { Client, ClientDefaults } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import { systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { ValidatingWebhookConfiguration } from "../../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { CustomResourceDefinition } from "../../kinds/builtin/apiextensions.k8s.io/v1.js";
import { Secret } from "../../kinds/builtin/v1.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { TestEnvironment } from "../../testing/test-environment.js";
import { validating } from "../admission.js";
import { app } from "../app.js";
import { OldOrder, Order, orders, Shop } from "../app.testing.js";
import { shownCertificate } from "../certificates/shown-certificate.testing.js";
import { WebhookServer } from "./webhook-server.js";

const DAY_MS = 86_400_000;
const soon = { timeout: 15_000 };
/** Certificates last 90 days, and are renewed when a third of that is left; TLS checks them against real time. */
const daysAgo = (days: number): VirtualClock => new VirtualClock(systemClock.now() - days * DAY_MS);

const here = { namespace: "default" };

const authoritiesIn = (caBundle: string): number =>
  Buffer.from(caBundle, "base64")
    .toString("utf8")
    .match(/BEGIN CERTIFICATE/g)?.length ?? 0;

const shops = app({ name: "shops", kinds: [Shop], validate: [validating(Shop, { create: () => {} })] });

const create = (env: TestEnvironment, name: string): Promise<unknown> =>
  env.client.create(Shop, { metadata: { name }, spec: { open: true } });

describe("a webhook's certificate", () => {
  it("is replaced without a failed request", async () => {
    await using env = await TestEnvironment.create();
    const clock = daysAgo(61);
    await using server = await WebhookServer.start({ apps: [shops], client: env.client, clock, random: systemRandom });
    const before = await shownCertificate(server.port);
    let isRotated = false;
    let made = 0;
    const requests = (async () => {
      for (let after = 0; after < 5; after += isRotated ? 1 : 0) await create(env, `shop-${made++}`);
    })();
    while (made < 3) await systemClock.sleep(1);
    clock.stepWall(61 * DAY_MS);
    await clock.advance(3_600_000);
    expect(await shownCertificate(server.port)).not.toBe(before);
    isRotated = true;
    await requests;
    expect((await env.client.list(Shop)).items).toHaveLength(made);
  }, 60_000);

  it("that has expired is replaced by the next check, and requests are admitted again", async () => {
    await using env = await TestEnvironment.create();
    const clock = daysAgo(92);
    await using _server = await WebhookServer.start({ apps: [shops], client: env.client, clock, random: systemRandom });
    await expect(create(env, "early")).rejects.toThrow(/certificate has expired/);
    clock.stepWall(92 * DAY_MS);
    await clock.advance(3_600_000);
    await create(env, "late");
  });

  it("of a new CA is shown only after the CA is installed and API servers had time to notice", async () => {
    await using env = await TestEnvironment.create();
    let failures = 0;
    const failing = (inner: Client): Client =>
      new Proxy(inner, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target);
          if (name === "with") return (defaults: ClientDefaults) => failing(target.with(defaults));
          if (typeof member !== "function") return member;
          if (name !== "apply" || failures === 0) return member.bind(target) as unknown;
          failures--;
          return () => Promise.reject(new Error("out of reach"));
        },
      });
    const client = failing(env.client);
    const clock = daysAgo(2_440);
    await using server = await WebhookServer.start({ apps: [shops], client, clock, random: systemRandom });
    const before = await shownCertificate(server.port);
    const authorities = async (): Promise<number> => {
      const { webhooks = [] } = await env.client.get(ValidatingWebhookConfiguration, shops.name);
      return authoritiesIn(String(webhooks[0]?.clientConfig.caBundle));
    };

    failures = 1;
    clock.stepWall(2_440 * DAY_MS);
    await clock.advance(3_600_000);
    await vi.waitFor(() => expect(failures).toBe(0), soon);
    expect([await authorities(), await shownCertificate(server.port)]).toEqual([1, before]);
    await clock.advance(60_000);
    await vi.waitFor(async () => expect(await authorities()).toBe(2), soon);
    expect(await shownCertificate(server.port)).toBe(before);
    await vi.waitFor(async () => {
      await clock.advance(10_000);
      expect(await shownCertificate(server.port)).not.toBe(before);
    }, soon);
    await create(env, "trusted");
  }, 60_000);

  it("of a new CA is trusted for conversion, too", async () => {
    await using env = await TestEnvironment.create();
    const { client } = env;
    const clock = daysAgo(2_440);
    await using server = await WebhookServer.start({ apps: [orders], client, clock, random: systemRandom });
    clock.stepWall(2_439 * DAY_MS);
    await clock.advance(3_600_000);
    await vi.waitFor(async () => {
      await clock.advance(10_000);
      expect(authoritiesIn(server.caBundle)).toBe(2);
      await client.create(Order, { metadata: { ...here, name: "a" }, spec: { item: "tea", count: 2 } });
    });
    expect((await client.get(OldOrder, "a", here)).spec).toEqual({ item: "tea", pieces: 2 });
    const { spec } = await client.get(CustomResourceDefinition, "orders.shop.example.com");
    expect(spec.conversion?.webhook?.clientConfig?.caBundle).toBe(server.caBundle);
  }, 60_000);

  it("of a new CA may be shown by one replica and not yet by the other: calls to both succeed", async () => {
    const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
      controlPlane: (options: object) => Promise<AsyncDisposable & { readonly client: Client }>;
    };
    let port = 0;
    await using plane = await controlPlane({ services: () => ({ url: `https://127.0.0.1:${port}` }) });
    const { client } = plane;
    const service = { namespace: "default", name: "hooks" };
    const start = (clock: Clock) =>
      WebhookServer.start({ apps: [orders], client, service, port: 0, clock, random: systemRandom });
    let made = 0;
    /** Passes a write through one of the replicas, as the Service might route it, over a new connection. */
    const passes = async (server: WebhookServer): Promise<void> => {
      port = server.port;
      const name = `order-${made++}`;
      await client.create(Order, { metadata: { ...here, name }, spec: { item: "tea", count: 2 } });
      expect((await client.get(OldOrder, name, here)).spec.pieces).toBe(2);
    };
    // The CA is 2,435 days old and due for renewal; the serving certificate is five days old and is not.
    await (await start(daysAgo(2_435)))[Symbol.asyncDispose]();
    const [clockOfOne, clockOfTwo] = [daysAgo(5), daysAgo(5)];
    await using one = await start(clockOfOne);
    await using two = await start(clockOfTwo);
    const before = await shownCertificate(one.port);
    clockOfOne.stepWall(5 * DAY_MS);
    await clockOfOne.advance(3_600_000);
    await vi.waitFor(async () => {
      await clockOfOne.advance(10_000);
      expect(await shownCertificate(one.port)).not.toBe(before);
    });
    expect(await shownCertificate(two.port)).toBe(before);
    for (const server of [one, two]) await passes(server);
    clockOfTwo.stepWall(5 * DAY_MS);
    await clockOfTwo.advance(3_600_000);
    await vi.waitFor(async () => {
      await clockOfTwo.advance(10_000);
      expect(await shownCertificate(two.port)).toBe(await shownCertificate(one.port));
    });
    for (const server of [one, two]) await passes(server);
  }, 60_000);

  it("outlives its Secret: calls succeed after the Secret is deleted and another replica starts", async () => {
    const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
      controlPlane: (options: object) => Promise<AsyncDisposable & { readonly client: Client }>;
    };
    let port = 0;
    await using plane = await controlPlane({ services: () => ({ url: `https://127.0.0.1:${port}` }) });
    const { client } = plane;
    const service = { namespace: "default", name: "hooks" };
    const start = () => WebhookServer.start({ apps: [orders], client, service, port: 0 });
    await using one = await start();
    await client.delete(Secret, "hooks-webhook-certificate", here);
    await using two = await start();
    expect(await shownCertificate(two.port)).not.toBe(await shownCertificate(one.port));
    for (const [at, server] of [one, two].entries()) {
      port = server.port;
      await client.create(Order, { metadata: { ...here, name: `order-${at}` }, spec: { item: "tea", count: 2 } });
    }
  });

  it("of a new CA is shown a day later if somebody else installs the webhooks; a log line tells them", async () => {
    await using env = await TestEnvironment.create();
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, warn: (line) => void lines.push(line), with: () => log };
    const clock = daysAgo(2_440);
    await using server = await WebhookServer.start({
      ...{ apps: [shops], client: env.client, clock, random: systemRandom, install: false, log },
    });
    const before = await shownCertificate(server.port);
    clock.stepWall(2_439 * DAY_MS);
    await clock.advance(3_600_000);
    await vi.waitFor(() => expect(lines).toEqual([expect.stringContaining("the webhooks have a new CA")]));
    await clock.advance(3_600_000);
    expect(await shownCertificate(server.port)).toBe(before);
    await clock.advance(DAY_MS);
    await vi.waitFor(async () => expect(await shownCertificate(server.port)).not.toBe(before));
  });
});
