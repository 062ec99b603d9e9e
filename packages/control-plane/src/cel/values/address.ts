import { goQuote } from "../../api/go-format.js";

/** The 4 or 16 bytes of an IP address. */
export type Address = readonly number[];

/** Thrown for text that is not an address. The message is that of Go's `netip`. */
export class AddressError extends Error {}

/** Parses an address like Go. Returns the zone separately: no caller accepts one. */
export function parseAddress(text: string): { readonly address: Address; readonly zone: string } {
  switch (/[.:%]/.exec(text)?.[0]) {
    case ".":
      return { address: parseFields(text, text), zone: "" };
    case ":":
      return new LongAddress(text).parse();
    case "%":
      throw refused(text, "missing IPv6 address");
    default:
      throw refused(text, "unable to parse IP");
  }
}

export interface Network {
  readonly address: Address;
  readonly bits: number;
}

export function parseNetwork(text: string): Network {
  const refuse = (why: string): AddressError => new AddressError(`netip.ParsePrefix(${goQuote(text)}): ${why}`);
  const slash = text.lastIndexOf("/");
  if (slash < 0) throw refuse("no '/'");
  const { address, zone } = attempt(() => parseAddress(text.slice(0, slash)), refuse);
  if (zone !== "") throw refuse("IPv6 zones cannot be present in a prefix");
  const length = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d*)$/.test(length)) throw refuse(`bad bits after slash: ${goQuote(length)}`);
  if (Number(length) > address.length * 8) throw refuse("prefix length out of range");
  return { address, bits: Number(length) };
}

function attempt<Result>(work: () => Result, refuse: (why: string) => AddressError): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof AddressError ? refuse(error.message) : error;
  }
}

function refused(text: string, why: string, at = ""): AddressError {
  return new AddressError(`ParseAddr(${goQuote(text)}): ${why}${at === "" ? "" : ` (at ${goQuote(at)})`}`);
}

/** Parses four dotted numbers. Errors name `whole`. */
function parseFields(whole: string, text: string): number[] {
  const fields: number[] = [];
  let digits = "";
  for (const [index, character] of [...text].entries()) {
    if (/\d/.test(character)) {
      if (digits === "0") throw refused(whole, "IPv4 field has octet with leading zero");
      digits += character;
      if (Number(digits) > 255) throw refused(whole, "IPv4 field has value >255");
    } else if (character === ".") {
      if (digits === "" || index === text.length - 1) {
        throw refused(whole, "IPv4 field must have at least one digit", text.slice(index));
      }
      if (fields.length === 3) throw refused(whole, "IPv4 address too long");
      fields.push(Number(digits));
      digits = "";
    } else throw refused(whole, "unexpected character", text.slice(index));
  }
  if (fields.length < 3) throw refused(whole, "IPv4 address too short");
  return [...fields, Number(digits)];
}

/** Parses an IPv6 address from left to right. */
class LongAddress {
  readonly #text: string;
  readonly #bytes: number[] = [];
  #rest: string;
  /** Position of `::` among the bytes. */
  #gap = -1;

  constructor(text: string) {
    this.#text = text;
    this.#rest = text;
  }

  parse(): { readonly address: Address; readonly zone: string } {
    const [address = "", zone] = split(this.#text, "%");
    if (zone === "") throw this.#refused("zone must be a non-empty string");
    this.#rest = address;
    if (address.startsWith("::")) {
      this.#gap = 0;
      this.#rest = address.slice(2);
    }
    while (this.#bytes.length < 16 && this.#rest !== "") if (!this.#group()) break;
    if (this.#rest !== "") throw this.#refused("trailing garbage after address", this.#rest);
    return { address: this.#expanded(), zone: zone ?? "" };
  }

  /** Reads one group and its separator. Returns false at the end. */
  #group(): boolean {
    const [digits = ""] = /^[0-9a-fA-F]*/.exec(this.#rest)!;
    if (digits.length > 4) throw this.#refused("each group must have 4 or less digits", this.#rest);
    if (digits === "") {
      throw this.#refused("each colon-separated field must have at least one digit", this.#rest);
    }
    if (this.#rest[digits.length] === ".") {
      this.#embedded();
      return false;
    }
    const value = Number.parseInt(digits, 16);
    this.#bytes.push(value >> 8, value & 255);
    this.#rest = this.#rest.slice(digits.length);
    if (this.#rest === "") return false;
    if (!this.#rest.startsWith(":")) throw this.#refused("unexpected character, want colon", this.#rest);
    if (this.#rest === ":") throw this.#refused("colon must be followed by more characters", this.#rest);
    this.#rest = this.#rest.slice(1);
    if (this.#rest.startsWith(":")) {
      if (this.#gap >= 0) throw this.#refused("multiple :: in address", this.#rest);
      this.#gap = this.#bytes.length;
      this.#rest = this.#rest.slice(1);
    }
    return this.#rest !== "";
  }

  #embedded(): void {
    if (this.#gap < 0 && this.#bytes.length !== 12) {
      const why = "embedded IPv4 address must replace the final 2 fields of the address";
      throw this.#refused(why, this.#rest);
    }
    if (this.#bytes.length + 4 > 16) {
      const why = "too many hex fields to fit an embedded IPv4 at the end of the address";
      throw this.#refused(why, this.#rest);
    }
    this.#bytes.push(...parseFields(this.#text, this.#rest));
    this.#rest = "";
  }

  #expanded(): Address {
    const missing = 16 - this.#bytes.length;
    if (missing === 0) {
      if (this.#gap >= 0) throw this.#refused("the :: must expand to at least one field of zeros");
      return this.#bytes;
    }
    if (this.#gap < 0) throw this.#refused("address string too short");
    const zeros = new Array<number>(missing).fill(0);
    return [...this.#bytes.slice(0, this.#gap), ...zeros, ...this.#bytes.slice(this.#gap)];
  }

  #refused(why: string, at?: string): AddressError {
    return refused(this.#text, why, at);
  }
}

function split(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** The shortest form: omits the longest run of at least two zero groups. */
export function formatAddress(address: Address): string {
  if (address.length === 4) return address.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => address[index * 2]! * 256 + address[index * 2 + 1]!);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  const shown = groups.map((group) => group.toString(16));
  if (best.start < 0) return shown.join(":");
  return `${shown.slice(0, best.start).join(":")}::${shown.slice(best.start + best.length).join(":")}`;
}

/** Clears the bits after the prefix. */
export function masked({ address, bits }: Network): Address {
  return address.map((byte, index) => {
    const kept = Math.max(0, Math.min(8, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

export function contains(network: Network, address: Address): boolean {
  return address.length === network.address.length && isSameAddress(masked({ ...network, address }), masked(network));
}

export function isSameAddress(a: Address, b: Address): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
