import type { KubeObject } from "setpoint";
import { list, nanosOf, object } from "../registry/kinds/validation/rule.js";
import { isArray, type Json, type JsonObject } from "../schema/json.js";
import { canonicalQuantity } from "../schema/quantity.js";

/** Amounts in billionths, by the names that quotas have for them. */
export type Usage = Readonly<Record<string, bigint>>;

const ONE = 1_000_000_000n;
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const COUNTED = [
  "configmaps",
  "secrets",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "persistentvolumeclaims",
];
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Where the objects are kept that a name counts; undefined for what nothing here uses. */
export function countedResource(name: string): string | undefined {
  if (name.startsWith("count/")) {
    const [plural = "", ...group] = name.slice("count/".length).split(".");
    return `${group.join(".")}/${plural}`;
  }
  if (name === "pods" || COMPUTE.some((each) => name === each || name.endsWith(`.${each}`))) return "/pods";
  if (name.startsWith("services")) return "/services";
  if (name === "requests.storage" || name.includes(".storageclass.storage.k8s.io/")) return "/persistentvolumeclaims";
  return COUNTED.includes(name) ? `/${name}` : undefined;
}

/** What one object uses. */
export function usageOf(resource: string, stored: KubeObject): Usage {
  const slash = resource.indexOf("/");
  const [group, plural] = [resource.slice(0, slash), resource.slice(slash + 1)];
  const counted: Record<string, bigint> = { [`count/${plural}${group === "" ? "" : `.${group}`}`]: ONE };
  if (group !== "") return counted;
  if (COUNTED.includes(plural)) counted[plural] = ONE;
  const given = stored as unknown as JsonObject;
  const spec = object(given.spec);
  if (plural === "pods") return { ...counted, ...podUsage(spec, object(given.status)) };
  if (plural === "services") return { ...counted, ...serviceUsage(spec) };
  return plural === "persistentvolumeclaims" ? { ...counted, ...claimUsage(spec) } : counted;
}

function podUsage(spec: JsonObject, status: JsonObject): Usage {
  if (status.phase === "Succeeded" || status.phase === "Failed") return {};
  const usage: Record<string, bigint> = { pods: ONE };
  for (const field of ["requests", "limits"] as const) {
    for (const [name, nanos] of Object.entries(podAmounts(spec, field))) {
      usage[`${field}.${name}`] = nanos;
      if (field === "requests") usage[name] = nanos;
    }
  }
  return usage;
}

/** Its containers together, or its hungriest init container. */
function podAmounts(spec: JsonObject, field: "requests" | "limits"): Usage {
  const total: Record<string, bigint> = {};
  for (const { resources } of list(spec.containers)) {
    for (const [name, amount] of Object.entries(object(object(resources)[field]))) {
      total[name] = (total[name] ?? 0n) + nanosOf(amount);
    }
  }
  for (const { resources } of list(spec.initContainers)) {
    for (const [name, amount] of Object.entries(object(object(resources)[field]))) {
      if (nanosOf(amount) > (total[name] ?? -1n)) total[name] = nanosOf(amount);
    }
  }
  return total;
}

function serviceUsage(spec: JsonObject): Usage {
  if (spec.type !== "NodePort" && spec.type !== "LoadBalancer") return {};
  const ports = BigInt(list(spec.ports).length) * ONE;
  return {
    "services.nodeports": ports,
    ...(spec.type === "LoadBalancer" && { "services.loadbalancers": ONE }),
  };
}

function claimUsage(spec: JsonObject): Usage {
  const storage = nanosOf(object(object(spec.resources).requests).storage);
  const ofClass = spec.storageClassName ? `${String(spec.storageClassName)}.storageclass.storage.k8s.io/` : undefined;
  return {
    "requests.storage": storage,
    ...(ofClass && { [`${ofClass}requests.storage`]: storage, [`${ofClass}persistentvolumeclaims`]: ONE }),
  };
}

/** Whether a quota's scopes, all of them, hold for an object; only pods are in any. */
export function isInScope(quota: JsonObject, resource: string, stored: KubeObject): boolean {
  const { scopes, scopeSelector } = object(quota.spec);
  const plain = (isArray(scopes) ? scopes : []).map((scopeName) => ({ scopeName, operator: "Exists" }) as JsonObject);
  const wanted = [...plain, ...list(object(scopeSelector).matchExpressions)];
  if (wanted.length === 0) return true;
  if (resource !== "/pods") return false;
  const spec = object((stored as unknown as JsonObject).spec);
  return wanted.every((requirement) => holds(requirement, spec));
}

function holds({ scopeName, operator, values }: JsonObject, spec: JsonObject): boolean {
  const isBestEffort = [...list(spec.containers), ...list(spec.initContainers)].every(({ resources }) =>
    ["requests", "limits"].every((field) => Object.keys(object(object(resources)[field])).length === 0),
  );
  if (scopeName === "Terminating") return spec.activeDeadlineSeconds !== undefined;
  if (scopeName === "NotTerminating") return spec.activeDeadlineSeconds === undefined;
  if (scopeName === "BestEffort") return isBestEffort;
  if (scopeName === "NotBestEffort") return !isBestEffort;
  if (scopeName !== "PriorityClass") return false;
  const name = spec.priorityClassName ?? "";
  const isAmong = isArray(values) && values.includes(name);
  if (operator === "In") return isAmong;
  if (operator === "NotIn") return !isAmong;
  return operator === "Exists" ? name !== "" : name === "";
}

/** An amount in the notation that the quota has for it. */
export function amountText(nanos: bigint, like: Json | undefined): string {
  const whole = nanos / ONE;
  if (!/i$/.test(String(like)) || nanos % ONE !== 0n || whole < 1024n) return canonicalQuantity(`${nanos}n`);
  let [amount, unit] = [whole, -1];
  while (amount % 1024n === 0n && unit + 1 < BINARY.length) {
    amount /= 1024n;
    unit++;
  }
  return `${amount}${BINARY[unit] ?? ""}`;
}
