import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { Json, JsonObject } from "../../api/json.js";
import { object } from "../validation/rule.js";

interface Block {
  readonly type: string;
  readonly pem: string;
}

const MARK = /-----(BEGIN|END) ([^-\n]+)-----/g;

/** Why the certificate and key of a TLS Secret do not match, as Go's `crypto/tls` words it. */
export function keyPairWarnings({ type, data }: JsonObject): readonly string[] {
  if (type !== "kubernetes.io/tls") return [];
  const why = mismatch(blocksOf(object(data)["tls.crt"]), blocksOf(object(data)["tls.key"]));
  return why === undefined ? [] : [why];
}

function blocksOf(encoded: Json | undefined): readonly Block[] {
  const text = Buffer.from(String(encoded ?? ""), "base64").toString("latin1");
  const marks = [...text.matchAll(MARK)];
  return marks.flatMap(([, mark, type = ""], at) => {
    const end = marks[at + 1];
    if (mark !== "BEGIN" || end?.[1] !== "END" || end[2] !== type) return [];
    return [{ type, pem: text.slice(marks[at]!.index, end.index + end[0].length) }];
  });
}

const isKey = ({ type }: Block): boolean => /^(.* )?PRIVATE KEY$/.test(type);
const isCertificate = ({ type }: Block): boolean => type === "CERTIFICATE";

function mismatch(certificates: readonly Block[], keys: readonly Block[]): string | undefined {
  const [first] = certificates.filter(isCertificate);
  const [key] = keys.filter(isKey);
  if (first === undefined) return withoutCertificate(certificates);
  if (key === undefined) return withoutKey(keys);
  const certificate = attempt(() => new X509Certificate(first.pem));
  if (certificate === undefined) return "x509: malformed certificate";
  const secret = attempt(() => createPrivateKey(key.pem));
  if (secret === undefined) return "tls: failed to parse private key";
  const open: KeyObject = certificate.publicKey;
  if (open.asymmetricKeyType !== secret.asymmetricKeyType) {
    return "tls: private key type does not match public key type";
  }
  return certificate.checkPrivateKey(secret) ? undefined : "tls: private key does not match public key";
}

const AFTER = "after skipping PEM blocks of the following types:";
const typesOf = (blocks: readonly Block[]): string => `[${blocks.map(({ type }) => type).join(" ")}]`;

function withoutCertificate(blocks: readonly Block[]): string {
  const failed = "tls: failed to find";
  if (blocks.length === 0) return `${failed} any PEM data in certificate input`;
  if (blocks.length === 1 && isKey(blocks[0]!)) {
    const instead = "but did find a private key; PEM inputs may have been switched";
    return `${failed} certificate PEM data in certificate input, ${instead}`;
  }
  return `${failed} "CERTIFICATE" PEM block in certificate input ${AFTER} ${typesOf(blocks)}`;
}

function withoutKey(blocks: readonly Block[]): string {
  if (blocks.length === 0) return "tls: failed to find any PEM data in key input";
  if (blocks.length === 1 && isCertificate(blocks[0]!)) {
    return "tls: found a certificate rather than a key in the PEM for the private key";
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input ${AFTER} ${typesOf(blocks)}`;
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
