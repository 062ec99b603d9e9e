import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";
import fc from "fast-check";
import { systemClock, systemRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { pem } from "./certificate.js";
import { CertificateAuthority } from "./certificate-authority.js";
import { parseCertificateRequest } from "./certificate-request.js";
import { kubeconfig } from "./kubeconfig.js";

const DAY_MS = 86_400_000;
const authority = CertificateAuthority.create({ clock: systemClock, random: systemRandom });

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
}

describe("CertificateAuthority", () => {
  it("makes certificates that Node's TLS accepts on both sides", async () => {
    const serving = authority.issueServer("api", ["localhost", "127.0.0.1"]);
    const client = authority.issueClient({ commonName: "ann", organizations: ["system:masters", "team"] });
    const ca = authority.certificate;
    const server = createServer({ cert: serving.certificate, key: serving.privateKey, ca, requestCert: true });
    const seen = new Promise<{ isAuthorized: boolean; subject: object }>((resolve) =>
      server.once("secureConnection", (socket: TLSSocket) => {
        resolve({ isAuthorized: socket.authorized, subject: { ...socket.getPeerCertificate().subject } });
        socket.end();
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const options = { host: "127.0.0.1", port, ca, cert: client.certificate, key: client.privateKey };
    const socket = connect(options);
    await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    expect(socket.authorized).toBe(true);
    expect(await seen).toEqual({ isAuthorized: true, subject: { CN: "ann", O: ["system:masters", "team"] } });
    socket.destroy();
    server.close();
  });

  it("sets hosts, addresses and key usage", () => {
    const { certificate } = authority.issueServer("api", ["a.example", "10.0.0.1", "::1", "2001:db8::ff:0:1"]);
    const parsed = new X509Certificate(certificate);
    expect(parsed.subjectAltName).toBe(
      "DNS:a.example, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:FF:0:1",
    );
    expect(parsed.ca).toBe(false);
    expect(parsed.checkHost("a.example")).toBe("a.example");
    expect(parsed.checkIP("10.0.0.1")).toBe("10.0.0.1");
    const root = new X509Certificate(authority.certificate);
    expect(root.ca).toBe(true);
    expect(parsed.checkIssued(root)).toBe(true);
    expect(parsed.verify(root.publicKey)).toBe(true);
  });

  it("reopens what it stored, and refuses a key that is not its own", () => {
    const options = { clock: systemClock, random: systemRandom };
    const again = CertificateAuthority.open(authority.keyPair, options);
    const { certificate } = again.issueClient({ commonName: "x" });
    expect(authority.isDue(certificate)).toBe(false);
    const other = CertificateAuthority.create(options);
    expect(other.isDue(certificate)).toBe(true);
    const mixed = { ...authority.keyPair, privateKey: other.keyPair.privateKey };
    expect(() => CertificateAuthority.open(mixed, options)).toThrow("does not belong");
  });

  it("knows when a certificate is due for renewal, by the clock", async () => {
    const clock = new VirtualClock();
    const own = CertificateAuthority.create({ clock, random: systemRandom });
    const { certificate } = own.issueServer("api", ["localhost"]);
    expect(own.isDue(certificate)).toBe(false);
    clock.stepWall(240 * DAY_MS);
    expect(own.isDue(certificate)).toBe(false);
    clock.stepWall(10 * DAY_MS);
    expect(own.isDue(certificate)).toBe(true);
    expect(clock.now()).toBeGreaterThan(own.dueAtMs(certificate));
  });

  it.skipIf(!hasOpenssl())(
    "makes certificates that OpenSSL verifies, and signs its requests (skipped without openssl)",
    () => {
      const folder = mkdtempSync(join(tmpdir(), "setpoint-certificates-"));
      const run = (...args: string[]): string =>
        execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
      try {
        writeFileSync(join(folder, "ca.pem"), authority.certificate);
        writeFileSync(join(folder, "leaf.pem"), authority.issueServer("api", ["localhost", "::1"]).certificate);
        expect(run("verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem", "leaf.pem")).toContain("OK");
        for (const key of [
          ["ecparam", "-name", "prime256v1", "-genkey", "-noout"],
          ["genrsa", "2048"],
        ]) {
          run(
            ...key.slice(0, 1),
            ...(key[0] === "genrsa" ? ["-out", "k.pem", "2048"] : [...key.slice(1), "-out", "k.pem"]),
          );
          run("req", "-new", "-key", "k.pem", "-subj", "/O=one/O=two/CN=ann", "-out", "request.pem");
          const request = run("req", "-in", "request.pem");
          expect(parseCertificateRequest(request).subject).toEqual({
            commonName: "ann",
            organizations: ["one", "two"],
          });
          writeFileSync(join(folder, "client.pem"), authority.signRequest(request));
          expect(run("verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", "ca.pem", "client.pem")).toContain(
            "OK",
          );
          const bytes = Buffer.from(request.replace(/-----.*-----/g, ""), "base64");
          bytes[bytes.length - 5]! ^= 1;
          const forged = pem("CERTIFICATE REQUEST", bytes);
          expect(() => parseCertificateRequest(forged)).toThrow();
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it("refuses arbitrary bytes as a certificate request without harm", () => {
    const wrap = (bytes: Uint8Array): string =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(bytes).toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(() => parseCertificateRequest(wrap(bytes))).toThrow();
      }),
    );
  });
});

describe("kubeconfig", () => {
  it("embeds the authority and the client's certificate", () => {
    const client = authority.issueClient({ commonName: "admin", organizations: ["system:masters"] });
    const text = kubeconfig({
      name: "setpoint",
      server: "https://127.0.0.1:6443",
      authority: authority.certificate,
      user: { name: "admin", ...client },
    });
    expect(text).toContain(`certificate-authority-data: ${Buffer.from(authority.certificate).toString("base64")}\n`);
    expect(text).toContain(`client-key-data: ${Buffer.from(client.privateKey).toString("base64")}\n`);
    expect(text).toContain('current-context: "setpoint"\n');
  });
});
