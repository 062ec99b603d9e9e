export const DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`;
const LABEL_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${LABEL_KEY})?`;

export const dnsSubdomainPattern = new RegExp(`^${DNS_SUBDOMAIN}$`);
const labelKeyPattern = new RegExp(`^${LABEL_KEY}$`);
const labelValuePattern = new RegExp(`^${LABEL_VALUE}$`);

/** That a text is not of a pattern, with examples. */
export function regexComplaint(message: string, pattern: string, ...examples: string[]): string {
  const quoted = examples.map((example) => `'${example}', `).join(" or ");
  return `${message} (e.g. ${quoted}regex used for validation is '${pattern}')`;
}

const maxBytes = (length: number): string => `must be no more than ${length} bytes`;
/** Names are measured in bytes as well, and complained of in characters. */
export const maxCharacters = (length: number): string => `must be no more than ${length} characters`;
export const isLonger = (text: string, length: number): boolean =>
  text.length > length || (text.length * 3 > length && Buffer.byteLength(text) > length);

/** `example.com`: lower-case labels with dots between them, of at most 253 characters. No complaints: it is one. */
export function dnsSubdomain(value: string, maximum = maxCharacters): readonly string[] {
  // The pattern is linear only on bounded input.
  const complaints = isLonger(value, 253) ? [maximum(253)] : [];
  if (value.length <= 4096 && dnsSubdomainPattern.test(value)) return complaints;
  return [
    ...complaints,
    regexComplaint(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      DNS_SUBDOMAIN,
      "example.com",
    ),
  ];
}

const LABEL_KEY_MESSAGE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** A label key, an annotation key (in lower case) or a finalizer: `name` or `prefix.example.com/name`. */
export function qualifiedName(value: string): readonly string[] {
  if (value.length <= 63 && labelKeyPattern.test(value)) return [];
  const parts = value.split("/", 3);
  const form = regexComplaint(LABEL_KEY_MESSAGE, LABEL_KEY, "MyName", "my.name", "123-abc");
  if (parts.length > 2) {
    return [`a valid label key ${form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1)!;
  const complaints: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0]!;
    const ofPrefix = prefix === "" ? ["must be non-empty"] : dnsSubdomain(prefix, maxBytes);
    complaints.push(...ofPrefix.map((complaint) => `prefix part ${complaint}`));
  }
  if (name === "") complaints.push("name part must be non-empty");
  else if (isLonger(name, 63)) complaints.push(`name part ${maxBytes(63)}`);
  if (!labelKeyPattern.test(name)) complaints.push(`name part ${form}`);
  return complaints;
}

/** The value of a label; the empty text is one. */
export function labelValue(value: string): readonly string[] {
  const complaints = isLonger(value, 63) ? [maxBytes(63)] : [];
  if (labelValuePattern.test(value)) return complaints;
  const message =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [...complaints, regexComplaint(message, LABEL_VALUE, "MyValue", "my_value", "12345")];
}
