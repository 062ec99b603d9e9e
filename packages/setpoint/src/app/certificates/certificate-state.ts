import { Buffer } from "node:buffer";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import { certificatesIn, issueCertificate, type KeyPair, namesHost, validityOf } from "./certificate.js";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 90;
/** Clocks of servers may run behind. */
const BACKDATE_MS = 3_600_000;
/** Replaced when less than this part of its time is left. */
const RENEW_AT = 1 / 3;

/** What a webhook server shows, and what its callers are to trust. */
export interface CertificateState {
  readonly authority: KeyPair;
  /** The previous authority's certificate: still trusted, so that no call fails while servers learn the new one. */
  readonly formerAuthority: string;
  readonly serving: KeyPair;
  /** What was shown with the authority before, for those that start before callers have heard of the new one. */
  readonly formerServing?: KeyPair;
}

export interface IssueOptions {
  /** DNS names and addresses under which the server is reached. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The state with what is due replaced; the same one where nothing is. Without a state all is made anew, beside the
 * authorities that are trusted already.
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

/** What one that starts should show: that of a new authority only once callers had so long to hear of it. */
export function shownAtStart(state: CertificateState, nowMs: number, trustMs: number): KeyPair {
  const { authority, formerServing, serving } = state;
  const madeMs = validityOf(authority.certificate).fromMs + BACKDATE_MS;
  // One made by a clock that is further ahead than that says nothing of how long ago it was made.
  const isTrusted = Math.abs(nowMs - madeMs) >= trustMs;
  return formerServing && !isTrusted ? formerServing : serving;
}

function isServable({ certificate }: KeyPair, { hosts }: IssueOptions): boolean {
  return hosts.every((host) => namesHost(certificate, host));
}

/** How many are kept of those that were trusted before: each deletion of a Secret adds one. */
const MAX_FORMER = 3;

/** The authorities of a text that are still good, the first ones of it, each once; what cannot be read is left out. */
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

/** The authorities in the form of a `caBundle`. */
export function caBundleOf({ authority, formerAuthority }: CertificateState): string {
  return Buffer.from(`${authority.certificate}${formerAuthority}`).toString("base64");
}

function isDue({ certificate }: KeyPair, nowMs: number): boolean {
  const { fromMs, toMs } = validityOf(certificate);
  return nowMs < fromMs || toMs - nowMs < (toMs - fromMs) * RENEW_AT;
}

function newAuthority(options: IssueOptions): KeyPair {
  // Of two authorities of one name TLS libraries may look at one alone.
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
