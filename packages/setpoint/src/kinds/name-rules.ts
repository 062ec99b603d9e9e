import {
  DNS_LABEL,
  dnsSubdomain,
  dnsSubdomainPattern,
  isLonger,
  maxCharacters,
  regexComplaint,
} from "./label-rules.js";

/** A rule for names, which gives its complaints in the real server's wording. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

const DNS_1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?";

const dnsLabelPattern = new RegExp(`^${DNS_LABEL}$`);
const dns1035LabelPattern = new RegExp(`^${DNS_1035_LABEL}$`);

/** A generated name gets a suffix: a dash at its end is fine. */
const masked = (name: string, isPrefix: boolean): string =>
  isPrefix && name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;

/** `my-name`, of at most 63 characters. */
export function dnsLabel(value: string): readonly string[] {
  const complaints = isLonger(value, 63) ? [maxCharacters(63)] : [];
  if (value.length <= 4096 && dnsLabelPattern.test(value)) return complaints;
  if (dnsSubdomainPattern.test(value.slice(0, 4096))) return [...complaints, "must not contain dots"];
  return [
    ...complaints,
    regexComplaint(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      DNS_LABEL,
      "my-name",
      "123-abc",
    ),
  ];
}

/** A DNS label that begins with a letter. */
export function dns1035Label(value: string): readonly string[] {
  const complaints = isLonger(value, 63) ? [maxCharacters(63)] : [];
  if (value.length <= 4096 && dns1035LabelPattern.test(value)) return complaints;
  return [
    ...complaints,
    regexComplaint(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      DNS_1035_LABEL,
      "my-name",
      "abc-123",
    ),
  ];
}

/** For most objects: a DNS subdomain. */
export const subdomainName: NameRule = (name, isPrefix) => dnsSubdomain(masked(name, isPrefix));
/** For namespaces: a DNS label. */
export const labelName: NameRule = (name, isPrefix) => dnsLabel(masked(name, isPrefix));
/** For services: a DNS label that begins with a letter. */
export const label1035Name: NameRule = (name, isPrefix) => dns1035Label(masked(name, isPrefix));

/** For RBAC: anything that can be one segment of a path. */
export const pathSegmentName: NameRule = (name, isPrefix) => {
  if (isPrefix) return pathSegmentPrefix(name);
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return pathSegmentPrefix(name);
};

function pathSegmentPrefix(name: string): readonly string[] {
  return ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}
