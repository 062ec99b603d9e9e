import type { KubeObject } from "setpoint";
import type { JsonObject } from "../api/json.js";
import { list, object } from "../builtin/validation/rule.js";
import { type Amounts, amountOf, ONE, podAmounts } from "./pod-amounts.js";

const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const COUNTED = [
  "configmaps",
  "secrets",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "persistentvolumeclaims",
];

/** The storage id of the objects that a quota name counts, such as `count/jobs.batch`. Undefined for unknown names. */
export function countedResource(name: string): string | undefined {
  if (name.startsWith("count/")) {
    const [plural = "", ...group] = name.slice("count/".length).split(".");
    return `${group.join(".")}/${plural}`;
  }
  if (name === "requests.storage" || name.includes(".storageclass.storage.k8s.io/")) return "/persistentvolumeclaims";
  if (name === "pods" || COMPUTE.includes(name) || /^(requests|limits)\.|^hugepages-/.test(name)) return "/pods";
  if (name.startsWith("services")) return "/services";
  return COUNTED.includes(name) ? `/${name}` : undefined;
}

/** The usage of one object, by quota name. */
export function usageOf(resource: string, stored: KubeObject): Amounts {
  const slash = resource.indexOf("/");
  const [group, plural] = [resource.slice(0, slash), resource.slice(slash + 1)];
  const counted = { [`count/${plural}${group === "" ? "" : `.${group}`}`]: ONE };
  if (group !== "") return counted;
  const given = stored as unknown as JsonObject;
  const spec = object(given.spec);
  const own = COUNTED.includes(plural) ? { ...counted, [plural]: ONE } : counted;
  if (plural === "pods") return { ...own, ...podUsage(spec, object(given.status)) };
  if (plural === "services") return { ...own, ...serviceUsage(spec) };
  return plural === "persistentvolumeclaims" ? { ...own, ...claimUsage(spec) } : own;
}

function podUsage(spec: JsonObject, { phase }: JsonObject): Amounts {
  if (phase === "Succeeded" || phase === "Failed") return {};
  const [requests, limits] = [podAmounts(spec, "requests"), podAmounts(spec, "limits")];
  const usage: Record<string, Amounts[string]> = { pods: ONE };
  for (const [name, amount] of Object.entries(requests)) {
    usage[`requests.${name}`] = amount;
    if (!name.includes("/")) usage[name] = amount;
  }
  for (const name of COMPUTE) if (limits[name]) usage[`limits.${name}`] = limits[name];
  return usage;
}

function serviceUsage({ type, ports, allocateLoadBalancerNodePorts }: JsonObject): Amounts {
  if (type !== "NodePort" && type !== "LoadBalancer") return {};
  const isOnRequest = type === "LoadBalancer" && allocateLoadBalancerNodePorts === false;
  const given = list(ports).filter(({ nodePort }) => !isOnRequest || nodePort);
  return {
    "services.nodeports": { ...ONE, nanos: BigInt(given.length) * ONE.nanos },
    ...(type === "LoadBalancer" && { "services.loadbalancers": ONE }),
  };
}

function claimUsage({ resources, storageClassName }: JsonObject): Amounts {
  const storage = amountOf(object(object(resources).requests).storage);
  const ofClass = storageClassName ? `${String(storageClassName)}.storageclass.storage.k8s.io/` : undefined;
  return {
    "requests.storage": storage,
    ...(ofClass && { [`${ofClass}requests.storage`]: storage, [`${ofClass}persistentvolumeclaims`]: ONE }),
  };
}
