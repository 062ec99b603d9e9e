import { Buffer } from "node:buffer";
import type { KeyObject } from "node:crypto";
import type { Random } from "../../clock/random.js";
import { SetpointError } from "../../errors/error.js";

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface CertificateOptions {
  readonly commonName: string;
  /** DNS names and IP addresses of a server; empty for a CA. */
  readonly hosts: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly random: Random;
}

const ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const COMMON_NAME = "2.5.4.3";
const KEY_USAGE = "2.5.29.15";
const SUBJECT_ALT_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

/** A new P-256 key with its certificate, signed by the issuer; without an issuer, a self-signed CA. */
export function issueCertificate(options: CertificateOptions, issuer?: KeyPair): KeyPair {
  const { createPrivateKey, generateKeyPairSync, sign, X509Certificate } = process.getBuiltinModule("node:crypto");
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuerKey = issuer ? createPrivateKey(issuer.privateKey) : privateKey;
  const issuerName = issuer ? new X509Certificate(issuer.certificate).subject.replace(/^CN=/, "") : options.commonName;
  const serial = Buffer.from(options.random.bytes(16));
  serial[0] = (serial[0]! & 0x7f) | 0x40; // positive and never zero
  const algorithm = sequence(oid(ECDSA_SHA256));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, serial),
    algorithm,
    nameOf(issuerName),
    sequence(time(options.notBeforeMs), time(options.notAfterMs)),
    nameOf(options.commonName),
    spki(publicKey),
    der(0xa3, sequence(...extensions(options.hosts, issuer === undefined))),
  );
  const signature = sign("sha256", body, issuerKey);
  return {
    certificate: pem(sequence(body, algorithm, der(0x03, Buffer.of(0), signature))),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

/** The validity period of a certificate. */
export function validityOf(certificate: string): { readonly fromMs: number; readonly toMs: number } {
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  const { validFrom, validTo } = new X509Certificate(certificate);
  return { fromMs: Date.parse(validFrom), toMs: Date.parse(validTo) };
}

/** The certificates of a PEM text, each with its final line break. Ignores what is between them. */
export function certificatesIn(pem: string): readonly string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return found.map((each) => `${each}\n`);
}

/** Throws if the certificate or the key is malformed, or if they do not match. */
export function checkKeyPair({ certificate, privateKey }: KeyPair): void {
  const { createPrivateKey, X509Certificate } = process.getBuiltinModule("node:crypto");
  const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  if (!isPair) throw new SetpointError("WEBHOOK_CERTIFICATE_INVALID", "the key does not match the certificate");
}

/** The certificate in the form that Node's servers take. */
export function secureContext({ certificate, privateKey }: KeyPair): { readonly cert: string; readonly key: string } {
  return { cert: certificate, key: privateKey };
}

/** Whether a certificate is for a DNS name or an address. */
export function namesHost(certificate: string, host: string): boolean {
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  const { isIP } = process.getBuiltinModule("node:net");
  const parsed = new X509Certificate(certificate);
  return (isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host)) !== undefined;
}

function extensions(hosts: readonly string[], isAuthority: boolean): readonly Buffer[] {
  if (isAuthority) {
    // keyCertSign and cRLSign.
    const usage = der(0x03, Buffer.of(1, 0b0000_0110));
    return [extension(KEY_USAGE, usage, true), extension(BASIC_CONSTRAINTS, sequence(TRUE), true)];
  }
  return [
    extension(KEY_USAGE, der(0x03, Buffer.of(7, 0b1000_0000)), true), // digitalSignature
    extension(EXTENDED_KEY_USAGE, sequence(oid(SERVER_AUTH))),
    extension(BASIC_CONSTRAINTS, sequence(), true),
    extension(SUBJECT_ALT_NAME, sequence(...hosts.map(generalName))),
  ];
}

function generalName(host: string): Buffer {
  const { isIP, isIPv4 } = process.getBuiltinModule("node:net");
  if (!isIP(host)) return der(0x82, Buffer.from(host, "latin1"));
  if (isIPv4(host)) return der(0x87, Buffer.from(host.split(".").map(Number)));
  return der(0x87, ipv6Bytes(host));
}

/** The sixteen bytes of an IPv6 address, which `URL` writes in its shortest form. */
function ipv6Bytes(address: string): Buffer {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail = ""] = shortest.split("::");
  const groups = (text: string): number[] => (text ? text.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

const TRUE = Buffer.of(0x01, 0x01, 0xff);

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...contents: readonly Uint8Array[]): Buffer {
  return der(0x30, ...contents);
}

function extension(type: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(type), ...(isCritical ? [TRUE] : []), der(0x04, value));
}

function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(commonName)))));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return der(0x06, Buffer.from(bytes));
}

/** RFC 5280 wants two-digit years until 2050, and four digits after that. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, "");
  return digits < "2050" ? der(0x17, Buffer.from(`${digits.slice(2)}Z`)) : der(0x18, Buffer.from(`${digits}Z`));
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

function pem(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
