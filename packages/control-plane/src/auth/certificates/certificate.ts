import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import type { Random } from "setpoint/clock";
import {
  bitString,
  booleanTrue,
  context,
  implicit,
  integer,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
} from "./der.js";

/** The subject of a certificate. Kubernetes reads the common name as the user and the organizations as groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface CertificateOptions {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly usage: "authority" | "server" | "client";
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly random: Random;
}

/** The name and key that sign a certificate. */
export interface Issuer {
  readonly subject: Subject;
  readonly privateKey: KeyObject;
}

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const KEY_USAGE = "2.5.29.15";
const SUBJECT_KEY_ID = "2.5.29.14";
const SUBJECT_ALT_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const AUTHORITY_KEY_ID = "2.5.29.35";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const PURPOSE = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;
/** Bits from the left: digitalSignature 0, keyCertSign 5, cRLSign 6. */
const SIGNATURE_BITS = bitString(Buffer.of(0b1000_0000), 7);
const AUTHORITY_BITS = bitString(Buffer.of(0b1000_0110), 1);

/** Generates a key on the P-256 curve. */
export function generateKey(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/**
 * Signs an X.509 certificate (version 3, ECDSA with SHA-256), in PEM. Node can read certificates but not create them.
 */
export function issueCertificate(options: CertificateOptions, issuer: Issuer): string {
  const serial = Buffer.from(options.random.bytes(16));
  // The serial number must be positive and not zero.
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const algorithm = sequence(oid(ECDSA_SHA256));
  const body = sequence(
    context(0, integer(Buffer.of(2))),
    integer(serial),
    algorithm,
    nameOf(issuer.subject),
    sequence(time(options.notBeforeMs), time(options.notAfterMs)),
    nameOf(options.subject),
    options.publicKey.export({ type: "spki", format: "der" }),
    context(3, sequence(...extensionsOf(options, issuer))),
  );
  return pem("CERTIFICATE", sequence(body, algorithm, bitString(sign("sha256", body, issuer.privateKey))));
}

export function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}

export function parsePrivateKey(text: string): KeyObject {
  return createPrivateKey(text);
}

function nameOf({ commonName, organizations = [] }: Subject): Buffer {
  const part = (type: string, text: string): Buffer => set(sequence(oid(type), utf8String(text)));
  return sequence(...organizations.map((each) => part(ORGANIZATION, each)), part(COMMON_NAME, commonName));
}

function extensionsOf({ usage, hosts = [], publicKey }: CertificateOptions, issuer: Issuer): readonly Buffer[] {
  const isAuthority = usage === "authority";
  const issuerKeyId = keyId(createPublicKey(issuer.privateKey));
  return [
    extension(KEY_USAGE, isAuthority ? AUTHORITY_BITS : SIGNATURE_BITS, true),
    ...(isAuthority ? [] : [extension(EXTENDED_KEY_USAGE, sequence(oid(PURPOSE[usage])))]),
    extension(BASIC_CONSTRAINTS, isAuthority ? sequence(booleanTrue()) : sequence(), true),
    ...(isAuthority ? [extension(SUBJECT_KEY_ID, octetString(keyId(publicKey)))] : []),
    extension(AUTHORITY_KEY_ID, sequence(implicit(0, issuerKeyId))),
    ...(hosts.length > 0 ? [extension(SUBJECT_ALT_NAME, sequence(...hosts.map(generalName)))] : []),
  ];
}

function extension(type: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(type), ...(isCritical ? [booleanTrue()] : []), octetString(value));
}

/** SHA-1 only identifies the key here; it protects nothing. */
function keyId(publicKey: KeyObject): Buffer {
  return createHash("sha1")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest();
}

function generalName(host: string): Buffer {
  // DNS names have no colon. Node's check for IPv6 takes milliseconds, as long as the whole certificate.
  if (host.includes(":")) return implicit(7, ipv6Bytes(host));
  if (isIPv4(host)) return implicit(7, Buffer.from(host.split(".").map(Number)));
  return implicit(2, Buffer.from(host, "latin1"));
}

function ipv6Bytes(address: string): Buffer {
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const groups = (text: string): number[] =>
    text
      .split(":")
      .filter(Boolean)
      .flatMap((group) => {
        if (!group.includes(".")) return [Number.parseInt(group, 16)];
        const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
        return [a * 256 + b, c * 256 + d];
      });
  const [before, after] = [groups(head), groups(tail ?? "")];
  const zeros = new Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [at, group] of [...before, ...zeros, ...after].slice(0, 8).entries()) bytes.writeUInt16BE(group, at * 2);
  return bytes;
}
