import { X509Certificate } from "node:crypto";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "setpoint";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openCredentials } from "./credentials.js";

const DAY_MS = 86_400_000;

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "setpoint-credentials-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return join(path, "pki");
}

describe("openCredentials", () => {
  const clock = new VirtualClock();
  const options = { hosts: ["127.0.0.1", "localhost"], clock, random: systemRandom };

  it("keeps them in files that nobody else may read", async () => {
    const directory = await folder();
    const first = await openCredentials({ ...options, directory });
    const names = await readdir(directory);
    expect(names.sort()).toEqual([
      "admin.crt",
      "admin.key",
      "ca.crt",
      "ca.key",
      "server.crt",
      "server.key",
      "service-account.key",
    ]);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    for (const name of names) expect((await stat(join(directory, name))).mode & 0o777, name).toBe(0o600);
    const second = await openCredentials({ ...options, directory });
    expect(second.serving).toEqual(first.serving);
    expect(second.admin).toEqual(first.admin);
    expect(second.authority.keyPair).toEqual(first.authority.keyPair);
    expect(second.tokenKey.keyId).toBe(first.tokenKey.keyId);
  });

  it("replaces what is nearly over or not for these hosts, never the authority", async () => {
    const directory = await folder();
    const first = await openCredentials({ ...options, directory });
    const elsewhere = await openCredentials({ ...options, hosts: ["10.1.2.3"], directory });
    expect(elsewhere.serving).not.toEqual(first.serving);
    expect(new X509Certificate(elsewhere.serving.certificate).checkIP("10.1.2.3")).toBeDefined();
    expect(elsewhere.admin).toEqual(first.admin);
    clock.stepWall(300 * DAY_MS);
    const later = await openCredentials({ ...options, directory });
    expect(later.admin).not.toEqual(first.admin);
    expect(later.authority.keyPair).toEqual(first.authority.keyPair);
  });

  it("names the file that it cannot read", async () => {
    const directory = await folder();
    await openCredentials({ ...options, directory });
    await writeFile(join(directory, "ca.key"), "nonsense");
    await expect(openCredentials({ ...options, directory })).rejects.toMatchObject({
      code: "CREDENTIALS_UNREADABLE",
      message: expect.stringContaining(join(directory, "ca")),
    });
  });

  it("keeps nothing without a directory", async () => {
    const { authority, admin } = await openCredentials(options);
    expect(new X509Certificate(admin.certificate).verify(new X509Certificate(authority.certificate).publicKey)).toBe(
      true,
    );
  });
});
