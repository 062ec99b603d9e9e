import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import { systemClock } from "../../clock/system-clock.js";

/** A certificate and its key, in PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  readonly commonName: string;
  /** Names and addresses that a server's certificate is for. */
  readonly hosts?: readonly string[];
  /** The issuer; without one, the certificate is self-signed. */
  readonly issuer?: CertificatePair & { readonly commonName: string };
}

/** A certificate for tests: ECDSA P-256, valid from yesterday for ten years. Node cannot make one. */
export function makeCertificate(options: CertificateOptions): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const issuerKey: KeyObject | string = options.issuer?.key ?? privateKey;
  const body = tbsCertificate(options, publicKey);
  const signature = sign("sha256", body, issuerKey);
  const der = sequence(body, ECDSA_SHA256, bitString(signature));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  const cert = `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  return { cert, key };
}

function tbsCertificate(options: CertificateOptions, publicKey: KeyObject): Buffer {
  const { commonName, issuer, hosts = [] } = options;
  const dayMs = 86_400_000;
  const nowMs = systemClock.now();
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)]);
  const constraints = extension("551d13", sequence(...(issuer ? [] : [element(0x01, Buffer.from([0xff]))])), true);
  const names = hosts.map((host) =>
    isIP(host) === 4 ? element(0x87, Buffer.from(host.split(".").map(Number))) : element(0x82, Buffer.from(host)),
  );
  const extensions = names.length > 0 ? [constraints, extension("551d11", sequence(...names))] : [constraints];
  return sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, serial),
    ECDSA_SHA256,
    distinguishedName(issuer?.commonName ?? commonName),
    sequence(time(nowMs - dayMs), time(nowMs + 3650 * dayMs)),
    distinguishedName(commonName),
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, sequence(...extensions)),
  );
}

const ECDSA_SHA256 = sequence(element(0x06, Buffer.from("2a8648ce3d040302", "hex")));

function element(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...items: Uint8Array[]): Buffer {
  return element(0x30, Buffer.concat(items));
}

function bitString(content: Uint8Array): Buffer {
  return element(0x03, Buffer.concat([Buffer.from([0]), content]));
}

function distinguishedName(commonName: string): Buffer {
  const type = element(0x06, Buffer.from("550403", "hex"));
  return sequence(element(0x31, sequence(type, element(0x0c, Buffer.from(commonName)))));
}

function time(atMs: number): Buffer {
  const text = new Date(atMs).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return element(0x18, Buffer.from(text));
}

function extension(oid: string, value: Uint8Array, critical = false): Buffer {
  const flag = critical ? [element(0x01, Buffer.from([0xff]))] : [];
  return sequence(element(0x06, Buffer.from(oid, "hex")), ...flag, element(0x04, value));
}
