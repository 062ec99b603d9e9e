import { get } from "node:https";
import type { TLSSocket } from "node:tls";

export interface SecureAnswer {
  readonly status: number;
  /** Of the certificate that was shown: `DNS:localhost`. */
  readonly hosts: string | undefined;
}

/** Asks over a connection of its own, whatever certificate is shown. */
export function secureRequest(url: string, headers: Readonly<Record<string, string>> = {}): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false, headers }, (response) => {
      const { subjectaltname } = (response.socket as TLSSocket).getPeerCertificate();
      response.resume();
      resolve({ status: response.statusCode!, hosts: subjectaltname });
    }).on("error", reject);
  });
}
