import { Buffer } from "node:buffer";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import { certificatesIn, issueCertificate, type KeyPair, namesHost, validityOf } from "./certificate.js";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 90;
/** Servers' clocks may run behind. */
const BACKDATE_MS = 3_600_000;
/** The fraction of the lifetime that is left when a certificate is replaced. */
const RENEW_AT = 1 / 3;

/** The certificate that a webhook server presents, and the CAs that its callers must trust. */
export interface CertificateState {
  readonly authority: KeyPair;
  /** The previous CA's certificate: still trusted, so that no call fails while servers learn the new one. */
  readonly formerAuthority: string;
  readonly serving: KeyPair;
  /** The serving certificate of the previous CA, for processes that start before callers trust the new CA. */
  readonly formerServing?: KeyPair;
}

export interface IssueOptions {
  /** DNS names and addresses of the server. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Replaces what is due and returns the new state, or the same state if nothing is due. Without a state, makes a new one
 * that keeps the CAs which callers trust already.
 */
export function renewed(state: CertificateState | undefined, options: IssueOptions, trusted = ""): CertificateState {
  if (!state) {
    const authority = newAuthority(options);
    return { authority, formerAuthority: trusted, serving: newServing(authority, options) };
  }
  const nowMs = options.clock.now();
  if (isDue(state.authority, nowMs)) {
    const authority = newAuthority(options);
    const isGood = isServable(state.serving, options) && validityOf(state.serving.certificate).toMs > nowMs;
    return {
      authority,
      formerAuthority: state.authority.certificate,
      serving: newServing(authority, options),
      ...(isGood ? { formerServing: state.serving } : {}),
    };
  }
  if (isServable(state.serving, options) && !isDue(state.serving, nowMs)) return state;
  const { authority, formerAuthority } = state;
  return { authority, formerAuthority, serving: newServing(authority, options) };
}

/** The certificate to present at start: that of a new CA only once callers had `trustMs` to learn it. */
export function shownAtStart(state: CertificateState, nowMs: number, trustMs: number): KeyPair {
  const { authority, formerServing, serving } = state;
  const madeMs = validityOf(authority.certificate).fromMs + BACKDATE_MS;
  // A time further in the future than that comes from a clock that is wrong, and tells nothing about the age.
  const isTrusted = Math.abs(nowMs - madeMs) >= trustMs;
  return formerServing && !isTrusted ? formerServing : serving;
}

function isServable({ certificate }: KeyPair, { hosts }: IssueOptions): boolean {
  return hosts.every((host) => namesHost(certificate, host));
}

/** The largest number of former CAs to keep: each deletion of the Secret adds one. */
const MAX_FORMER = 3;

/** The first CAs of a PEM text that are still valid, each once. Ignores malformed ones. */
export function goodAuthorities(pem: string, nowMs: number): string {
  const good = certificatesIn(pem).filter((certificate) => {
    try {
      return validityOf(certificate).toMs > nowMs;
    } catch {
      return false;
    }
  });
  return [...new Set(good)].slice(0, MAX_FORMER).join("");
}

/** The CAs in the form of a `caBundle`. */
export function caBundleOf({ authority, formerAuthority }: CertificateState): string {
  return Buffer.from(`${authority.certificate}${formerAuthority}`).toString("base64");
}

function isDue({ certificate }: KeyPair, nowMs: number): boolean {
  const { fromMs, toMs } = validityOf(certificate);
  return nowMs < fromMs || toMs - nowMs < (toMs - fromMs) * RENEW_AT;
}

function newAuthority(options: IssueOptions): KeyPair {
  // TLS libraries may check only one of two CAs with the same name.
  const commonName = `setpoint-webhooks@${Math.floor(options.clock.now() / 1000)}-${hex(options.random.bytes(4))}`;
  return issueCertificate({ commonName, hosts: [], ...validFor(AUTHORITY_DAYS, options) });
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function newServing(authority: KeyPair, options: IssueOptions): KeyPair {
  const { hosts } = options;
  return issueCertificate({ commonName: hosts[0] ?? "webhooks", hosts, ...validFor(SERVING_DAYS, options) }, authority);
}

function validFor(
  days: number,
  { clock, random }: IssueOptions,
): {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly random: Random;
} {
  const nowMs = clock.now();
  return { notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: nowMs + days * DAY_MS, random };
}
