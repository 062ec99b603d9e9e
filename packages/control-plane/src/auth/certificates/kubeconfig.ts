import { yaml } from "../../yaml.js";
import type { KeyPair } from "./certificate.js";

/** How a client reaches the server and proves who it is. */
export interface KubeconfigOptions {
  /** Names the cluster and its context. */
  readonly name: string;
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
  readonly user: { readonly name: string } & (KeyPair | { readonly token: string });
}

/** The text of a kubeconfig with everything embedded. Holds a private key: write it with mode 0600. */
export function kubeconfig({ name, server, authority, user }: KubeconfigOptions): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const credentials =
    "token" in user
      ? { token: user.token }
      : {
          "client-certificate-data": base64(user.certificate),
          "client-key-data": base64(user.privateKey),
        };
  return yaml().stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server, "certificate-authority-data": base64(authority) } }],
      users: [{ name: user.name, user: credentials }],
      contexts: [{ name, context: { cluster: name, user: user.name } }],
      "current-context": name,
    },
    { lineWidth: 0 },
  );
}
