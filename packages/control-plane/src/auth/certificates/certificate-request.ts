import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { SetpointError } from "setpoint";
import type { Subject } from "./certificate.js";
import { type DerValue, readAll, readOid, TAG } from "./der.js";

export interface CertificateRequest {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
}

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
/** Hash functions by signature algorithm OID. */
const HASHES: Readonly<Record<string, string>> = {
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
};

/** Parses a PKCS #10 request in PEM and checks its signature against its own key. */
export function parseCertificateRequest(text: string): CertificateRequest {
  const match = /-----BEGIN CERTIFICATE REQUEST-----([^-]*)-----END CERTIFICATE REQUEST-----/.exec(text);
  if (!match) throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "PEM block type must be CERTIFICATE REQUEST");
  const [request] = readAll(Buffer.from(match[1]!, "base64"));
  const [info, algorithm, signature] = contentsOf(request, TAG.sequence);
  const [, subject, publicKeyInfo] = contentsOf(info, TAG.sequence);
  const [algorithmOid] = contentsOf(algorithm, TAG.sequence);
  if (!publicKeyInfo || !algorithmOid || !signature)
    throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "asn1: structure error");
  const hash = HASHES[readOid(algorithmOid.content)];
  if (hash === undefined)
    throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "x509: unsupported signature algorithm");
  const publicKey = createPublicKey({ key: Buffer.from(publicKeyInfo.whole), format: "der", type: "spki" });
  if (!verify(hash, info!.whole, publicKey, signature.content.subarray(1))) {
    throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "x509: the signature of the request is not that of its key");
  }
  return { subject: readName(subject), publicKey };
}

function contentsOf(value: DerValue | undefined, tag: number): readonly DerValue[] {
  if (value?.tag !== tag) throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "asn1: structure error");
  return readAll(value.content);
}

function readName(name: DerValue | undefined): Subject {
  let commonName = "";
  const organizations: string[] = [];
  for (const relative of contentsOf(name, TAG.sequence)) {
    for (const attribute of contentsOf(relative, TAG.set)) {
      const [type, value] = contentsOf(attribute, TAG.sequence);
      if (!type || !value) throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "asn1: structure error");
      const text = Buffer.from(value.content).toString("utf8");
      const kind = readOid(type.content);
      if (kind === COMMON_NAME) commonName = text;
      else if (kind === ORGANIZATION) organizations.push(text);
    }
  }
  return { commonName, organizations };
}
