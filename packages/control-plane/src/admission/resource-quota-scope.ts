import type { KubeObject } from "setpoint";
import { isArray, type Json, type JsonObject } from "../api/json.js";
import { list, object } from "../builtin/validation/rule.js";

/** Whether an object matches all scopes of a quota. Only pods and claims can match a scope. */
export function isInScope(quota: JsonObject, resource: string, stored: KubeObject): boolean {
  const { scopes, scopeSelector } = object(quota.spec);
  const plain = (isArray(scopes) ? scopes : []).map((scopeName) => ({ scopeName, operator: "Exists" }) as JsonObject);
  const wanted = [...plain, ...list(object(scopeSelector).matchExpressions)];
  const given = stored as unknown as JsonObject;
  return wanted.every((requirement) => {
    if (resource === "/pods") return holdsForPod(requirement, object(given.spec));
    return resource === "/persistentvolumeclaims" && holdsForClaim(requirement, given);
  });
}

function holdsForPod(requirement: JsonObject, spec: JsonObject): boolean {
  switch (requirement.scopeName) {
    case "Terminating":
      return spec.activeDeadlineSeconds !== undefined;
    case "NotTerminating":
      return spec.activeDeadlineSeconds === undefined;
    case "BestEffort":
      return isBestEffort(spec);
    case "NotBestEffort":
      return !isBestEffort(spec);
    case "PriorityClass":
      return isNamed(requirement, [spec.priorityClassName]);
    case "CrossNamespacePodAffinity":
      return ["podAffinity", "podAntiAffinity"].some((name) => looksElsewhere(object(object(spec.affinity)[name])));
    default:
      return false;
  }
}

/** Compares the claim's desired, current and target volume attributes class. */
function holdsForClaim(requirement: JsonObject, { spec, status }: JsonObject): boolean {
  if (requirement.scopeName !== "VolumeAttributesClass") return false;
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = object(status);
  const target = object(modifyVolumeStatus).targetVolumeAttributesClassName;
  return isNamed(requirement, [object(spec).volumeAttributesClassName, currentVolumeAttributesClassName, target]);
}

function isNamed({ operator, values }: JsonObject, given: readonly (Json | undefined)[]): boolean {
  const names = given.filter((name) => name !== undefined && name !== "");
  const isAmong = (name: Json | undefined): boolean => isArray(values) && values.includes(name ?? "");
  if (operator === "In") return names.some(isAmong);
  if (operator === "NotIn") return names.length === 0 || names.some((name) => !isAmong(name));
  return operator === "Exists" ? names.length > 0 : names.length === 0;
}

function isBestEffort(spec: JsonObject): boolean {
  const containers = [...list(spec.containers), ...list(spec.initContainers), spec];
  return containers.every(({ resources }) =>
    ["requests", "limits"].every((field) => Object.keys(object(object(resources)[field])).length === 0),
  );
}

function looksElsewhere(affinity: JsonObject): boolean {
  const required = list(affinity.requiredDuringSchedulingIgnoredDuringExecution);
  const preferred = list(affinity.preferredDuringSchedulingIgnoredDuringExecution);
  const terms = [...required, ...preferred.map(({ podAffinityTerm }) => object(podAffinityTerm))];
  return terms.some(
    ({ namespaces, namespaceSelector }) =>
      (isArray(namespaces) && namespaces.length > 0) || namespaceSelector !== undefined,
  );
}
