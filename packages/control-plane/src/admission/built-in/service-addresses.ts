import type { KubeObject, Random } from "setpoint";
import { invalidValue } from "../../registry/field-error.js";
import { internalError, invalid } from "../../registry/status-error.js";
import { isArray, isObject, type Json, type JsonObject } from "../../schema/json.js";
import type { Storage } from "../../storage/storage.js";
import type { AdmissionPlugin } from "../admission.js";

const SERVICES = "/services";
/** Room for many; the first address is the API server's own. */
const RANGE = { text: "10.0.0.0/16", pattern: /^10\.0\.\d{1,3}\.\d{1,3}$/, first: 2, last: 65_534 };
const PORTS = { first: 30_000, last: 32_767 };
/** What was given out a moment ago may not be stored yet. */
const REMEMBERED = 256;

const specOf = (service: KubeObject | undefined): JsonObject => {
  const { spec } = (service ?? {}) as { readonly spec?: Json };
  return isObject(spec) ? spec : {};
};
const portsOf = (spec: JsonObject): readonly JsonObject[] => (isArray(spec.ports) ? spec.ports.filter(isObject) : []);
const hasAddress = (spec: JsonObject): boolean => ["ClusterIP", "NodePort", "LoadBalancer"].includes(String(spec.type));
const hasNodePorts = (spec: JsonObject): boolean =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
const needsHealthPort = (spec: JsonObject): boolean =>
  spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";

/**
 * Gives services their addresses and node ports, out of 10.0.0.0/16 and 30000 to 32767, as the real server does when it
 * stores them. One family of addresses, IPv4.
 */
export function serviceAddresses({
  storage,
  random,
}: {
  readonly storage: Storage;
  readonly random: Random;
}): AdmissionPlugin {
  const pool = new AddressPool(storage, random);
  return {
    name: "ServiceAddresses",
    async mutate({ definition, subresource, object, oldObject }) {
      if (definition.storageId !== SERVICES || subresource !== "" || object === undefined) return object;
      const before = specOf(oldObject);
      const kept = withKept(specOf(object), before);
      const refuse = (field: string, value: unknown, why: string): never => {
        throw invalid({ group: "", resource: "Service" }, object.metadata.name, [invalidValue(field, value, why)]);
      };
      return {
        ...object,
        spec: withPorts(withAddress(kept, before, pool, refuse), before, pool, refuse),
      } as KubeObject;
    },
  };
}

type Refuse = (field: string, value: unknown, why: string) => never;

/** What an update leaves out stays; what another type has no use for goes. */
function withKept(spec: JsonObject, before: JsonObject): JsonObject {
  if (before.type === undefined) return spec;
  const next: Record<string, Json> = { ...spec };
  if (hasAddress(spec) && hasAddress(before)) {
    if (!next.clusterIP && !isFilled(next.clusterIPs) && before.clusterIP) {
      Object.assign(next, { clusterIP: before.clusterIP, clusterIPs: before.clusterIPs ?? [before.clusterIP] });
    }
    for (const name of ["ipFamilies", "ipFamilyPolicy"]) {
      if ((next[name] === undefined || (isArray(next[name]) && !isFilled(next[name]))) && before[name] !== undefined)
        next[name] = before[name]!;
    }
  }
  if (hasNodePorts(spec) && hasNodePorts(before)) {
    const byName = new Map(portsOf(before).map(({ name = "", nodePort = 0 }) => [name, nodePort]));
    next.ports = portsOf(spec).map((port) => {
      const known = byName.get(port.name ?? "") ?? 0;
      return port.nodePort || !known ? port : { ...port, nodePort: known };
    });
  } else if (!hasNodePorts(spec) && hasNodePorts(before) && spec.type !== before.type) {
    const old = new Set(portsOf(before).map(({ nodePort }) => nodePort));
    next.ports = portsOf(spec).map(
      ({ nodePort, ...port }) => (nodePort && !old.has(nodePort) ? { ...port, nodePort } : port) as JsonObject,
    );
  }
  if (needsHealthPort(spec) && needsHealthPort(before) && !next.healthCheckNodePort && before.healthCheckNodePort) {
    next.healthCheckNodePort = before.healthCheckNodePort;
  }
  if (spec.type === "ExternalName" && before.type !== "ExternalName") {
    for (const name of ["clusterIP", "clusterIPs"])
      if (next[name] !== undefined && sameJson(next[name], before[name])) delete next[name];
    for (const name of ["ipFamilies", "ipFamilyPolicy"]) if (sameJson(next[name], before[name])) delete next[name];
  }
  return next;
}

function withAddress(spec: JsonObject, before: JsonObject, pool: AddressPool, refuse: Refuse): JsonObject {
  const given = spec.clusterIP || (isArray(spec.clusterIPs) ? spec.clusterIPs[0] : undefined);
  if (!hasAddress(spec) || given === "None") return spec;
  const families = isArray(spec.ipFamilies) ? spec.ipFamilies : [];
  const foreign = families.indexOf("IPv6");
  if (foreign >= 0) refuse(`spec.ipFamilies[${foreign}]`, "IPv6", "not configured on this cluster");
  if (spec.ipFamilyPolicy === "RequireDualStack") {
    refuse("spec.ipFamilyPolicy", "RequireDualStack", "this cluster is not configured for dual-stack services");
  }
  const address = given === undefined ? pool.address() : String(given);
  if (given !== undefined && given !== before.clusterIP) {
    const why = pool.refusalOfAddress(address);
    // What is no address at all is refused by the validation.
    if (why !== undefined) refuse("spec.clusterIPs", [address], `failed to allocate IP ${address}: ${why}`);
  }
  return {
    ...spec,
    clusterIP: spec.clusterIP || address,
    clusterIPs: isFilled(spec.clusterIPs) ? spec.clusterIPs! : [address],
    ipFamilies: families.length > 0 ? families : ["IPv4"],
    ipFamilyPolicy: spec.ipFamilyPolicy ?? "SingleStack",
  };
}

function withPorts(spec: JsonObject, before: JsonObject, pool: AddressPool, refuse: Refuse): JsonObject {
  const own = new Set(portsOf(before).map(({ nodePort }) => nodePort));
  const next: Record<string, Json> = { ...spec };
  if (hasNodePorts(spec)) {
    next.ports = portsOf(spec).map((port, index) => {
      if (!port.nodePort) return { ...port, nodePort: pool.port() };
      const why = own.has(port.nodePort) ? undefined : pool.refusalOfPort(Number(port.nodePort));
      if (why !== undefined) refuse(`spec.ports[${index}].nodePort`, port.nodePort, why);
      return port;
    });
  }
  if (needsHealthPort(spec) && !spec.healthCheckNodePort) next.healthCheckNodePort = pool.port();
  return next;
}

const isFilled = (value: Json | undefined): boolean => isArray(value) && value.length > 0;
const sameJson = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const addressAt = (number: number): string => `10.0.${number >> 8}.${number & 255}`;

/** What is free, as the storage has it. */
class AddressPool {
  readonly #storage: Storage;
  readonly #random: Random;
  readonly #recent: (string | number)[] = [];

  constructor(storage: Storage, random: Random) {
    this.#storage = storage;
    this.#random = random;
  }

  address(): string {
    const { addresses } = this.#used();
    const at = this.#free(RANGE.first, RANGE.last, (number) => this.#isTaken(addresses, addressAt(number)));
    return this.#remember(addressAt(at));
  }

  port(): number {
    const { ports } = this.#used();
    return this.#remember(this.#free(PORTS.first, PORTS.last, (number) => this.#isTaken(ports, number)));
  }

  refusalOfAddress(address: string): string | undefined {
    if (!RANGE.pattern.test(address))
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${RANGE.text}`;
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

  /** From a random place on. */
  #free(first: number, last: number, isTaken: (number: number) => boolean): number {
    const size = last - first + 1;
    const start = Math.floor(this.#random.next() * size);
    for (let step = 0; step < size; step++) {
      const number = first + ((start + step) % size);
      if (!isTaken(number)) return number;
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
