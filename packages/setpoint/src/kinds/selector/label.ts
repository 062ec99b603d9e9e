const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_SUBDOMAIN = new RegExp(`^${DNS_LABEL}(\\.${DNS_LABEL})*$`);

/** Why `key` cannot be the key of a label or an annotation (`app.kubernetes.io/name`); undefined if it can. */
export function labelKeyProblem(key: string): string | undefined {
  const parts = key.split("/");
  const name = parts.at(-1)!;
  if (parts.length > 2) return "has more than one slash";
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix.length === 0) return "has an empty prefix";
    if (prefix.length > 253) return "has a prefix of more than 253 characters";
    if (!DNS_SUBDOMAIN.test(prefix)) return "has a prefix that is no lower-case DNS name";
  }
  if (name.length === 0) return "has an empty name";
  if (name.length > 63) return "has a name of more than 63 characters";
  if (!NAME.test(name)) return "may hold letters, digits, '-', '_' and '.', and begins and ends with a letter or digit";
  return undefined;
}

/** Why `value` cannot be the value of a label; undefined if it can. The empty value is a valid one. */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return "is longer than 63 characters";
  if (value !== "" && !NAME.test(value)) {
    return "may hold letters, digits, '-', '_' and '.', and begins and ends with a letter or digit";
  }
  return undefined;
}
