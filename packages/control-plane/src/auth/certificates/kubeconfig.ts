import type { KeyPair } from "./certificate.js";

/** How a client reaches the server and authenticates. */
export interface KubeconfigOptions {
  /** The name of the cluster and its context. */
  readonly name: string;
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
  readonly user: { readonly name: string } & (KeyPair | { readonly token: string });
}

/**
 * The text of a kubeconfig with all credentials embedded. Holds a private key: write it with mode 0600.
 *
 * Formatted by hand: loading a library for these lines would take a tenth of the startup time.
 */
export function kubeconfig({ name, server, authority, user }: KubeconfigOptions): string {
  const text = JSON.stringify;
  const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
  const credentials =
    "token" in user
      ? [`      token: ${text(user.token)}`]
      : [
          `      client-certificate-data: ${base64(user.certificate)}`,
          `      client-key-data: ${base64(user.privateKey)}`,
        ];
  const lines = [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    `  - name: ${text(name)}`,
    "    cluster:",
    `      server: ${text(server)}`,
    `      certificate-authority-data: ${base64(authority)}`,
    "users:",
    `  - name: ${text(user.name)}`,
    "    user:",
    ...credentials,
    "contexts:",
    `  - name: ${text(name)}`,
    "    context:",
    `      cluster: ${text(name)}`,
    `      user: ${text(user.name)}`,
    `current-context: ${text(name)}`,
  ];
  return `${lines.join("\n")}\n`;
}
