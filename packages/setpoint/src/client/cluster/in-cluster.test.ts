import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { makeCertificate } from "../testing/certificate.js";
import { connectsAsPod, inClusterAccess, isInCluster } from "./in-cluster.js";
import { rotatingTls } from "./tls-source.js";

const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-pod-"));
  await writeFile(join(folder, "token"), "first\n");
  await writeFile(join(folder, "ca.crt"), makeCertificate({ commonName: "one" }).cert);
  await writeFile(join(folder, "namespace"), "team\n");
});

afterEach(() => rm(folder, { recursive: true }));

describe("in a pod", () => {
  it("is detected by the service's address and a token", async () => {
    expect(isInCluster(env, folder)).toBe(true);
    expect(isInCluster({}, folder)).toBe(false);
    expect(isInCluster(env, join(folder, "elsewhere"))).toBe(false);
  });

  it("uses the service account by default, unless another cluster is named", () => {
    expect(connectsAsPod({}, env, folder)).toBe(true);
    expect(connectsAsPod({ kubeconfig: "config" }, env, folder)).toBe(false);
    expect(connectsAsPod({ context: "here" }, env, folder)).toBe(false);
    expect(connectsAsPod({}, {}, folder)).toBe(false);
  });

  it("takes server, namespace and token from the service account", async () => {
    const access = await inClusterAccess(env, new VirtualClock(), folder);
    expect(access).toMatchObject({ server: "https://10.0.0.1:443", namespace: "team" });
    expect(await access.credentials.headers()).toEqual({ authorization: "Bearer first" });
    const six = await inClusterAccess({ ...env, KUBERNETES_SERVICE_HOST: "fd00::1" }, new VirtualClock(), folder);
    expect(six.server).toBe("https://[fd00::1]:443");
  });

  it("uses a rotated token within a minute, or at once after a 401, and a rotated CA for new connections", async () => {
    const clock = new VirtualClock();
    const { credentials, tls } = await inClusterAccess(env, clock, folder);
    const source = rotatingTls(tls, clock);
    const [headers, material] = [await credentials.headers(), await source()];
    await writeFile(join(folder, "token"), "second\n");
    await writeFile(join(folder, "ca.crt"), makeCertificate({ commonName: "two" }).cert);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer first" });
    expect(await source()).toBe(material);
    credentials.rejected?.(headers);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer second" });
    await writeFile(join(folder, "token"), "third\n");
    await clock.advance(60_000);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer third" });
    expect((await source()).ca).not.toBe(material.ca);
  });

  it("tolerates a file that is being replaced", async () => {
    const clock = new VirtualClock();
    const { credentials, tls } = await inClusterAccess(env, clock, folder);
    const source = rotatingTls(tls, clock);
    const material = await source();
    await credentials.headers();
    await writeFile(join(folder, "token"), "");
    await writeFile(join(folder, "ca.crt"), "-----BEGIN CERTIFICATE-----\nhalf");
    await clock.advance(60_000);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer first" });
    expect(await source()).toBe(material);
  });

  it("names the file of a missing token or CA", async () => {
    await rm(join(folder, "token"));
    await rm(join(folder, "ca.crt"));
    const { credentials, tls } = await inClusterAccess(env, new VirtualClock(), folder);
    await expect(credentials.headers()).rejects.toMatchObject({
      code: "CREDENTIALS_FAILED",
      message: expect.stringContaining(join(folder, "token")),
    });
    await expect(rotatingTls(tls, new VirtualClock())()).rejects.toThrow(join(folder, "ca.crt"));
  });
});
