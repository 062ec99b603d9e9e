import { fieldErrors } from "../../../api/error-budget.js";
import { duplicate, forbiddenField, internalError, invalidValue, required } from "../../../api/field-error.js";
import { field, isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { ipAddress, isIp } from "../address-rules.js";
import { internal } from "../internal-struct.js";
import { IMMUTABLE, label1123, list, needed, object, qualified, type Rule, subdomain } from "../rule.js";

const SYSTEM_CONDITIONS = ["PodScheduled", "Ready", "Initialized"];
const NOT_NEGATIVE = "must be a non-negative integer";

const conditions: Rule = (value, path, errors) => {
  for (const [index, { type = "", observedGeneration = 0 }] of list(value).entries()) {
    const at = `${path}[${index}]`;
    if (Number(observedGeneration) < 0) {
      errors.push(invalidValue(`${at}.observedGeneration`, observedGeneration, NOT_NEGATIVE));
    }
    if (!SYSTEM_CONDITIONS.includes(String(type))) qualified(type, `${at}.Type`, errors);
  }
};

const ipsOf = (status: JsonObject, name: string): readonly string[] =>
  list(status[name]).map(({ ip }) => String(ip ?? ""));

/** At most one address per family. Addresses that existed before are not validated again. */
function addresses(status: JsonObject, before: JsonObject, name: string, struct: string, errors: FieldError[]): void {
  const at = `status.${name}`;
  const [now, known] = [ipsOf(status, name), ipsOf(before, name)];
  for (const [index, ip] of now.entries()) if (!known.includes(ip)) ipAddress(ip, `${at}[${index}]`, errors);
  if (now.length < 2) return;
  const bad = now.findIndex((ip) => !isIp(ip));
  if (bad >= 0) {
    const why = `invalid IP[${bad}]: ${now[bad]}`;
    errors.push(internalError(at, `failed to check for dual stack with error:${why}`));
  }
  const isPair = now.length === 2 && new Set(now.map((ip) => ip.includes(":"))).size === 2;
  if (bad >= 0 || !isPair) {
    const shown = internal(`[]core.${struct}`, status[name]);
    errors.push(invalidValue(at, shown, "may specify no more than one IP for each IP family"));
  }
}

const isOver = (status: JsonObject): boolean => object(status.state).terminated !== undefined;

/** A terminated container that is not restarted must stay terminated. */
function revived(pod: JsonObject, old: JsonObject, field: string, isRestarted: (name: Json, code: number) => boolean) {
  const now = list(object(pod.status)[field]);
  return list(object(old.status)[field]).flatMap((before, index) => {
    if (!isOver(before)) return [];
    const code = Number(object(object(before.state).terminated).exitCode ?? 0);
    const next = now.find(({ name }) => name === before.name);
    if (next === undefined || isOver(next) || isRestarted(before.name ?? "", code)) return [];
    const why = "may not be transitioned to non-terminated state";
    return [forbiddenField(`status.${field}[${index}].state`, why)];
  });
}

function restarts(spec: JsonObject, containers: string): (name: Json, code: number) => boolean {
  return (name, code) => {
    const own = list(spec[containers]).find((container) => container.name === name)?.restartPolicy;
    const policy = own ?? spec.restartPolicy;
    return policy === "Always" || (policy === "OnFailure" && code !== 0);
  };
}

/** The claim that provides the extended resources of the containers. */
function extendedResources(claim: Json | undefined, spec: JsonObject, path: string, errors: FieldError[]): void {
  if (!isObject(claim)) return;
  const containers = [...list(spec.containers), ...list(spec.initContainers)];
  const mappings = list(claim.requestMappings);
  const seen = new Set<string>();
  const at = `${path}.requestMappings`;
  if (mappings.length === 0) errors.push(required(at, "at least one request mapping is required"));
  for (const [index, { containerName = "", resourceName = "", requestName = "" }] of mappings.entries()) {
    const refuse = (name: string, value: Json, why: string): number =>
      errors.push(invalidValue(`${at}[${index}].${name}`, value, `must match the ${why}`));
    const container = containers.find(({ name }) => name === containerName);
    if (container === undefined) {
      refuse("containerName", containerName, "name of an entry in spec.initContainers.name or spec.containers.name");
    } else if (field(object(object(container.resources).requests), String(resourceName)) === undefined) {
      const where = "spec.initContainers.resources.requests or spec.containers.resources.requests";
      refuse("resourceName", resourceName, `extended resource name of an entry in ${where}`);
    }
    label1123(requestName, `${path}.requestName`, errors);
    const mapping = { containerName, resourceName, requestName };
    const key = JSON.stringify(mapping);
    if (seen.has(key)) {
      for (const [name, value] of Object.entries(mapping)) errors.push(duplicate(`${at}[${index}].${name}`, value));
    }
    seen.add(key);
  }
  needed(subdomain)(claim.resourceClaimName, `${path}.resourceClaimName`, errors);
}

/** Validates a change of a pod's status. */
export function podStatusUpdate(pod: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const [status, before, spec] = [object(pod.status), object(old.status), object(old.spec)];
  conditions(status.conditions, "status.conditions", errors);
  const { nominatedNodeName: nominated, observedGeneration, qosClass } = status;
  if (nominated && nominated !== before.nominatedNodeName) subdomain(nominated, "status.nominatedNodeName", errors);
  if (Number(observedGeneration ?? 0) < 0) {
    errors.push(invalidValue("status.observedGeneration", observedGeneration, NOT_NEGATIVE));
  }
  if (qosClass !== undefined && qosClass !== before.qosClass) {
    errors.push(invalidValue("status.qosClass", qosClass, IMMUTABLE));
  }
  errors.push(
    ...revived(pod, old, "containerStatuses", restarts(spec, "containers")),
    ...revived(pod, old, "initContainerStatuses", restarts(spec, "initContainers")),
    ...revived(pod, old, "ephemeralContainerStatuses", () => false),
  );
  extendedResources(status.extendedResourceClaimStatus, object(pod.spec), "status.extendedResourceClaimStatus", errors);
  addresses(status, before, "podIPs", "PodIP", errors);
  const [first] = ipsOf(status, "hostIPs");
  if (first !== undefined && first !== (status.hostIP ?? "")) {
    errors.push(invalidValue("status.hostIPs[0].ip", first, "must be equal to `hostIP`"));
  }
  addresses(status, before, "hostIPs", "HostIP", errors);
  return errors;
}
