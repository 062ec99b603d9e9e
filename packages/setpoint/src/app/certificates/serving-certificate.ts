import type { KeyPair } from "./certificate.js";
import type { CertificateStore } from "./certificate-secret.js";
import {
  type CertificateState,
  caBundleOf,
  goodAuthorities,
  type IssueOptions,
  renewed,
  shownAtStart,
} from "./certificate-state.js";

/** Poll interval. Wall clocks jump, machines sleep and other processes renew the certificate, so one long timer is unsafe. */
const CHECK_MS = 3_600_000;

export interface ServingCertificateOptions extends IssueOptions {
  /** Shared with other processes. Without it, the certificate belongs to this process alone. */
  readonly store?: CertificateStore;
  /**
   * The CAs that callers trust so far, as PEM, in case the store is empty: other processes may still present their
   * certificates.
   */
  readonly trusted?: () => Promise<string>;
  /** Called with each new certificate; `isNewAuthority` if the CAs have changed as well. */
  readonly onRenewed: (isNewAuthority: boolean) => void;
  /** Called after each poll that found the same CA, for other work at the same interval. */
  readonly onLooked?: () => void;
  /** The store could not be read. The next attempt is in an hour. */
  readonly onError?: (error: unknown) => void;
}

/** The certificate of a webhook server, with its own CA. Both are replaced before they expire. */
export class ServingCertificate implements Disposable {
  readonly #options: ServingCertificateOptions;
  #state: CertificateState;
  #timer: Disposable;
  #isDisposed = false;

  private constructor(options: ServingCertificateOptions, state: CertificateState) {
    this.#options = options;
    this.#state = state;
    this.#timer = this.#schedule();
  }

  /** Rejects with the store's error. */
  static async open(options: ServingCertificateOptions): Promise<ServingCertificate> {
    return new ServingCertificate(options, await newest(undefined, options));
  }

  get current(): KeyPair {
    return this.#state.serving;
  }

  /** The certificate to present first, if callers need this long to trust a new CA. */
  shownAtStart(trustMs: number): KeyPair {
    return shownAtStart(this.#state, this.#options.clock.now(), trustMs);
  }

  /** The CAs that callers should trust. */
  get caBundle(): string {
    return caBundleOf(this.#state);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer[Symbol.dispose]();
  }

  async #check(): Promise<void> {
    const before = this.#state;
    try {
      this.#state = await newest(before, this.#options);
    } catch (error) {
      this.#options.onError?.(error);
    }
    if (this.#isDisposed) return;
    this.#timer = this.#schedule();
    const isNew = this.#state.serving.certificate !== before.serving.certificate;
    const isNewAuthority = isNew && caBundleOf(this.#state) !== caBundleOf(before);
    if (isNew) this.#options.onRenewed(isNewAuthority);
    if (!isNewAuthority) this.#options.onLooked?.();
  }

  #schedule(): Disposable {
    return this.#options.clock.timer(CHECK_MS, () => void this.#check()).unref();
  }
}

/** The stored state; if that is gone, the state of this process; if there is none, a new one. */
async function newest(
  state: CertificateState | undefined,
  options: ServingCertificateOptions,
): Promise<CertificateState> {
  const { store, trusted, clock } = options;
  const former = state || !trusted ? "" : goodAuthorities(await trusted(), clock.now());
  return store ? store.update((stored) => renewed(stored ?? state, options, former)) : renewed(state, options);
}
