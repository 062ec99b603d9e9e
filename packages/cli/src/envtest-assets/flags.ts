/** The supported flags, as `--help` lists them; all other flags of kube-apiserver are accepted and ignored. */
export const API_SERVER_FLAGS = [
  "bind-address",
  "cert-dir",
  "client-ca-file",
  "disable-admission-plugins",
  "etcd-servers",
  "secure-port",
  "service-account-issuer",
  "service-account-key-file",
  "service-account-signing-key-file",
  "tls-cert-file",
  "tls-private-key-file",
  "token-auth-file",
] as const;

export const ETCD_FLAGS = ["data-dir", "listen-client-urls", "unsafe-no-fsync"] as const;

/** `--name=value`, `--name value` and `--name`, the last one of each. */
export class Flags {
  readonly #values = new Map<string, string>();

  constructor(args: readonly string[]) {
    for (let at = 0; at < args.length; at++) {
      const [, name, value] = /^--?([^=]+)(?:=(.*))?$/s.exec(args[at]!) ?? [];
      if (name === undefined) continue;
      const next = args[at + 1];
      const isApart = value === undefined && next !== undefined && !next.startsWith("-");
      this.#values.set(name, value ?? (isApart ? args[++at]! : "true"));
    }
  }

  get(name: string): string | undefined {
    return this.#values.get(name) || undefined;
  }
}
