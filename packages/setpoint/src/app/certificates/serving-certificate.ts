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

/** How often is looked: wall clocks jump, machines sleep and other processes renew, so that one long timer would not do. */
const CHECK_MS = 3_600_000;

export interface ServingCertificateOptions extends IssueOptions {
  /** Shared with other processes. Left out, the certificate is this one's alone. */
  readonly store?: CertificateStore;
  /** The authorities that callers trust so far, as PEM, where the store should hold none: other processes still show theirs. */
  readonly trusted?: () => Promise<string>;
  /** Called with each new certificate; the authorities have changed where `isNewAuthority`. */
  readonly onRenewed: (isNewAuthority: boolean) => void;
  /** Called after each look that found no other authority: for what else is to be looked after as often. */
  readonly onLooked?: () => void;
  /** The store could not be read; the next try is in an hour. */
  readonly onError?: (error: unknown) => void;
}

/** The certificate that a webhook server shows, with an authority of its own, both replaced on the clock before they end. */
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

  /** What to show at first, where callers need so long to trust a new authority. */
  shownAtStart(trustMs: number): KeyPair {
    return shownAtStart(this.#state, this.#options.clock.now(), trustMs);
  }

  /** Those that callers should trust. */
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
