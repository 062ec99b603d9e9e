import { connect } from "node:tls";
import { systemClock, systemRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { ApiServer } from "../../http/api-server.js";
import type { KeyPair } from "./certificate.js";
import { CertificateAuthority } from "./certificate-authority.js";
import { renewCertificate } from "./certificate-renewal.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("renewCertificate", () => {
  it("replaces a certificate when a third of its lifetime is left, also after the wall clock jumped", async () => {
    const clock = new VirtualClock();
    const authority = CertificateAuthority.create({ clock, random: systemRandom });
    const issue = (): KeyPair => authority.issueServer("api", ["localhost"]);
    const renewed: KeyPair[] = [];
    const current = issue();
    const renewal = renewCertificate({ authority, clock, current, issue, onRenewed: (pair) => renewed.push(pair) });
    await clock.advance(2 * HOUR_MS);
    expect(renewed).toHaveLength(0);
    clock.stepWall(250 * DAY_MS);
    await clock.advance(HOUR_MS);
    expect(renewed).toHaveLength(1);
    expect(authority.isDue(current.certificate)).toBe(true);
    expect(authority.isDue(renewed[0]!.certificate)).toBe(false);
    await clock.advance(2 * HOUR_MS);
    expect(renewed).toHaveLength(1);
    renewal[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("is used by the next connection to the server", async () => {
    const authority = CertificateAuthority.create({ clock: systemClock, random: systemRandom });
    const issue = (): KeyPair => authority.issueServer("api", ["127.0.0.1"]);
    const server = await ApiServer.listen({
      handler: async () => ({ status: 200, headers: {}, body: new Uint8Array() }),
      host: "127.0.0.1",
      port: 0,
      ...issue(),
      clientCa: authority.certificate,
      clock: systemClock,
      log: () => {},
    });
    const serial = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: "127.0.0.1", port: server.port, ca: authority.certificate }, () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        }).once("error", reject);
      });
    const before = await serial();
    expect(await serial()).toBe(before);
    const { certificate, privateKey } = issue();
    server.useCertificate(certificate, privateKey);
    expect(await serial()).not.toBe(before);
    await server[Symbol.asyncDispose]();
  });
});
