import { checkKeyPair, type KeyPair } from "../../app/certificates/certificate.js";
import { ServingCertificate } from "../../app/certificates/serving-certificate.js";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import { SetpointError } from "../../errors/error.js";
import { messageOf } from "../../loop/outcome.js";

/** Kubelets update a mounted Secret within about a minute. */
const LOOK_MS = 60_000;

/** The certificate of an endpoint, until disposed. */
export interface EndpointCertificate extends Disposable {
  readonly current: KeyPair;
}

export interface EndpointCertificateOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when `current` has changed. */
  readonly onRenewed: () => void;
  /** The renewal failed; the previous certificate stays. */
  readonly onError: (error: unknown) => void;
}

/**
 * The certificate of a folder, `tls.crt` and `tls.key` as in a mounted Secret, read again each minute. Without a
 * folder, a self-signed certificate, replaced before it expires. Rejects with `METRICS_CERTIFICATE_INVALID`.
 */
export async function endpointCertificate(
  folder: string | undefined,
  options: EndpointCertificateOptions,
): Promise<EndpointCertificate> {
  if (folder !== undefined) return FolderCertificate.open(folder, options);
  const hosts = [process.getBuiltinModule("node:os").hostname(), "localhost", "127.0.0.1"];
  return ServingCertificate.open({ ...options, hosts: [...new Set(hosts)] });
}

class FolderCertificate implements EndpointCertificate {
  readonly #folder: string;
  readonly #options: EndpointCertificateOptions;
  #current: KeyPair;
  #timer: Disposable;
  #isDisposed = false;

  private constructor(folder: string, options: EndpointCertificateOptions, current: KeyPair) {
    this.#folder = folder;
    this.#options = options;
    this.#current = current;
    this.#timer = this.#schedule();
  }

  static async open(folder: string, options: EndpointCertificateOptions): Promise<FolderCertificate> {
    return new FolderCertificate(folder, options, await pairIn(folder));
  }

  get current(): KeyPair {
    return this.#current;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    try {
      const found = await pairIn(this.#folder);
      const isNew = found.certificate !== this.#current.certificate || found.privateKey !== this.#current.privateKey;
      this.#current = found;
      if (isNew && !this.#isDisposed) this.#options.onRenewed();
    } catch (error) {
      if (!this.#isDisposed) this.#options.onError(error);
    }
    if (!this.#isDisposed) this.#timer = this.#schedule();
  }

  #schedule(): Disposable {
    return this.#options.clock.timer(LOOK_MS, () => void this.#look()).unref();
  }
}

async function pairIn(folder: string): Promise<KeyPair> {
  const { readFile } = process.getBuiltinModule("node:fs/promises");
  const { join } = process.getBuiltinModule("node:path");
  try {
    const [certificate, privateKey] = await Promise.all(
      ["tls.crt", "tls.key"].map((name) => readFile(join(folder, name), "utf8")),
    );
    const pair = { certificate: certificate!, privateKey: privateKey! };
    checkKeyPair(pair);
    return pair;
  } catch (cause) {
    const message = `the folder ${folder} has no certificate for metrics: ${messageOf(cause)}`;
    throw new SetpointError("METRICS_CERTIFICATE_INVALID", message, { cause });
  }
}
