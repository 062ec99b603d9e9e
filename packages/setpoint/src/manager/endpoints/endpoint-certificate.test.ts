import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { issueCertificate, type KeyPair } from "../../app/certificates/certificate.js";
import { seededRandom } from "../../clock/random.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { World } from "../../controller/world.testing.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { Manager, type ManagerOptions } from "../manager.js";
import { endpointCertificate } from "./endpoint-certificate.js";
import { secureRequest } from "./secure-request.testing.js";

const metrics = { host: "127.0.0.1", port: 0 };

const validity = { notBeforeMs: Date.UTC(2026, 0), notAfterMs: Date.UTC(2036, 0), random: seededRandom(1) };
const authority = issueCertificate({ commonName: "authority", hosts: [], ...validity });

function certificateFor(host: string): KeyPair {
  return issueCertificate({ commonName: host, hosts: [host], ...validity }, authority);
}

/** A folder like that of a mounted Secret, deleted after the test. */
function folderOf(pair: KeyPair): string {
  const folder = mkdtempSync(join(tmpdir(), "certificate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  put(folder, pair);
  return folder;
}

function put(folder: string, { certificate, privateKey }: KeyPair): void {
  writeFileSync(join(folder, "tls.crt"), certificate);
  writeFileSync(join(folder, "tls.key"), privateKey);
}

describe("metrics by HTTPS", () => {
  it.each<[string, Partial<ManagerOptions>, string]>([
    ["by default with rbac, since tokens come there", { metricsAccess: "rbac" }, "https:"],
    ["not on a laptop", {}, "http:"],
    ["not where something before it ends TLS", { metricsAccess: "rbac", metricsSecure: false }, "http:"],
    ["where it is asked for", { metricsSecure: true }, "https:"],
  ])("are served %s", async (_when, options, protocol) => {
    await using world = await World.create();
    await using manager = new Manager({ client: world.cluster().client, clock: world.clock, metrics, ...options });
    await manager.start();
    expect(new URL(manager.metricsUrl!).protocol).toBe(protocol);
  });

  it("have a self-signed certificate if none is given", async () => {
    await using world = await World.create();
    const { client } = world.cluster();
    await using manager = new Manager({ client, clock: world.clock, metrics, metricsSecure: true });
    await manager.start();
    expect(await secureRequest(`${manager.metricsUrl}/metrics`)).toEqual({
      status: 200,
      hosts: expect.stringContaining("DNS:localhost"),
    });
  });

  it("have the certificate of a folder, and its successor within a minute; a broken one is not used", async () => {
    await using world = await World.create();
    const { client } = world.cluster();
    const folder = folderOf(certificateFor("first.example.com"));
    const errors: unknown[] = [];
    const log: Logger = { ...silentLogger, error: (_line, fields) => void errors.push(fields?.error), with: () => log };
    const options = { metrics, metricsSecure: true, metricsCertificates: folder, log };
    await using manager = new Manager({ client, clock: world.clock, ...options });
    await manager.start();
    const hosts = async (): Promise<string | undefined> => (await secureRequest(`${manager.metricsUrl}/metrics`)).hosts;
    expect(await hosts()).toBe("DNS:first.example.com");
    // Half replaced: the key belongs to another certificate.
    put(folder, {
      ...certificateFor("second.example.com"),
      privateKey: certificateFor("third.example.com").privateKey,
    });
    await world.clock.advance(60_000);
    await expect.poll(() => errors).toMatchObject([{ code: "METRICS_CERTIFICATE_INVALID" }]);
    expect(await hosts()).toBe("DNS:first.example.com");
    put(folder, certificateFor("third.example.com"));
    // Files are read in real time: the next check is scheduled when the previous one has ended.
    await expect
      .poll(async () => {
        await world.clock.advance(60_000);
        return hosts();
      })
      .toBe("DNS:third.example.com");
  });

  it("do not start with a folder without a certificate, which the error names", async () => {
    const options = { clock: new VirtualClock(), random: seededRandom(1), onRenewed: () => {}, onError: () => {} };
    await expect(endpointCertificate("/nowhere", options)).rejects.toMatchObject({
      code: "METRICS_CERTIFICATE_INVALID",
      message: expect.stringContaining("the folder /nowhere has no certificate for metrics: ENOENT"),
    });
  });
});
