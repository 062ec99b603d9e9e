import { Buffer } from "node:buffer";
import { isAlreadyExists, isConflict, isNotFound } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { SetpointError } from "../../errors/error.js";
import { Secret } from "../../kinds/builtin/v1.js";
import { certificatesIn, checkKeyPair } from "./certificate.js";
import type { CertificateState } from "./certificate-state.js";

/** The store of a certificate that several processes share. */
export interface CertificateStore {
  /**
   * Reads the state, passes it to `change`, writes the result if it differs, and returns it. Starts again if another
   * process writes in between.
   */
  update(change: (state: CertificateState | undefined) => CertificateState): Promise<CertificateState>;
}

/** A Secret of type `kubernetes.io/tls` that also has the CA's key. */
export class CertificateSecret implements CertificateStore {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #name: string;

  constructor(client: Client, namespace: string, name: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#name = name;
  }

  async update(change: (state: CertificateState | undefined) => CertificateState): Promise<CertificateState> {
    const metadata = { namespace: this.#namespace, name: this.#name };
    for (;;) {
      const secret = await this.#client.find(Secret, this.#name, { namespace: this.#namespace });
      const known = secret && this.#stateOf(secret);
      const wanted = change(known);
      if (wanted === known) return wanted;
      try {
        if (secret) await this.#client.update(Secret, { ...secret, data: dataOf(wanted) });
        else await this.#client.create(Secret, { metadata, type: "kubernetes.io/tls", data: dataOf(wanted) });
        return wanted;
      } catch (error) {
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
        // A missing namespace is not a conflict with another writer.
        if (isNotFound(error) && !secret) throw error;
      }
    }
  }

  #stateOf({ data = {} }: Secret): CertificateState | undefined {
    try {
      return stateOf(data);
    } catch (cause) {
      const where = `Secret ${this.#namespace}/${this.#name}`;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new SetpointError("WEBHOOK_CERTIFICATE_INVALID", `${where} has no webhook certificate: ${why}`, {
        cause,
      });
    }
  }
}

type SecretData = Readonly<Record<string, string>>;

/** Undefined if the Secret is missing: the caller then makes a new state. Throws if the content is foreign or damaged. */
function stateOf(data: SecretData): CertificateState | undefined {
  if (Object.values(data).every((value) => value === "")) return undefined;
  const text = (name: string): string => {
    const value = Buffer.from(data[name] ?? "", "base64").toString("utf8");
    if (value === "") throw new SetpointError("WEBHOOK_CERTIFICATE_INVALID", `${name} is missing`);
    return value;
  };
  const [certificate, ...former] = certificatesIn(text("ca.crt"));
  const authority = { certificate: certificate ?? "", privateKey: text("ca.key") };
  const serving = { certificate: text("tls.crt"), privateKey: text("tls.key") };
  const formerServing = data["former.crt"] && { certificate: text("former.crt"), privateKey: text("former.key") };
  const pairs = [authority, serving, ...(formerServing ? [formerServing] : [])];
  for (const pair of pairs) checkKeyPair(pair);
  return { authority, formerAuthority: former.join(""), serving, ...(formerServing ? { formerServing } : {}) };
}

function dataOf({ authority, formerAuthority, serving, formerServing }: CertificateState): SecretData {
  const encoded = (text: string): string => Buffer.from(text).toString("base64");
  return {
    "ca.crt": encoded(`${authority.certificate}${formerAuthority}`),
    "ca.key": encoded(authority.privateKey),
    "tls.crt": encoded(serving.certificate),
    "tls.key": encoded(serving.privateKey),
    ...(formerServing && {
      "former.crt": encoded(formerServing.certificate),
      "former.key": encoded(formerServing.privateKey),
    }),
  };
}
