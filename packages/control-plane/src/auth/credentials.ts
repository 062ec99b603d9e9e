import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type Random, SetpointError } from "setpoint";
import { generateKey, type KeyPair, parsePrivateKey, privateKeyPem } from "./certificates/certificate.js";
import { CertificateAuthority } from "./certificates/certificate-authority.js";
import { type SigningKey, signingKey } from "./jwt.js";
import { SYSTEM_MASTERS } from "./rbac/rbac-authorizer.js";

/** What a control plane proves itself with, and what its administrator does. */
export interface Credentials {
  readonly authority: CertificateAuthority;
  /** For the names and addresses under which the server answers. */
  readonly serving: KeyPair;
  /** A client certificate of the group system:masters. */
  readonly admin: KeyPair;
  /** Signs the tokens of service accounts. */
  readonly tokenKey: SigningKey;
}

export interface CredentialOptions {
  /** Where they are kept (mode 0700, files 0600); undefined: in memory alone. */
  readonly directory?: string;
  readonly hosts: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

/** The names under which a server is known inside of a cluster, besides those that it listens on. */
const CLUSTER_HOSTS = [
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

/**
 * Reads the credentials of a directory, and makes those that are missing, nearly over or not for these hosts. The
 * authority and the token key are made once and kept: clients trust them.
 */
export async function openCredentials(options: CredentialOptions): Promise<Credentials> {
  const { directory, clock, random } = options;
  const hosts = [...new Set([...options.hosts, ...CLUSTER_HOSTS])];
  const kept = directory === undefined ? undefined : new KeptFiles(directory);
  await kept?.prepare();

  const authorityPair = await kept?.readPair("ca");
  const authority = authorityPair
    ? guarded(kept, "ca", () => CertificateAuthority.open(authorityPair, { clock, random }))
    : CertificateAuthority.create({ clock, random });
  if (!authorityPair) await kept?.writePair("ca", authority.keyPair);

  async function leaf(name: string, make: () => KeyPair, suits: (pair: KeyPair) => boolean): Promise<KeyPair> {
    const pair = await kept?.readPair(name);
    if (pair && guarded(kept, name, () => !authority.isDue(pair.certificate) && suits(pair))) return pair;
    const made = make();
    await kept?.writePair(name, made);
    return made;
  }
  const serving = await leaf(
    "server",
    () => authority.issueServer("kubernetes", hosts),
    ({ certificate }) => authority.serves(certificate, hosts),
  );
  const admin = await leaf(
    "admin",
    () => authority.issueClient({ commonName: "admin", organizations: [SYSTEM_MASTERS] }),
    () => true,
  );
  const keyText = await kept?.read("service-account.key");
  const key = keyText ?? privateKeyPem(generateKey().privateKey);
  if (!keyText) await kept?.write("service-account.key", key);
  const tokenKey = guarded(kept, "service-account.key", () => signingKey(parsePrivateKey(key)));
  return { authority, serving, admin, tokenKey };
}

function guarded<T>(kept: KeptFiles | undefined, name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SetpointError("CREDENTIALS_UNREADABLE", `${kept?.pathOf(name) ?? name}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Files that nobody else may read. */
class KeptFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
  }

  pathOf(name: string): string {
    return join(this.#directory, name);
  }

  async read(name: string): Promise<string | undefined> {
    try {
      return await readFile(this.pathOf(name), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** The key is written first: a certificate without its key would be taken for a whole pair. */
  async writePair(name: string, { certificate, privateKey }: KeyPair): Promise<void> {
    await this.write(`${name}.key`, privateKey);
    await this.write(`${name}.crt`, certificate);
  }

  async readPair(name: string): Promise<KeyPair | undefined> {
    const certificate = await this.read(`${name}.crt`);
    const privateKey = await this.read(`${name}.key`);
    return certificate !== undefined && privateKey !== undefined ? { certificate, privateKey } : undefined;
  }

  /** Whole or not at all, also when the machine stops in between. */
  async write(name: string, text: string): Promise<void> {
    const temporary = this.pathOf(`.${name}.tmp`);
    const file = await open(temporary, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.pathOf(name));
  }
}
