import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { describe } from "../transport/transport-error.js";
import type { ConfigNode } from "./config-node.js";
import { resolvePath } from "./kubeconfig.js";

/** Where a certificate or key comes from: inline, or a file that is read again when it may have changed. */
export interface PemSource {
  /** The position, for messages. */
  readonly node: ConfigNode;
  read(): Promise<string>;
}

/**
 * The field `name-data`, otherwise the file that the field `name` names; undefined if neither is set. Like kubectl,
 * refuses both at once.
 */
export function pemSource(parent: ConfigNode, name: string, check: PemCheck): PemSource | undefined {
  const dataNode = parent.field(`${name}-data`);
  const fileNode = parent.field(name);
  const data = parent.string(`${name}-data`);
  const file = parent.string(name);
  if (data !== undefined && file !== undefined) {
    throw fileNode.invalid(`and ${name}-data are both set; remove one of them`);
  }
  if (data !== undefined) {
    const pem = decodeBase64(dataNode, data);
    return { node: dataNode, read: async () => checked(dataNode, pem, check) };
  }
  if (file === undefined) return undefined;
  const path = resolvePath(fileNode, file);
  return { node: fileNode, read: async () => checked(fileNode, await readPem(fileNode, path), check) };
}

/** A file outside any kubeconfig: the CA of a service account. */
export function pemFile(node: ConfigNode, path: string, check: PemCheck): PemSource {
  return { node, read: async () => checked(node, await readPem(node, path), check) };
}

export type PemCheck = "certificate" | "key";

async function readPem(node: ConfigNode, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw node.invalid(`cannot read ${path}: ${describe(cause)}`, cause);
  }
}

function decodeBase64(node: ConfigNode, text: string): string {
  const compact = text.replaceAll(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) throw node.invalid("is not base64");
  return Buffer.from(compact, "base64").toString("utf8");
}

async function checked(node: ConfigNode, pem: string, check: PemCheck): Promise<string> {
  const { createPrivateKey, X509Certificate } = process.getBuiltinModule("node:crypto");
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (check !== "key" && !certificates) throw node.invalid("is not a PEM certificate: no BEGIN CERTIFICATE line");
  try {
    if (check === "key") createPrivateKey(pem);
    else for (const certificate of certificates!) new X509Certificate(certificate);
  } catch (cause) {
    // The cause's message never contains the key, only the parser's complaint.
    throw node.invalid(`is not a PEM ${check === "key" ? "private key" : "certificate"}: ${describe(cause)}`, cause);
  }
  return pem;
}
