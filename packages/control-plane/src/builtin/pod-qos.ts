import type { KubeObject } from "setpoint";
import { isObject, type Json, type JsonObject } from "../api/json.js";
import { list, nanosOf, object } from "./validation/rule.js";

const COUNTED = ["cpu", "memory"];

/** The QoS class of a pod, set once when the pod is created. */
export function qosClassOf(pod: KubeObject): "BestEffort" | "Burstable" | "Guaranteed" {
  const spec = object((pod as unknown as JsonObject).spec);
  const parts = isObject(spec.resources)
    ? [spec.resources]
    : [...list(spec.containers), ...list(spec.initContainers)].map(({ resources }) => object(resources));
  const requests = sums(parts.map((part) => part.requests));
  const limits = sums(parts.map((part) => part.limits));
  if (requests.size + limits.size === 0) return "BestEffort";
  const isLimited = parts.every((part) => COUNTED.every((name) => nanosOf(object(part.limits)[name]) > 0n));
  const isSame = COUNTED.every((name) => !requests.has(name) || requests.get(name) === limits.get(name));
  return isLimited && isSame && requests.size === limits.size ? "Guaranteed" : "Burstable";
}

function sums(quantities: readonly (Json | undefined)[]): ReadonlyMap<string, bigint> {
  const total = new Map<string, bigint>();
  for (const each of quantities) {
    for (const name of COUNTED) {
      const nanos = nanosOf(object(each)[name]);
      if (nanos > 0n) total.set(name, (total.get(name) ?? 0n) + nanos);
    }
  }
  return total;
}
