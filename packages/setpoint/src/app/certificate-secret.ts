import { Buffer } from "node:buffer";
import { isAlreadyExists, isConflict, isNotFound } from "../client/api-error.js";
import type { Client } from "../client/client.js";
import { Secret } from "../kinds/builtin/v1.js";
import type { CertificateState } from "./certificate-state.js";

/** Where several processes keep the certificate that all of them show. */
export interface CertificateStore {
  /**
   * Reads what is there, writes what `change` makes of it where that is another, and gives the outcome. Where somebody
   * else writes meanwhile, begins again.
   */
  update(change: (state: CertificateState | undefined) => CertificateState): Promise<CertificateState>;
}

/** A Secret of type `kubernetes.io/tls`, with the authority's key beside. */
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
      const known = secret && stateOf(secret.data ?? {});
      const wanted = change(known);
      if (wanted === known) return wanted;
      try {
        if (secret) await this.#client.update(Secret, { ...secret, data: dataOf(wanted) });
        else await this.#client.create(Secret, { metadata, type: "kubernetes.io/tls", data: dataOf(wanted) });
        return wanted;
      } catch (error) {
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
        // A namespace that is not there is no conflict with others.
        if (isNotFound(error) && !secret) throw error;
      }
    }
  }
}

type SecretData = Readonly<Record<string, string>>;

/** Undefined where something is missing: then all is made anew. */
function stateOf(data: SecretData): CertificateState | undefined {
  const text = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString("utf8");
  const [certificate, ...former] = text("ca.crt").match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----\n/g) ?? [];
  const authority = { certificate: certificate ?? "", privateKey: text("ca.key") };
  const serving = { certificate: text("tls.crt"), privateKey: text("tls.key") };
  const isWhole = [...Object.values(authority), ...Object.values(serving)].every((part) => part !== "");
  return isWhole ? { authority, formerAuthority: former.join(""), serving } : undefined;
}

function dataOf({ authority, formerAuthority, serving }: CertificateState): SecretData {
  const encoded = (text: string): string => Buffer.from(text).toString("base64");
  return {
    "ca.crt": encoded(`${authority.certificate}${formerAuthority}`),
    "ca.key": encoded(authority.privateKey),
    "tls.crt": encoded(serving.certificate),
    "tls.key": encoded(serving.privateKey),
  };
}
