import type { KubeObject } from "setpoint";
import type { Random } from "setpoint/clock";
import { fieldErrors } from "../../api/error-budget.js";
import { invalidValue } from "../../api/field-error.js";
import { isArray, type Json, type JsonObject } from "../../api/json.js";
import { type FieldError, internalError, invalid } from "../../api/status-error.js";
import { addressFamilies } from "../../builtin/validation/service-rules.js";
import type { AdmissionPlugin } from "../../registry/write/admission.js";
import type { Storage } from "../../storage/storage.js";
import { AddressPool } from "./address-pool.js";
import { needsHealthPort, portsOf, specOf, withKept, withoutUseless } from "./service-spec.js";

type Refuse = (...errors: readonly FieldError[]) => never;

/**
 * Allocates cluster IPs from 10.0.0.0/16 and node ports from 30000 to 32767, as the real server does when it stores a
 * Service. Supports only IPv4.
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
    concerns: ({ definition }) => definition.storageId === "/services",
    async mutate({ definition, subresource, object, oldObject }) {
      if (definition.storageId !== "/services" || subresource !== "" || object === undefined) return object;
      const before = specOf(oldObject);
      const refuse: Refuse = (...errors) => {
        throw invalid({ group: "", resource: "Service" }, object.metadata.name, errors);
      };
      const placed = withAddress(withFamilies(withKept(specOf(object), before), refuse), before, pool, refuse);
      return { ...object, spec: withoutUseless(withPorts(placed, before, pool, refuse), before) } as KubeObject;
    },
  };
}

const listOf = (value: Json | undefined): readonly Json[] => (isArray(value) ? value : []);
const hasSelector = ({ selector }: JsonObject): boolean => Object.keys(selector ?? {}).length > 0;

/** Sets the IP families of a Service. Only a headless Service without a selector may have IPv6. */
function withFamilies(spec: JsonObject, refuse: Refuse): JsonObject {
  if (spec.type === "ExternalName") return spec;
  const isOfOthers = spec.clusterIP === "None" && !hasSelector(spec);
  const policy = spec.ipFamilyPolicy ?? (isOfOthers ? "RequireDualStack" : "SingleStack");
  const known = { ...spec, ipFamilyPolicy: policy };
  const wrong: FieldError[] = fieldErrors();
  addressFamilies(known, "spec", wrong);
  if (wrong.length > 0) refuse(...wrong);
  const [addresses, families] = [listOf(spec.clusterIPs), [...listOf(spec.ipFamilies)]];
  if (policy === "SingleStack") {
    const several = (what: string): FieldError =>
      invalidValue(
        "spec.ipFamilyPolicy",
        policy,
        `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
      );
    if (addresses.length === 2) wrong.push(several("cluster IPs"));
    if (families.length === 2) wrong.push(several("IP families"));
  }
  for (const [index, address] of addresses.entries()) {
    if (address === "None") break;
    if (index < families.length) continue;
    if (String(address).includes(":"))
      wrong.push(invalidValue(`spec.clusterIPs[${index}]`, addresses, "IPv6 is not configured on this cluster"));
    else families.push("IPv4");
  }
  if (wrong.length > 0) refuse(...wrong);
  if (families.length === 0) families.push("IPv4");
  if (isOfOthers) {
    if (families.length === 1 && policy !== "SingleStack") families.push(families[0] === "IPv4" ? "IPv6" : "IPv4");
    return { ...known, ipFamilies: families };
  }
  if (policy === "RequireDualStack")
    wrong.push(invalidValue("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services"));
  for (const [index, family] of families.entries()) {
    if (family !== "IPv4")
      wrong.push(invalidValue(`spec.ipFamilies[${index}]`, family, "not configured on this cluster"));
  }
  if (wrong.length > 0) refuse(...wrong);
  return { ...known, ipFamilies: families };
}

function withAddress(spec: JsonObject, before: JsonObject, pool: AddressPool, refuse: Refuse): JsonObject {
  const given = spec.clusterIP;
  const isNew = before.type === undefined || before.type === "ExternalName";
  if (spec.type === "ExternalName" || given === "None" || !isNew) return spec;
  const address = given ? String(given) : pool.address();
  const why = given ? pool.refusalOfAddress(address) : undefined;
  if (why !== undefined) refuse(invalidValue("spec.clusterIPs", [address], `failed to allocate IP ${address}: ${why}`));
  return { ...spec, clusterIP: address, clusterIPs: [address] };
}

function withPorts(spec: JsonObject, before: JsonObject, pool: AddressPool, refuse: Refuse): JsonObject {
  const next: Record<string, Json> = { ...spec };
  if (spec.type === "NodePort" || spec.type === "LoadBalancer") next.ports = nodePorts(spec, before, pool, refuse);
  if (!needsHealthPort(spec) || needsHealthPort(before)) return next;
  const { healthCheckNodePort: wanted } = spec;
  const why = wanted ? pool.refusalOfPort(Number(wanted)) : undefined;
  if (why !== undefined) {
    throw internalError(`failed to allocate requested HealthCheck NodePort ${Number(wanted)}: ${why}`);
  }
  if (!wanted) next.healthCheckNodePort = pool.port();
  return next;
}

/** Assigns a node port to each port. In a new Service, the protocols of a port share one node port. */
function nodePorts(spec: JsonObject, before: JsonObject, pool: AddressPool, refuse: Refuse): readonly JsonObject[] {
  const own = new Set(portsOf(before).map(({ nodePort }) => nodePort));
  const given = portsOf(spec);
  const isNew = before.type === undefined;
  const isOnRequest = spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts === false;
  const byPort = new Map<Json | undefined, number>();
  const taken = new Set<number>();
  return given.map((port, index) => {
    if (!port.nodePort && isOnRequest) return port;
    const shared = isNew ? byPort.get(port.port) : undefined;
    const wanted =
      port.nodePort || shared || (isNew && given.find((each) => each.port === port.port && each.nodePort)?.nodePort);
    const chosen = wanted ? Number(wanted) : pool.port();
    if (wanted && chosen !== shared && !own.has(chosen)) {
      const why = isNew && taken.has(chosen) ? "provided port is already allocated" : pool.refusalOfPort(chosen);
      if (why !== undefined) refuse(invalidValue(`spec.ports[${index}].nodePort`, chosen, why));
    }
    taken.add(chosen);
    if (!byPort.has(port.port)) byPort.set(port.port, chosen);
    return { ...port, nodePort: chosen };
  });
}
