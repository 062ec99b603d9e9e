import { goQuote } from "../../api/go-format.js";
import { Range } from "../costs/range.js";
import { BOOL, INT, opaque, STRING } from "../types/type.js";
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
} from "../values/address.js";
import { type CelValue, Failure, OpaqueValue } from "../values/value.js";
import { sizeOf } from "../values/value-type.js";
import { declare, type FunctionCost, type FunctionDeclaration, method, overload } from "./declaration.js";
import { NOMINAL, readingText, TEXT_FACTOR } from "./text-cost.js";

const IP = opaque("net.IP");
const CIDR = opaque("net.CIDR");
const ADDRESS_BYTES = new Range(4n, 16n);

class IpValue extends OpaqueValue {
  readonly type = IP;
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }

  override get size(): number {
    return this.address.length;
  }

  equals(other: OpaqueValue): boolean {
    return isSameAddress(this.address, (other as IpValue).address);
  }

  override toString(): string {
    return formatAddress(this.address);
  }
}

class CidrValue extends OpaqueValue {
  readonly type = CIDR;
  readonly network: Network;

  constructor(network: Network) {
    super();
    this.network = network;
  }

  override get size(): number {
    return Math.ceil(this.network.bits / 8);
  }

  equals(other: OpaqueValue): boolean {
    const { network } = other as CidrValue;
    return network.bits === this.network.bits && isSameAddress(network.address, this.network.address);
  }

  override toString(): string {
    return `${formatAddress(this.network.address)}/${this.network.bits}`;
  }
}

/** IP addresses and networks. */
export const networks: readonly FunctionDeclaration[] = [
  declare(
    "ip",
    [
      overload("string_to_ip", [STRING], IP, (text) => ipOf(text as string)),
      method("cidr_ip", [CIDR], IP, (cidr) => new IpValue((cidr as CidrValue).network.address), NOMINAL),
    ],
    { cost: readingText(1) },
  ),
  declare("isIP", [overload("is_ip", [STRING], BOOL, (text) => !(ipOf(text as string) instanceof Failure))], {
    cost: readingText(1),
  }),
  declare(
    "ip.isCanonical",
    [
      overload("ip_is_canonical", [STRING], BOOL, (text) => {
        const ip = ipOf(text as string);
        return ip instanceof Failure ? ip : String(ip) === text;
      }),
    ],
    { cost: readingText(2) },
  ),
  declare("cidr", [overload("string_to_cidr", [STRING], CIDR, (text) => cidrOf(text as string))], {
    cost: readingText(1),
  }),
  declare("isCIDR", [overload("is_cidr", [STRING], BOOL, (text) => !(cidrOf(text as string) instanceof Failure))], {
    cost: readingText(1),
  }),
  accessor("family", (address) => (address.length === 4 ? 4n : 6n), "ip_family"),
  accessor("isUnspecified", (address) => address.every((byte) => byte === 0), "ip_is_unspecified"),
  accessor("isLoopback", isLoopback, "ip_is_loopback"),
  accessor("isLinkLocalMulticast", isLinkLocalMulticast, "ip_is_link_local_multicast"),
  accessor("isLinkLocalUnicast", isLinkLocalUnicast, "ip_is_link_local_unicast"),
  accessor("isGlobalUnicast", isGlobalUnicast, "ip_is_global_unicast"),
  declare(
    "containsIP",
    [
      method("cidr_contains_ip_string", [CIDR, STRING], BOOL, (cidr, text) => {
        const ip = ipOf(text as string);
        return ip instanceof Failure ? ip : containsIp(cidr!, ip);
      }),
      method("cidr_contains_ip_ip", [CIDR, IP], BOOL, (cidr, ip) => containsIp(cidr!, ip!)),
    ],
    { cost: comparing("cidr_contains_ip_string", false) },
  ),
  declare(
    "containsCIDR",
    [
      method("cidr_contains_cidr_string", [CIDR, STRING], BOOL, (cidr, text) => {
        const other = cidrOf(text as string);
        return other instanceof Failure ? other : containsCidr(cidr!, other);
      }),
      method("cidr_contains_cidr", [CIDR, CIDR], BOOL, (cidr, other) => containsCidr(cidr!, other!)),
    ],
    { cost: comparing("cidr_contains_cidr_string", true) },
  ),
  declare(
    "prefixLength",
    [method("cidr_prefix_length", [CIDR], INT, (cidr) => BigInt((cidr as CidrValue).network.bits))],
    { cost: NOMINAL },
  ),
  declare(
    "masked",
    [
      method("cidr_masked", [CIDR], CIDR, (cidr) => {
        const { network } = cidr as CidrValue;
        return new CidrValue({ address: masked(network), bits: network.bits });
      }),
    ],
    { cost: NOMINAL },
  ),
  declare("string", [
    overload("ip_to_string", [IP], STRING, String),
    overload("cidr_to_string", [CIDR], STRING, String),
  ]),
];

/** The types that the library adds. */
export const networkTypes = [IP, CIDR];

function accessor(name: string, read: (address: Address) => CelValue, id: string): FunctionDeclaration {
  const isCount = name === "family";
  return declare(name, [method(id, [IP], isCount ? INT : BOOL, (ip) => read((ip as IpValue).address))], {
    cost: NOMINAL,
  });
}

function ipOf(text: string): IpValue | Failure {
  try {
    const { address, zone } = parseAddress(text);
    if (zone !== "") return new Failure(`IP address ${goQuote(text)} with zone value is not allowed`);
    if (isMapped(address)) return new Failure(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
    return new IpValue(address);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return new Failure(`IP Address ${goQuote(text)} parse error during conversion from string: ${error.message}`);
  }
}

function cidrOf(text: string): CidrValue | Failure {
  const failed = "network address parse error during conversion from string";
  try {
    const network = parseNetwork(text);
    if (!isMapped(network.address)) return new CidrValue(network);
    return new Failure(`${failed}: IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return new Failure(`${failed}: ${failed}: ${error.message}`);
  }
}

function isMapped(address: Address): boolean {
  return (
    address.length === 16 &&
    address.slice(0, 10).every((byte) => byte === 0) &&
    address[10] === 0xff &&
    address[11] === 0xff
  );
}

function containsIp(cidr: CelValue, ip: CelValue): CelValue {
  return contains((cidr as CidrValue).network, (ip as IpValue).address);
}

function containsCidr(cidr: CelValue, other: CelValue): CelValue {
  const [outer, inner] = [(cidr as CidrValue).network, (other as CidrValue).network];
  return outer.bits <= inner.bits && contains(outer, inner.address);
}

function isLoopback(address: Address): boolean {
  if (address.length === 4) return address[0] === 127;
  return address.slice(0, 15).every((byte) => byte === 0) && address[15] === 1;
}

function isLinkLocalMulticast([a, b, c, ...rest]: Address): boolean {
  return rest.length === 1 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b! & 0x0f) === 0x02;
}

function isLinkLocalUnicast([a, b, ...rest]: Address): boolean {
  return rest.length === 2 ? a === 169 && b === 254 : a === 0xfe && (b! & 0xc0) === 0x80;
}

function isGlobalUnicast(address: Address): boolean {
  const isMulticast = address.length === 4 ? (address[0]! & 0xf0) === 0xe0 : address[0] === 0xff;
  const isBroadcast = address.length === 4 && address.every((byte) => byte === 255);
  const isNowhere = address.every((byte) => byte === 0) || isLoopback(address);
  return !isBroadcast && !isNowhere && !isMulticast && !isLinkLocalUnicast(address);
}

/** Compares two byte lists. Text is parsed first; networks are masked first. */
function comparing(ofText: string, isMasking: boolean): FunctionCost {
  return {
    estimate: ({ overload: id, args: [other] }) => {
      let cost = ADDRESS_BYTES.plus(ADDRESS_BYTES).scaled(TEXT_FACTOR);
      if (isMasking) cost = cost.plus(ADDRESS_BYTES.scaled(TEXT_FACTOR)).plus(Range.one);
      return { cost: id === ofText ? cost.plus(other!.size.scaled(TEXT_FACTOR)) : cost };
    },
    track: ([cidr, other], _result, id) => {
      const size = sizeOf(cidr!);
      const masking = isMasking ? Math.ceil(size * TEXT_FACTOR) + 1 : 0;
      const reading = id === ofText ? Math.ceil(sizeOf(other!) * TEXT_FACTOR) : 0;
      return Math.ceil(2 * size * TEXT_FACTOR) + masking + reading;
    },
  };
}
