import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { TestEnvironment } from "../testing/test-environment.js";
import { validating } from "./admission.js";
import { app } from "./app.js";
import { Shop } from "./app.testing.js";
import { WebhookServer } from "./webhook-server.js";

const DAY_MS = 86_400_000;
/** Certificates are good for 90 days, and renewed when a third of that is left; TLS checks them against real time. */
const daysAgo = (days: number): VirtualClock => new VirtualClock(systemClock.now() - days * DAY_MS);

const shops = app({ name: "shops", kinds: [Shop], validate: [validating(Shop, { create: () => {} })] });

const create = (env: TestEnvironment, name: string): Promise<unknown> =>
  env.client.create(Shop, { metadata: { name }, spec: { open: true } });

/** The certificate that a caller is shown. */
function shown(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

describe("a webhook's certificate", () => {
  it("is replaced while requests go on, none of which fails", async () => {
    await using env = await TestEnvironment.create();
    const clock = daysAgo(61);
    await using server = await WebhookServer.start({ apps: [shops], client: env.client, clock, random: systemRandom });
    const before = await shown(server.port);
    let isRotated = false;
    let made = 0;
    const requests = (async () => {
      for (let after = 0; after < 5; after += isRotated ? 1 : 0) await create(env, `shop-${made++}`);
    })();
    while (made < 3) await systemClock.sleep(1);
    clock.stepWall(61 * DAY_MS);
    await clock.advance(3_600_000);
    expect(await shown(server.port)).not.toBe(before);
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
});
