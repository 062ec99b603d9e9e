import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Random, systemClock } from "setpoint/clock";
import { generateKey, parsePrivateKey, privateKeyPem } from "./auth/certificates/certificate.js";
import { CertificateAuthority } from "./auth/certificates/certificate-authority.js";
import { type SigningKey, signingKey } from "./auth/jwt.js";
import { tightenMode, writePrivateFile } from "./storage/private-file.js";
import { StorageFailure } from "./storage/storage-error.js";

/** What a control plane proves itself and others with. */
export interface Credentials {
  readonly authority: CertificateAuthority;
  /** Signs the tokens of service accounts. */
  readonly tokenKey: SigningKey;
  /** Resolves when they are on disk; do not hand any out before. */
  readonly kept: Promise<void>;
}

/** Both private keys and the authority's certificate. */
const FILE = "credentials.json";

interface KeptCredentials {
  readonly certificate: string;
  readonly privateKey: string;
  readonly tokenKey: string;
}

/**
 * Those kept in `dataDir`, or new ones, which are kept there for this user alone. Certificates carry the machine's time
 * whatever clock the control plane runs on: it is the other side's clock that judges them.
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
  // Callers that await it see the failure; until then it must not end the process.
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
