import { qualifiedName } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, notSupported, required, tooLong } from "../../api/field-error.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { ipAddress, isIp } from "./address-rules.js";
import { isNativeResource, quotaResourceName, resourceAmount } from "./pod/resource-rules.js";
import {
  entriesOf,
  isEmpty,
  list,
  nanosOf,
  nonNegative,
  object,
  oneOf,
  qualified,
  type Rule,
  subdomain,
  type UpdateRule,
} from "./rule.js";

const count = (value: Json | undefined): number => (typeof value === "number" ? value : 0);

/** Non-negative counts, in the order of kube-apiserver's errors. */
function counted(status: JsonObject, names: readonly string[], errors: FieldError[]): void {
  for (const name of names) if (status[name] !== undefined) nonNegative(status[name], `status.${name}`, errors);
}

/** These counts may not exceed `replicas`. */
function within(status: JsonObject, names: readonly string[], errors: FieldError[], readyName: string): void {
  for (const name of names) {
    if (count(status[name]) > count(status.replicas)) {
      errors.push(invalidValue(`status.${name}`, status[name], "cannot be greater than status.replicas"));
    }
  }
  if (count(status.availableReplicas) > count(status.readyReplicas)) {
    const why = `cannot be greater than ${readyName}`;
    errors.push(invalidValue("status.availableReplicas", status.availableReplicas, why));
  }
}

/** collisionCount may not decrease. */
function collisions(status: JsonObject, before: JsonObject, errors: FieldError[]): void {
  if (before.collisionCount === undefined) return;
  if (status.collisionCount !== undefined && count(status.collisionCount) >= count(before.collisionCount)) return;
  errors.push(invalidValue("status.collisionCount", count(status.collisionCount), "cannot be decremented"));
}

interface Counts {
  readonly counts: readonly string[];
  /** Counts that may not exceed `replicas`. */
  readonly bounded?: readonly string[];
  readonly readyName?: string;
}

function ofCounts({ counts, bounded, readyName = "readyReplicas" }: Counts): UpdateRule {
  return (changed, old) => {
    const errors: FieldError[] = fieldErrors();
    const status = object(changed.status);
    counted(status, counts, errors);
    if (bounded) within(status, bounded, errors, readyName);
    collisions(status, object(old.status), errors);
    return errors;
  };
}

const deployment = ofCounts({
  counts: [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
  ],
  bounded: ["updatedReplicas", "readyReplicas", "availableReplicas"],
});

const replicaSet = ofCounts({
  counts: [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
  ],
  bounded: ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
});

const statefulSet = ofCounts({
  counts: [
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
  ],
  bounded: ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
  readyName: "status.readyReplicas",
});

const daemonSet = ofCounts({
  counts: [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
  ],
});

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_WHY =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Standard conditions, each type at most once. */
const conditions: Rule = (value, path, errors) => {
  const seen = new Set<Json>();
  for (const [index, condition] of list(value).entries()) {
    const { type = "", status = "", reason = "", message = "", observedGeneration, lastTransitionTime } = condition;
    const at = `${path}[${index}]`;
    if (type !== "" && seen.has(type)) errors.push(duplicate(`${at}.type`, type));
    seen.add(type);
    qualified(type, `${at}.type`, errors);
    oneOf("False", "True", "Unknown")(status, `${at}.status`, errors);
    if (count(observedGeneration) < 0) {
      errors.push(
        invalidValue(`${at}.observedGeneration`, observedGeneration, "must be greater than or equal to zero"),
      );
    }
    if (isEmpty(lastTransitionTime)) errors.push(required(`${at}.lastTransitionTime`));
    const text = String(reason);
    if (text === "") errors.push(required(`${at}.reason`));
    else {
      if (!REASON.test(text)) errors.push(invalidValue(`${at}.reason`, text, REASON_WHY));
      if (text.length > 1024) errors.push(tooLong(`${at}.reason`, 1024));
    }
    if (String(message).length > 32_768) errors.push(tooLong(`${at}.message`, 32_768));
  }
};

const budget: UpdateRule = (changed) => {
  const errors: FieldError[] = fieldErrors();
  const status = object(changed.status);
  conditions(status.conditions, "status.conditions", errors);
  counted(status, ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"], errors);
  return errors;
};

const quota: UpdateRule = (changed) => {
  const errors: FieldError[] = fieldErrors();
  for (const list of ["hard", "used"]) {
    entriesOf((name, amount, at, found) => {
      quotaResourceName(name, at, found);
      resourceAmount(name, amount, at, found);
    })(object(changed.status)[list], `status.${list}`, errors);
  }
  return errors;
};

/** A non-negative amount of any resource. */
function basicAmount(amount: Json, path: string, errors: FieldError[]): void {
  if (nanosOf(amount) >= 0n) return;
  errors.push(invalidValue(path, Number(nanosOf(amount) / 1_000_000_000n), "must be a valid resource quantity"));
}

const RESIZING = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
];

/** The only native resource of a claim is storage. Other domains may define more. */
function claimResource(name: string, path: string, errors: FieldError[]): boolean {
  const complaints = qualifiedName(name);
  for (const why of complaints) errors.push(invalidValue(path, name, why));
  if (complaints.length > 0) return false;
  if (name === "storage" || !isNativeResource(name)) return true;
  errors.push(notSupported(path, name, ["storage"]));
  return false;
}

const claim: UpdateRule = (changed) => {
  const errors: FieldError[] = fieldErrors();
  const { capacity, allocatedResources, allocatedResourceStatuses } = object(changed.status);
  entriesOf((_name, amount, at, found) => basicAmount(amount, at, found))(capacity, "status.capacity", errors);
  const statuses = "status.allocatedResourceStatuses";
  for (const [name, state] of Object.entries(object(allocatedResourceStatuses))) {
    claimResource(name, statuses, errors);
    if (!RESIZING.includes(String(state))) errors.push(notSupported(statuses, name, RESIZING));
  }
  for (const [name, amount] of Object.entries(object(allocatedResources))) {
    const at = "status.allocatedResources";
    if (!claimResource(name, at, errors)) continue;
    const before = errors.length;
    basicAmount(amount, `${at}[${name}]`, errors);
    if (errors.length === before) resourceAmount("storage", amount, `${at}[${name}]`, errors);
  }
  return errors;
};

const BALANCED_ALONE = "may only be used when `spec.type` is 'LoadBalancer'";

/** The ingress of a load balancer. Addresses that existed before are not validated again. */
function balancer(status: JsonObject, old: JsonObject, hasModes: boolean): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const known = list(object(old.loadBalancer).ingress).map(({ ip }) => ip);
  for (const [index, { ip, ipMode, hostname }] of list(object(status.loadBalancer).ingress).entries()) {
    const at = `status.loadBalancer.ingress[${index}]`;
    if (ip && !known.includes(ip)) ipAddress(ip, `${at}.ip`, errors);
    if (hasModes) {
      if (ipMode === undefined) {
        if (ip) errors.push(required(`${at}.ipMode`, "must be specified when `ip` is set"));
      } else if (!ip) errors.push(forbiddenField(`${at}.ipMode`, "may not be specified when `ip` is not set"));
      else oneOf("Proxy", "VIP")(ipMode, `${at}.ipMode`, errors);
    }
    if (!hostname) continue;
    subdomain(hostname, `${at}.hostname`, errors);
    if (isIp(String(hostname))) {
      errors.push(invalidValue(`${at}.hostname`, hostname, "must be a DNS name, not an IP address"));
    }
  }
  return errors;
}

const service: UpdateRule = (changed, old) => {
  const status = object(changed.status);
  const isBalanced = object(changed.spec).type === "LoadBalancer";
  if (!isBalanced && isObject(status.loadBalancer) && !isEmpty(status.loadBalancer.ingress)) {
    return [forbiddenField("status.loadBalancer.ingress", BALANCED_ALONE)];
  }
  return balancer(status, object(old.status), true);
};

const autoscaler: UpdateRule = (changed) => {
  const errors: FieldError[] = fieldErrors();
  counted(object(changed.status), ["currentReplicas", "desiredReplicas"], errors);
  return errors;
};

export const statusRules: Readonly<Record<string, UpdateRule>> = {
  "apps/deployments": deployment,
  "apps/replicasets": replicaSet,
  "apps/statefulsets": statefulSet,
  "apps/daemonsets": daemonSet,
  "/replicationcontrollers": replicaSet,
  "policy/poddisruptionbudgets": budget,
  "autoscaling/horizontalpodautoscalers": autoscaler,
  "/resourcequotas": quota,
  "/persistentvolumeclaims": claim,
  "/services": service,
  "networking.k8s.io/ingresses": (changed, old) => balancer(object(changed.status), object(old.status), false),
};
