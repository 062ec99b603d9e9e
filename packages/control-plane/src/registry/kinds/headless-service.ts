import type { KubeObject } from "setpoint";
import { isArray, isObject, type Json, type JsonObject } from "../../schema/json.js";

const NONE = "None";

/**
 * A headless service has no address to wait for, so that its families are known at once: one for the pods that it
 * selects, both where somebody else says where it leads.
 */
export function withHeadlessFamilies(service: KubeObject): KubeObject {
  return withFamilies(service, {});
}

/** What an update leaves out stays. */
export function withFamiliesKept(service: KubeObject, old: KubeObject): KubeObject {
  return withFamilies(service, specOf(old));
}

function withFamilies(service: KubeObject, before: JsonObject): KubeObject {
  const spec = specOf(service);
  if (spec.clusterIP !== NONE || spec.type !== "ClusterIP") return service;
  const kept = before.clusterIP === NONE ? before : {};
  const hasSelector = isObject(spec.selector) && Object.keys(spec.selector).length > 0;
  const policy = spec.ipFamilyPolicy ?? kept.ipFamilyPolicy ?? (hasSelector ? "SingleStack" : "RequireDualStack");
  const families = isFilled(spec.ipFamilies) ? spec.ipFamilies : kept.ipFamilies;
  return {
    ...service,
    spec: {
      ...spec,
      clusterIPs: isFilled(spec.clusterIPs) ? spec.clusterIPs : [NONE],
      ipFamilies: families ?? (hasSelector || policy === "SingleStack" ? ["IPv4"] : ["IPv4", "IPv6"]),
      ipFamilyPolicy: policy,
    },
  } as KubeObject;
}

function specOf(service: KubeObject): JsonObject {
  const { spec } = service as KubeObject & { readonly spec?: Json };
  return isObject(spec) ? spec : {};
}

function isFilled(list: Json | undefined): boolean {
  return isArray(list) && list.length > 0;
}
