import { goQuote } from "../../api/go-format.js";
import { isArray, type Json } from "../../api/json.js";
import { formatAddress, isSameAddress, masked } from "../../cel/values/address.js";
import {
  isMapped,
  looseAddress,
  looseRange,
  rangeText,
  strictAddress,
  strictRange,
  unmapped,
} from "../validation/address-rules.js";

/** Warnings about the notation of an address. */
export function addressWarnings(value: Json | undefined, path: string): readonly string[] {
  const text = String(value ?? "");
  const address = looseAddress(text);
  if (address === undefined) return [];
  const strict = strictAddress(text);
  if (strict === undefined || isMapped(strict)) {
    const better = goQuote(formatAddress(unmapped(address)));
    return [`${path}: non-standard IP address ${goQuote(text)} is invalid: use ${better}`];
  }
  return inShortForm(`${path}: IPv6 address`, text, formatAddress(strict));
}

/** Warnings about the notation of an address range. */
export function rangeWarnings(value: Json | undefined, path: string): readonly string[] {
  const text = String(value ?? "");
  const range = looseRange(text);
  if (range === undefined) return [];
  const { address, bits } = range;
  const network = { address: masked(range), bits };
  const strict = strictRange(text);
  const warnings: string[] = [];
  if (!isSameAddress(address, network.address)) {
    const single = `${formatAddress(unmapped(address))}/${address.length * 8}`;
    const choice = `${goQuote(rangeText(network))} or ${goQuote(single)}`;
    warnings.push(`${path}: CIDR value ${goQuote(text)} is ambiguous in this context (should be ${choice}?)`);
  }
  if (strict === undefined || isMapped(strict.address)) {
    warnings.push(`${path}: non-standard CIDR value ${goQuote(text)} is invalid: use ${goQuote(rangeText(network))}`);
  }
  return warnings.length > 0 ? warnings : inShortForm(`${path}: IPv6 CIDR value`, text, rangeText(range));
}

/** The warnings of each item of a list. */
export function eachWarnings(
  warningsOf: (value: Json | undefined, path: string) => readonly string[],
  values: Json | undefined,
  path: string,
): readonly string[] {
  return isArray(values) ? values.flatMap((value, index) => warningsOf(value, `${path}[${index}]`)) : [];
}

function inShortForm(what: string, text: string, short: string): readonly string[] {
  if (text === short || !text.includes(":")) return [];
  return [`${what} ${goQuote(text)} should be in RFC 5952 canonical format (${goQuote(short)})`];
}
