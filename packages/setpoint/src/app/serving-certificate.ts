import { Buffer } from "node:buffer";
import type { Clock } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import { issueCertificate, type KeyPair, validityOf } from "./certificate.js";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 90;
/** Clocks of servers may run behind. */
const BACKDATE_MS = 3_600_000;
/** Replaced when less than this part of its time is left. */
const RENEW_AT = 1 / 3;
/** How often is looked: wall clocks jump and machines sleep, so that one long timer would not do. */
const CHECK_MS = 3_600_000;

export interface ServingCertificateOptions {
  /** DNS names and addresses under which the server is reached. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  /** Called with each new certificate; the authorities have changed where `isNewAuthority`. */
  readonly onRenewed: (isNewAuthority: boolean) => void;
}

/**
 * The certificate that a webhook server shows, with an authority of its own. Both are replaced on the clock when a third
 * of their time is left. The authority before the current one stays trusted, so that no call fails while the server is
 * told of the new one.
 */
export class ServingCertificate implements Disposable {
  readonly #options: ServingCertificateOptions;
  #authorities: readonly KeyPair[];
  #current: KeyPair;
  #timer: Disposable;

  constructor(options: ServingCertificateOptions) {
    this.#options = options;
    this.#authorities = [this.#newAuthority()];
    this.#current = this.#newServing();
    this.#timer = this.#schedule();
  }

  get current(): KeyPair {
    return this.#current;
  }

  /** Those that clients should trust, in the form of a `caBundle`. */
  get caBundle(): string {
    return Buffer.from(this.#authorities.map(({ certificate }) => certificate).join("")).toString("base64");
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #check(): void {
    const isNewAuthority = this.#isDue(this.#authorities[0]!);
    if (isNewAuthority) this.#authorities = [this.#newAuthority(), this.#authorities[0]!];
    if (isNewAuthority || this.#isDue(this.#current)) {
      this.#current = this.#newServing();
      this.#options.onRenewed(isNewAuthority);
    }
    this.#timer = this.#schedule();
  }

  #schedule(): Disposable {
    return this.#options.clock.timer(CHECK_MS, () => this.#check()).unref();
  }

  #isDue({ certificate }: KeyPair): boolean {
    const { fromMs, toMs } = validityOf(certificate);
    const nowMs = this.#options.clock.now();
    return nowMs < fromMs || toMs - nowMs < (toMs - fromMs) * RENEW_AT;
  }

  #newAuthority(): KeyPair {
    const seconds = Math.floor(this.#options.clock.now() / 1000);
    return issueCertificate({
      commonName: `setpoint-webhooks@${seconds}`,
      hosts: [],
      ...this.#validFor(AUTHORITY_DAYS),
    });
  }

  #newServing(): KeyPair {
    const { hosts } = this.#options;
    const options = { commonName: hosts[0] ?? "webhooks", hosts, ...this.#validFor(SERVING_DAYS) };
    return issueCertificate(options, this.#authorities[0]!);
  }

  #validFor(days: number): { notBeforeMs: number; notAfterMs: number; random: Random } {
    const { clock, random } = this.#options;
    const nowMs = clock.now();
    return { notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: nowMs + days * DAY_MS, random };
  }
}
