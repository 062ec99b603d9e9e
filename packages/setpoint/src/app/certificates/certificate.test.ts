import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { connect, createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { seededRandom, systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { Secret } from "../../kinds/builtin/v1.js";
import { TestEnvironment } from "../../testing/test-environment.js";
import { CertificateSecret } from "./certificate-secret.js";
import { ServingCertificate } from "./serving-certificate.js";

const DAY_MS = 86_400_000;
const bundleOf = (serving: ServingCertificate) => Buffer.from(serving.caBundle, "base64").toString("utf8");

describe("the serving certificate", () => {
  it("is accepted by TLS clients that trust its CA, under each of its names", async () => {
    const hosts = ["hooks.shop.svc", "127.0.0.1", "::1"];
    using serving = await ServingCertificate.open({
      hosts,
      clock: systemClock,
      random: systemRandom,
      onRenewed: () => {},
    });
    const { certificate, privateKey } = serving.current;
    const server = createServer({ cert: certificate, key: privateKey }, (socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    for (const servername of ["hooks.shop.svc", undefined]) {
      const socket = connect({ host: "127.0.0.1", port, ca: bundleOf(serving), ...(servername && { servername }) });
      await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
      expect(socket.authorized).toBe(true);
      socket.destroy();
    }
    server.close();
    expect(new X509Certificate(certificate).checkIP("::1")).toBe("::1");
  });

  it("is renewed with a third of its lifetime left, and so is its CA; the previous CA stays trusted", async () => {
    const clock = new VirtualClock();
    const renewals: boolean[] = [];
    using serving = await ServingCertificate.open({
      hosts: ["localhost"],
      clock,
      random: seededRandom(1),
      onRenewed: (isNewAuthority) => renewals.push(isNewAuthority),
    });
    const [first, bundle] = [serving.current, bundleOf(serving)];
    clock.stepWall(59 * DAY_MS);
    await clock.advance(3_600_000);
    expect(renewals).toEqual([]);
    clock.stepWall(2 * DAY_MS);
    await clock.advance(3_600_000);
    expect(renewals).toEqual([false]);
    expect(serving.current).not.toBe(first);
    expect(bundleOf(serving)).toBe(bundle);
    clock.stepWall(2500 * DAY_MS);
    await clock.advance(3_600_000);
    expect(renewals).toEqual([false, true]);
    expect(bundleOf(serving).match(/BEGIN/g)).toHaveLength(2);
    expect(bundleOf(serving).endsWith(bundle)).toBe(true);
  });

  it("is shared by all processes that use the same Secret, whichever renews it", async () => {
    await using env = await TestEnvironment.create({ namespaces: ["shop"] });
    const { clock } = env;
    const store = new CertificateSecret(env.client, "shop", "hooks");
    const open = (seed: number) =>
      ServingCertificate.open({
        hosts: ["hooks.shop.svc"],
        clock,
        random: seededRandom(seed),
        store,
        onRenewed: () => {},
      });
    const both = await Promise.all([open(1), open(2)]);
    using _one = both[0];
    using _two = both[1];
    const shown = () => new Set(both.map(({ current }) => current.certificate));
    const [first] = shown();
    expect(shown().size).toBe(1);
    clock.stepWall(61 * DAY_MS);
    await env.advance("2h");
    expect(shown().size).toBe(1);
    expect(shown()).not.toContain(first);
    expect((await env.client.get(Secret, "hooks", { namespace: "shop" })).type).toBe("kubernetes.io/tls");
  });

  describe("in a Secret", () => {
    const where = { namespace: "shop" };
    const open = (env: TestEnvironment, trusted?: () => Promise<string>) =>
      ServingCertificate.open({
        hosts: ["hooks.shop.svc"],
        clock: env.clock,
        random: systemRandom,
        store: new CertificateSecret(env.client, "shop", "hooks"),
        onRenewed: () => {},
        ...(trusted ? { trusted } : {}),
      });

    it("is written back by running processes after the Secret is deleted", async () => {
      await using env = await TestEnvironment.create({ namespaces: ["shop"] });
      using first = await open(env);
      using second = await open(env);
      const { certificate } = first.current;
      await env.client.delete(Secret, "hooks", where);
      await env.advance("2h");
      expect([first.current.certificate, second.current.certificate]).toEqual([certificate, certificate]);
      expect(await env.client.find(Secret, "hooks", where)).toBeDefined();
    });

    it("is issued anew by a starting process after the Secret is deleted, and the bundle keeps the trusted CAs", async () => {
      await using env = await TestEnvironment.create({ namespaces: ["shop"] });
      using first = await open(env);
      const before = bundleOf(first);
      await env.client.delete(Secret, "hooks", where);
      const expired = "-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----";
      using second = await open(env, async () => `${before}${expired}\n${before}`);
      expect(bundleOf(second).match(/BEGIN/g)).toHaveLength(2);
      expect(bundleOf(second).endsWith(before)).toBe(true);
      await env.advance("2h");
      expect(first.current.certificate).toBe(second.current.certificate);
      expect(bundleOf(first)).toBe(bundleOf(second));
    });

    it("of a new CA is stored with its predecessor, which processes show until the new CA is trusted", async () => {
      await using env = await TestEnvironment.create({ namespaces: ["shop"] });
      const first = await open(env);
      first[Symbol.dispose]();
      env.clock.stepWall(2_430 * DAY_MS);
      using renewing = await open(env);
      env.clock.stepWall(5 * DAY_MS);
      using starting = await open(env);
      const before = renewing.current.certificate;
      expect(starting.current.certificate).not.toBe(before);
      using next = await open(env);
      expect([starting, next].map((each) => each.shownAtStart(10_000).certificate)).toEqual([before, before]);
      await env.advance("10s");
      using last = await open(env);
      expect(last.shownAtStart(10_000).certificate).toBe(starting.current.certificate);
      expect(last.shownAtStart(DAY_MS).certificate).toBe(before);
    });

    it("is read correctly although its trailing line break is missing", async () => {
      await using env = await TestEnvironment.create({ namespaces: ["shop"] });
      using first = await open(env);
      const { data = {} } = await env.client.get(Secret, "hooks", where);
      const trimmed = Buffer.from(Buffer.from(data["ca.crt"]!, "base64").toString().trimEnd()).toString("base64");
      await env.client.patch(Secret, "hooks", { type: "merge", body: { data: { "ca.crt": trimmed } } }, where);
      using second = await open(env);
      expect(second.caBundle).toBe(first.caBundle);
    });

    it.each([
      ["somebody else's, without the authority's key", { "ca.key": null }, "ca.key is missing"],
      ["damaged", { "tls.crt": Buffer.from("-----BEGIN").toString("base64") }, ""],
    ])("is left alone if it is %s, and the error names it", async (_, data, why) => {
      await using env = await TestEnvironment.create({ namespaces: ["shop"] });
      using _first = await open(env);
      const changed = await env.client.patch(Secret, "hooks", { type: "merge", body: { data } }, where);
      await expect(open(env)).rejects.toMatchObject({
        code: "WEBHOOK_CERTIFICATE_INVALID",
        message: expect.stringContaining(`Secret shop/hooks has no webhook certificate: ${why}`),
      });
      await env.advance("2h");
      expect((await env.client.get(Secret, "hooks", where)).data).toEqual(changed.data);
    });
  });
});
