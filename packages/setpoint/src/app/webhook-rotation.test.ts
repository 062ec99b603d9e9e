import { Buffer } from "node:buffer";
import { describe, expect, it, vi } from "vitest";
import { systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { ValidatingWebhookConfiguration } from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { TestEnvironment } from "../testing/test-environment.js";
import { validating } from "./admission.js";
import { app } from "./app.js";
import { Shop } from "./app.testing.js";
import { shownCertificate } from "./shown-certificate.testing.js";
import { WebhookServer } from "./webhook-server.js";

const DAY_MS = 86_400_000;
const soon = { timeout: 15_000 };
/** Certificates are good for 90 days, and renewed when a third of that is left; TLS checks them against real time. */
const daysAgo = (days: number): VirtualClock => new VirtualClock(systemClock.now() - days * DAY_MS);

const shops = app({ name: "shops", kinds: [Shop], validate: [validating(Shop, { create: () => {} })] });

const create = (env: TestEnvironment, name: string): Promise<unknown> =>
  env.client.create(Shop, { metadata: { name }, spec: { open: true } });

describe("a webhook's certificate", () => {
  it("is replaced while requests go on, none of which fails", async () => {
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

  it("that has expired is replaced at the next look, and requests are admitted again", async () => {
    await using env = await TestEnvironment.create();
    const clock = daysAgo(92);
    await using _server = await WebhookServer.start({ apps: [shops], client: env.client, clock, random: systemRandom });
    await expect(create(env, "early")).rejects.toThrow(/certificate has expired/);
    clock.stepWall(92 * DAY_MS);
    await clock.advance(3_600_000);
    await create(env, "late");
  });

  it("of a new authority is shown once that could be installed, and API servers had time to hear of it", async () => {
    await using env = await TestEnvironment.create();
    let failures = 0;
    const client = new Proxy(env.client, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        if (name !== "apply" || failures === 0) return member.bind(target) as unknown;
        failures--;
        return () => Promise.reject(new Error("out of reach"));
      },
    });
    const clock = daysAgo(2_440);
    await using server = await WebhookServer.start({ apps: [shops], client, clock, random: systemRandom });
    const before = await shownCertificate(server.port);
    const authorities = async (): Promise<number> => {
      const { webhooks = [] } = await env.client.get(ValidatingWebhookConfiguration, shops.name);
      const bundle = Buffer.from(String(webhooks[0]?.clientConfig.caBundle), "base64").toString("utf8");
      return bundle.match(/BEGIN CERTIFICATE/g)?.length ?? 0;
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
});
