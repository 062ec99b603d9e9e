import { X509Certificate } from "node:crypto";
import { connect, createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { seededRandom, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { ServingCertificate } from "./serving-certificate.js";

const DAY_MS = 86_400_000;
const bundleOf = (serving: ServingCertificate) => Buffer.from(serving.caBundle, "base64").toString("utf8");

describe("the serving certificate", () => {
  it("is taken by TLS clients that trust its authority, under each of its names", async () => {
    const hosts = ["hooks.shop.svc", "127.0.0.1", "::1"];
    using serving = new ServingCertificate({ hosts, clock: systemClock, random: systemRandom, onRenewed: () => {} });
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

  it("is renewed with a third of its time left, the authority with it; the one before stays trusted", async () => {
    const clock = new VirtualClock();
    const renewals: boolean[] = [];
    using serving = new ServingCertificate({
      hosts: ["localhost"],
      clock,
      random: seededRandom(1),
      onRenewed: (isNewAuthority) => renewals.push(isNewAuthority),
    });
    const [first, bundle] = [serving.current, bundleOf(serving)];
    await clock.advance(59 * DAY_MS);
    expect(renewals).toEqual([]);
    await clock.advance(2 * DAY_MS);
    expect(renewals).toEqual([false]);
    expect(serving.current).not.toBe(first);
    expect(bundleOf(serving)).toBe(bundle);
    clock.stepWall(2500 * DAY_MS);
    await clock.advance(3_600_000);
    expect(renewals).toEqual([false, true]);
    expect(bundleOf(serving).match(/BEGIN/g)).toHaveLength(2);
    expect(bundleOf(serving).endsWith(bundle)).toBe(true);
  });
});
