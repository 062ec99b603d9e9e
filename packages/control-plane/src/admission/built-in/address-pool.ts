import type { Random } from "setpoint/clock";
import { isArray, type Json } from "../../api/json.js";
import { internalError } from "../../api/status-error.js";
import type { Storage } from "../../storage/storage.js";
import { portsOf, specOf } from "./service-spec.js";

const SERVICES = "/services";
/**
 * 10.0.0.1 belongs to the API server. Addresses below `chosen` are kept for Services that request a specific address.
 */
const RANGE = { pattern: /^10\.0\.\d{1,3}\.\d{1,3}$/, first: 2, chosen: 257, last: 65_534 };
const PORTS = { first: 30_000, chosen: 30_086, last: 32_767 };
/** Number of recent allocations to remember, because their Services may not be stored yet. */
const REMEMBERED = 256;

const addressAt = (number: number): string => `10.0.${number >> 8}.${number & 255}`;

/** Allocates cluster IPs and node ports that no stored Service uses. */
export class AddressPool {
  readonly #storage: Storage;
  readonly #random: Random;
  readonly #recent: (string | number)[] = [];

  constructor(storage: Storage, random: Random) {
    this.#storage = storage;
    this.#random = random;
  }

  address(): string {
    const { addresses } = this.#used();
    const at = this.#free(RANGE, (number) => this.#isTaken(addresses, addressAt(number)));
    return this.#remember(addressAt(at));
  }

  port(): number {
    const { ports } = this.#used();
    return this.#remember(this.#free(PORTS, (number) => this.#isTaken(ports, number)));
  }

  refusalOfAddress(address: string): string | undefined {
    if (!RANGE.pattern.test(address)) return "the provided network does not match the current range";
    return this.#used().addresses.has(address) ? "provided IP is already allocated" : undefined;
  }

  refusalOfPort(port: number): string | undefined {
    if (port < PORTS.first || port > PORTS.last) {
      return `provided port is not in the valid range. The range of valid ports is ${PORTS.first}-${PORTS.last}`;
    }
    return this.#used().ports.has(port) ? "provided port is already allocated" : undefined;
  }

  #isTaken(used: ReadonlySet<Json>, value: string | number): boolean {
    return used.has(value) || this.#recent.includes(value);
  }

  /** The first free number from a random start. Uses numbers below `chosen` only if all others are taken. */
  #free({ first, chosen, last }: typeof RANGE | typeof PORTS, isTaken: (number: number) => boolean): number {
    for (const [from, to] of [
      [chosen, last],
      [first, chosen - 1],
    ] as const) {
      const size = to - from + 1;
      const start = Math.floor(this.#random.next() * size);
      for (let step = 0; step < size; step++) {
        const number = from + ((start + step) % size);
        if (!isTaken(number)) return number;
      }
    }
    throw internalError("failed to allocate a serviceIP: range is full");
  }

  #remember<Value extends string | number>(value: Value): Value {
    this.#recent.push(value);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    return value;
  }

  #used(): { readonly addresses: Set<Json>; readonly ports: Set<Json> } {
    const addresses = new Set<Json>();
    const ports = new Set<Json>();
    for (const { object } of this.#storage.snapshot(SERVICES)!.entries()) {
      const spec = specOf(object);
      for (const address of isArray(spec.clusterIPs) ? spec.clusterIPs : []) addresses.add(address);
      for (const { nodePort } of portsOf(spec)) if (nodePort) ports.add(nodePort);
      if (spec.healthCheckNodePort) ports.add(spec.healthCheckNodePort);
    }
    return { addresses, ports };
  }
}
