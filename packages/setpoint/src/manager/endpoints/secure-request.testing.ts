import { get } from "node:https";
import type { TLSSocket } from "node:tls";

export interface SecureAnswer {
  readonly status: number;
  /** The names of the server's certificate: `DNS:localhost`. */
  readonly hosts: string | undefined;
}

/** Sends a request over a new connection and accepts any certificate. */
export function secureRequest(url: string, headers: Readonly<Record<string, string>> = {}): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false, headers }, (response) => {
      const { subjectaltname } = (response.socket as TLSSocket).getPeerCertificate();
      response.resume();
      resolve({ status: response.statusCode!, hosts: subjectaltname });
    }).on("error", reject);
  });
}
