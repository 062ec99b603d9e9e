import type { KubeObject } from "setpoint";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";

export const specOf = (service: KubeObject | undefined): JsonObject => {
  const { spec } = (service ?? {}) as { readonly spec?: Json };
  return isObject(spec) ? spec : {};
};

export const portsOf = (spec: JsonObject): readonly JsonObject[] =>
  isArray(spec.ports) ? spec.ports.filter(isObject) : [];

const isFilled = (value: Json | undefined): boolean => isArray(value) && value.length > 0;
const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const hasAddress = ({ type }: JsonObject): boolean => ["ClusterIP", "NodePort", "LoadBalancer"].includes(String(type));
const hasNodePorts = (spec: JsonObject): boolean =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
const isFromOutside = (spec: JsonObject): boolean =>
  spec.type === "NodePort" || spec.type === "LoadBalancer" || isFilled(spec.externalIPs);

export const needsHealthPort = (spec: JsonObject): boolean =>
  spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";

/** Keeps allocated values that an update omits, and makes clusterIP and clusterIPs agree. */
export function withKept(spec: JsonObject, before: JsonObject): JsonObject {
  const next: Record<string, Json> = { ...spec };
  if (before.type === undefined) {
    if (next.clusterIP && !isFilled(next.clusterIPs)) next.clusterIPs = [next.clusterIP];
    return next;
  }
  if (hasAddress(spec) && hasAddress(before)) {
    if (!next.clusterIP && before.clusterIP) next.clusterIP = before.clusterIP;
    if (!isFilled(next.clusterIPs) && isFilled(before.clusterIPs)) next.clusterIPs = before.clusterIPs!;
    if (!isFilled(next.ipFamilies) && isFilled(before.ipFamilies)) next.ipFamilies = before.ipFamilies!;
    if (next.ipFamilyPolicy === undefined && before.ipFamilyPolicy) next.ipFamilyPolicy = before.ipFamilyPolicy;
  }
  if (hasNodePorts(spec) && hasNodePorts(before)) next.ports = keptPorts(spec, before);
  if (needsHealthPort(spec) && needsHealthPort(before) && !next.healthCheckNodePort && before.healthCheckNodePort)
    next.healthCheckNodePort = before.healthCheckNodePort;
  if (next.clusterIP && next.clusterIP !== before.clusterIP) {
    const isLeft = !isFilled(next.clusterIPs) || isSame(next.clusterIPs, before.clusterIPs);
    if (isLeft) next.clusterIPs = [next.clusterIP];
  }
  return next;
}

/** Keeps the node port of each port name, unless another port now has that node port. */
function keptPorts(spec: JsonObject, before: JsonObject): readonly JsonObject[] {
  const taken = new Set(portsOf(spec).map(({ nodePort }) => nodePort));
  const byName = new Map(portsOf(before).map(({ name = "", nodePort = 0 }) => [name, nodePort]));
  return portsOf(spec).map((port) => {
    const known = byName.get(port.name ?? "") ?? 0;
    return port.nodePort || !known || taken.has(known) ? port : { ...port, nodePort: known };
  });
}

/**
 * Removes fields that the new type of the Service does not use. Keeps those that the update also changed, so that
 * validation reports them.
 */
export function withoutUseless(spec: JsonObject, before: JsonObject): JsonObject {
  if (before.type === undefined) return spec;
  const next: Record<string, Json> = { ...spec };
  const drop = (name: string): void => {
    if (isSame(next[name], before[name])) delete next[name];
  };
  if (hasAddress(before) && !hasAddress(spec)) {
    if (isSame(next.clusterIPs, before.clusterIPs)) delete next.clusterIP;
    for (const name of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) drop(name);
  }
  if (hasNodePorts(before) && !hasNodePorts(spec) && hasOnlyPortsOf(spec, before))
    next.ports = portsOf(spec).map(({ nodePort: _, ...port }) => port as JsonObject);
  if (needsHealthPort(before) && !needsHealthPort(spec)) drop("healthCheckNodePort");
  if (before.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    drop("allocateLoadBalancerNodePorts");
    drop("loadBalancerClass");
  }
  if (isFromOutside(before) && !isFromOutside(spec)) drop("externalTrafficPolicy");
  if (spec.type === "ExternalName") delete next.internalTrafficPolicy;
  return next;
}

function hasOnlyPortsOf(spec: JsonObject, before: JsonObject): boolean {
  const known = new Set(portsOf(before).map(({ nodePort }) => nodePort));
  return portsOf(spec).every(({ nodePort }) => !nodePort || known.has(nodePort));
}
