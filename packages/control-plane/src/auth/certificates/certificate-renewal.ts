import type { Clock } from "setpoint/clock";
import type { KeyPair } from "./certificate.js";
import type { CertificateAuthority } from "./certificate-authority.js";

/** Poll interval. Wall clocks jump and machines sleep, so one long timer is unsafe. */
const CHECK_MS = 3_600_000;

export interface RenewalOptions {
  readonly authority: CertificateAuthority;
  /** The clock of the authority. */
  readonly clock: Clock;
  readonly current: KeyPair;
  readonly issue: () => KeyPair;
  /** Called with each new certificate. */
  readonly onRenewed: (pair: KeyPair) => void;
}

/** Renews a certificate before it expires, until disposed. Does not keep the process alive. */
export function renewCertificate({ authority, clock, current, issue, onRenewed }: RenewalOptions): Disposable {
  let pair = current;
  let timer: Disposable;
  const check = (): void => {
    if (authority.isDue(pair.certificate)) {
      pair = issue();
      onRenewed(pair);
    }
    schedule();
  };
  const schedule = (): void => {
    timer = clock.timer(CHECK_MS, check).unref();
  };
  schedule();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
