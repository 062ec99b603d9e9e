import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Random, systemClock } from "setpoint/clock";
import { generateKey, parsePrivateKey, privateKeyPem } from "./auth/certificates/certificate.js";
import { CertificateAuthority } from "./auth/certificates/certificate-authority.js";
import { type SigningKey, signingKey } from "./auth/jwt.js";
import { tightenMode, writePrivateFile } from "./storage/private-file.js";
import { StorageFailure } from "./storage/storage-error.js";

/** The keys and certificates of a control plane. */
export interface Credentials {
  readonly authority: CertificateAuthority;
  /** Signs the tokens of service accounts. */
  readonly tokenKey: SigningKey;
  /** Resolves when they are on disk. Do not hand out any before. */
  readonly kept: Promise<void>;
}

/** Contains both private keys and the authority's certificate. */
const FILE = "credentials.json";

interface KeptCredentials {
  readonly certificate: string;
  readonly privateKey: string;
  readonly tokenKey: string;
}

/**
 * The credentials in `dataDir`, or new ones, which are stored there for this user alone. Certificates use the system
 * clock, whatever clock the control plane has, because the peer's clock validates them.
 */
export function openCredentials(dataDir: string | undefined, random: Random): Credentials {
  const options = { clock: systemClock, random };
  const kept = dataDir === undefined ? undefined : read(join(dataDir, FILE));
  if (kept) {
    const authority = CertificateAuthority.open(kept, options);
    return { authority, tokenKey: signingKey(parsePrivateKey(kept.tokenKey)), kept: Promise.resolve() };
  }
  const authority = CertificateAuthority.create(options);
  const { privateKey } = generateKey();
  const made = { ...authority.keyPair, tokenKey: privateKeyPem(privateKey) };
  const written = dataDir === undefined ? Promise.resolve() : write(join(dataDir, FILE), made, random);
  // Callers that await it see the failure. Until then it must not end the process.
  written.catch(() => {});
  return { authority, tokenKey: signingKey(privateKey), kept: written };
}

function read(path: string): KeptCredentials | undefined {
  try {
    tightenMode(path);
    return JSON.parse(readFileSync(path, "utf8")) as KeptCredentials;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    const cure =
      "restore it from a backup, or remove it: clients then need a new kubeconfig, and tokens become invalid";
    throw new StorageFailure("STORAGE_DAMAGED", `${path} cannot be read: ${(error as Error).message}; ${cure}`, {
      cause: error,
    });
  }
}

async function write(path: string, credentials: KeptCredentials, random: Random): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(credentials, undefined, 2)}\n`, random);
}
