import type { NameRule } from "setpoint/kinds";
import {
  type Address,
  AddressError,
  contains,
  formatAddress,
  isSameAddress,
  masked,
  type Network,
  parseAddress,
  parseNetwork,
} from "../../cel/values/address.js";
import { text } from "./rule.js";

const NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const ZEROS = /(^|[.:/])0+(?=[0-9a-f])/gi;

/** Strips leading zeros. kube-apiserver once accepted them and reports them separately. */
const withoutZeros = (value: string): string => value.replace(ZEROS, "$1");

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof AddressError) return undefined;
    throw error;
  }
}

/** Parses an address as kube-apiserver does now; undefined if invalid. Zones are invalid. */
export function strictAddress(value: string): Address | undefined {
  const parsed = attempt(() => parseAddress(value));
  return parsed?.zone === "" ? parsed.address : undefined;
}

export function strictRange(value: string): Network | undefined {
  return attempt(() => parseNetwork(value));
}

/** Parses an address as kube-apiserver once did, with leading zeros. */
export const looseAddress = (value: string): Address | undefined => strictAddress(withoutZeros(value));
export const looseRange = (value: string): Network | undefined => strictRange(withoutZeros(value));

/** Whether an IPv6 address is an IPv4-mapped one. */
export function isMapped(address: Address): boolean {
  return address.length === 16 && address.slice(0, 12).join() === "0,0,0,0,0,0,0,0,0,0,255,255";
}

/** Converts an IPv4-mapped address to IPv4. */
export const unmapped = (address: Address): Address => (isMapped(address) ? address.slice(12) : address);

function addressComplaints(value: string): readonly string[] {
  if (looseAddress(value) === undefined) return [NO_ADDRESS];
  const address = strictAddress(value);
  if (address === undefined) return ["must not have leading 0s"];
  return isMapped(address) ? ["must not be an IPv4-mapped IPv6 address"] : [];
}

function rangeComplaints(value: string): readonly string[] {
  if (looseRange(value) === undefined) return [NO_RANGE];
  const range = strictRange(value);
  if (range === undefined) return ["must not have leading 0s in IP or prefix length"];
  if (isMapped(range.address)) return ["must not have an IPv4-mapped IPv6 address"];
  return isSameAddress(range.address, masked(range)) ? [] : ["must not have bits set beyond the prefix length"];
}

export const rangeText = ({ address, bits }: Network): string => `${formatAddress(address)}/${bits}`;

/** Accepts only the canonical form. */
function inOneForm(
  complaintsOf: (value: string) => readonly string[],
  canonical: (value: string) => string,
): (value: string) => readonly string[] {
  return (value) => {
    const complaints = complaintsOf(value);
    if (complaints.length > 0 || canonical(value) === value) return complaints;
    return [`must be in canonical form ("${canonical(value)}")`];
  };
}

const oneAddress = inOneForm(addressComplaints, (value) => formatAddress(strictAddress(value)!));

export const isIp = (value: string): boolean => looseAddress(value) !== undefined;
export const isCidr = (value: string): boolean => looseRange(value) !== undefined;

export const ipAddress = text(addressComplaints);
export const cidr = text(rangeComplaints);
/** For newer fields, which accept only the canonical form. */
export const canonicalAddress = text(oneAddress);
export const canonicalCidr = text(inOneForm(rangeComplaints, (value) => rangeText(strictRange(value)!)));

/** An address that serves as an object's name must be canonical. */
export const addressName: NameRule = (name) => oneAddress(name);

/** Whether the second network lies within the first and is smaller. */
export function isWithin(outer: Network, inner: Network): boolean {
  return outer.bits < inner.bits && contains(outer, inner.address);
}
