import { isIP } from "node:net";
import type { NameRule } from "../../metadata/name-rules.js";
import { text } from "./rule.js";

/** Addresses as Go reads them: zones are for nobody. */
export function isIp(value: string): boolean {
  return !value.includes("%") && isIP(value) !== 0;
}

export const ipAddress = text((value) =>
  isIp(value) ? [] : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"],
);

/** An address that stands for itself as a name has one form. */
export const addressName: NameRule = (name) => {
  if (!isIp(name)) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
  const canonical = isIP(name) === 4 ? name : new URL(`http://[${name}]`).hostname.slice(1, -1);
  return canonical === name ? [] : [`must be in canonical form ("${canonical}")`];
};

export function isCidr(value: string): boolean {
  const [address = "", bits = "", ...rest] = value.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return Number(bits) <= (family === 4 ? 32 : 128);
}

export const cidr = text((value) =>
  isCidr(value) ? [] : ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"],
);

/** The bits of an address and how many of them count. */
export function parseCidr(value: string): { readonly bits: bigint; readonly length: number; readonly width: number } {
  const [address = "", length = "0"] = value.split("/");
  const width = isIP(address) === 4 ? 32 : 128;
  return { bits: addressBits(address), length: Number(length), width };
}

export function addressBits(address: string): bigint {
  if (isIP(address) === 4) return address.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
  const [head = "", tail] = address.split("::");
  const words = (part: string): readonly string[] => (part === "" ? [] : part.split(":"));
  const first = words(head);
  const last = tail === undefined ? [] : words(tail);
  const zeros = new Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0");
  return [...first, ...zeros, ...last].reduce((bits, word) => (bits << 16n) | BigInt(`0x${word}`), 0n);
}

/** Whether the second lies within the first. */
export function containsCidr(outer: string, inner: string): boolean {
  const [one, other] = [parseCidr(outer), parseCidr(inner)];
  if (one.width !== other.width) return false;
  const shift = BigInt(one.width - one.length);
  return one.bits >> shift === other.bits >> shift;
}
