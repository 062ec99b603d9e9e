import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { SetpointError } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import {
  generateKey,
  issueCertificate,
  type KeyPair,
  parsePrivateKey,
  privateKeyPem,
  type Subject,
} from "./certificate.js";
import { type CertificateRequest, parseCertificateRequest } from "./certificate-request.js";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const CERTIFICATE_DAYS = 365;
/** Client clocks may be slow. */
const BACKDATE_MS = 3_600_000;
/** Renew a certificate when less than this fraction of its lifetime is left. */
const RENEW_AT = 1 / 3;

export interface AuthorityOptions {
  readonly clock: Clock;
  readonly random: Random;
}

/** The control plane's certificate authority. It signs the server certificate and client certificates. */
export class CertificateAuthority {
  readonly keyPair: KeyPair;
  readonly #privateKey: KeyObject;
  readonly #subject: Subject;
  readonly #options: AuthorityOptions;

  private constructor(keyPair: KeyPair, options: AuthorityOptions) {
    this.keyPair = keyPair;
    this.#options = options;
    this.#privateKey = parsePrivateKey(keyPair.privateKey);
    this.#subject = { commonName: commonNameOf(new X509Certificate(keyPair.certificate).subject) };
  }

  static create(options: AuthorityOptions): CertificateAuthority {
    const key = generateKey();
    const nowMs = options.clock.now();
    const subject = { commonName: `setpoint-ca@${Math.floor(nowMs / 1000)}` };
    const certificate = issueCertificate(
      {
        subject,
        publicKey: key.publicKey,
        usage: "authority",
        notBeforeMs: nowMs - BACKDATE_MS,
        notAfterMs: nowMs + AUTHORITY_DAYS * DAY_MS,
        random: options.random,
      },
      { subject, privateKey: key.privateKey },
    );
    return new CertificateAuthority({ certificate, privateKey: privateKeyPem(key.privateKey) }, options);
  }

  /** Opens a stored authority. Throws if the key does not match the certificate. */
  static open(keyPair: KeyPair, options: AuthorityOptions): CertificateAuthority {
    const certificate = new X509Certificate(keyPair.certificate);
    if (!certificate.checkPrivateKey(parsePrivateKey(keyPair.privateKey))) {
      throw new SetpointError(
        "CERTIFICATE_AUTHORITY_INVALID",
        "the private key does not belong to the certificate of the authority",
      );
    }
    return new CertificateAuthority(keyPair, options);
  }

  get certificate(): string {
    return this.keyPair.certificate;
  }

  /** Issues a server certificate for these DNS names and IP addresses. */
  issueServer(commonName: string, hosts: readonly string[]): KeyPair {
    return this.#issue({ commonName }, "server", hosts);
  }

  /** Issues a client certificate: the common name is the user, the organizations are the groups. */
  issueClient(subject: Subject): KeyPair {
    return this.#issue(subject, "client", []);
  }

  /** Signs a request for a client certificate (PEM in, PEM out). Throws if the signature of the request is invalid. */
  signRequest(request: string, durationMs: number = CERTIFICATE_DAYS * DAY_MS): string {
    const { subject, publicKey }: CertificateRequest = parseCertificateRequest(request);
    return this.#sign(subject, publicKey, "client", [], durationMs);
  }

  /** Whether to renew a certificate: another authority signed it, it is not valid yet, or it expires soon. */
  isDue(certificate: string): boolean {
    const parsed = new X509Certificate(certificate);
    const [start, end] = [Date.parse(parsed.validFrom), Date.parse(parsed.validTo)];
    const nowMs = this.#options.clock.now();
    const isOurs = parsed.verify(createPublicKey(this.#privateKey));
    return !isOurs || nowMs < start || end - nowMs < (end - start) * RENEW_AT;
  }

  /** Whether a server certificate covers all these hosts. */
  serves(certificate: string, hosts: readonly string[]): boolean {
    const parsed = new X509Certificate(certificate);
    return hosts.every((host) => (isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host)) !== undefined);
  }

  /** When `isDue` becomes true, in wall time of the clock. */
  dueAtMs(certificate: string): number {
    const { validFrom, validTo } = new X509Certificate(certificate);
    const [start, end] = [Date.parse(validFrom), Date.parse(validTo)];
    return end - (end - start) * RENEW_AT;
  }

  #issue(subject: Subject, usage: "server" | "client", hosts: readonly string[]): KeyPair {
    const { publicKey, privateKey } = generateKey();
    const certificate = this.#sign(subject, publicKey, usage, hosts, CERTIFICATE_DAYS * DAY_MS);
    return { certificate, privateKey: privateKeyPem(privateKey) };
  }

  #sign(
    subject: Subject,
    publicKey: KeyObject,
    usage: "server" | "client",
    hosts: readonly string[],
    durationMs: number,
  ): string {
    const { clock, random } = this.#options;
    const nowMs = clock.now();
    return issueCertificate(
      { subject, publicKey, usage, hosts, notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: nowMs + durationMs, random },
      { subject: this.#subject, privateKey: this.#privateKey },
    );
  }
}

/** Node formats a subject as lines of `CN=…`. */
function commonNameOf(subject: string): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? "";
}
