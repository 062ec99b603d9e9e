import type { Clock } from "../../clock/clock.js";
import type { TlsMaterial, TlsSource } from "../transport/dialer.js";
import type { ClientCertificate } from "./exec-plugin.js";
import type { PemSource } from "./pem-source.js";

export interface TlsFiles {
  readonly ca?: PemSource;
  readonly cert?: PemSource;
  readonly key?: PemSource;
  readonly serverName?: string;
  readonly insecure?: boolean;
}

/** How long the files count as fresh: client-go's period for token files. */
const FRESH_MS = 60_000;

/**
 * TLS material from files that are read again each minute, so that rotated certificates take effect. After a failed
 * read the previous material stays: a file may be in the middle of a replacement.
 */
export function rotatingTls(files: TlsFiles, clock: Clock): TlsSource {
  let current: TlsMaterial | undefined;
  let readAtMs = 0;
  let reading: Promise<TlsMaterial> | undefined;
  const refresh = async (): Promise<TlsMaterial> => {
    try {
      const next = await read(files);
      if (!current || !isSame(current, next)) current = next;
    } catch (error) {
      if (!current) throw error;
    }
    readAtMs = clock.monotonic();
    return current;
  };
  return () => {
    if (current && clock.monotonic() - readAtMs < FRESH_MS) return current;
    reading ??= refresh().finally(() => (reading = undefined));
    return reading;
  };
}

/** The same with the client certificate of a plugin. A new certificate is new material. */
export function withClientCertificate(
  source: TlsSource,
  certificate: () => Promise<ClientCertificate | undefined>,
): TlsSource {
  let current: TlsMaterial | undefined;
  return async (signal) => {
    const [material, pair] = [await source(signal), await certificate()];
    const next: TlsMaterial = { ...material, ...pair };
    if (!current || !isSame(current, next)) current = next;
    return current;
  };
}

async function read(files: TlsFiles): Promise<TlsMaterial> {
  // One after the other, so that the error always names the first file that is wrong.
  const [ca, cert, key] = [await files.ca?.read(), await files.cert?.read(), await files.key?.read()];
  if (files.cert && cert !== undefined && key !== undefined) await checkPair(files.cert, cert, key);
  const { serverName, insecure } = files;
  return { ca, cert, key, serverName, insecure };
}

async function checkPair(source: PemSource, cert: string, key: string): Promise<void> {
  const { createPrivateKey, X509Certificate } = process.getBuiltinModule("node:crypto");
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw source.node.invalid("does not belong to the client key beside it");
  }
}

function isSame(left: TlsMaterial, right: TlsMaterial): boolean {
  return left.ca === right.ca && left.cert === right.cert && left.key === right.key;
}
