import { isSameJson } from "setpoint/kinds";
import { fieldErrors } from "../../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, required } from "../../../api/field-error.js";
import { field, isArray, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal } from "../internal-struct.js";
import {
  containerResourceName,
  isOvercommitted,
  QUOTA,
  QUOTA_OF_PODS,
  quotaResourceName,
  resourceAmount,
  resourceName,
} from "../pod/resource-rules.js";
import {
  countOrPercent,
  entriesOf,
  IMMUTABLE,
  isEmpty,
  list,
  nanosOf,
  needed,
  notAboveAll,
  number,
  object,
  ofSpec,
  oneOf,
  pointed,
  qualified,
  quantityText,
  type Rule,
  type StructRule,
} from "../rule.js";
import { labelSelector } from "../selector-rules.js";

const share: Rule = (value, path, errors) => {
  countOrPercent(value, path, errors);
  notAboveAll(value, path, errors);
};

const budget: StructRule = (spec, path, errors) => {
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    errors.push(
      invalidValue(
        path,
        internal("policy.PodDisruptionBudgetSpec", spec),
        "minAvailable and maxUnavailable cannot be both set",
      ),
    );
  }
  pointed(share)(spec.minAvailable, `${path}.minAvailable`, errors);
  pointed(share)(spec.maxUnavailable, `${path}.maxUnavailable`, errors);
  labelSelector(spec.selector, `${path}.selector`, errors);
  pointed(oneOf("AlwaysAllow", "IfHealthyBudget"))(
    spec.unhealthyPodEvictionPolicy,
    `${path}.unhealthyPodEvictionPolicy`,
    errors,
  );
};

const HIGHEST_PRIORITY = 1_000_000_000;
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

const priorityClass: Rule = (value, _path, errors) => {
  const { metadata, value: priority, preemptionPolicy } = object(value);
  const name = String(object(metadata).name ?? "");
  if (name.startsWith("system-") && SYSTEM_CLASSES[name] === undefined) {
    const why = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
    errors.push(forbiddenField("metadata.name", why));
  } else if (!name.startsWith("system-") && Number(priority ?? 0) > HIGHEST_PRIORITY) {
    errors.push(forbiddenField("value", `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`));
  }
  pointed(needed(oneOf("PreemptLowerPriority", "Never")))(preemptionPolicy, "preemptionPolicy", errors);
};

export function priorityClassUpdate(changed: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  if ((changed.value ?? 0) !== (old.value ?? 0))
    errors.push(forbiddenField("value", "may not be changed in an update."));
  if (changed.preemptionPolicy !== old.preemptionPolicy) {
    errors.push(invalidValue("preemptionPolicy", changed.preemptionPolicy ?? null, IMMUTABLE));
  }
  return errors;
}

const SCOPES = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];
const EXISTS_ALONE =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const PAIRS = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;
/** Whether a quota scope applies to a resource. */
function suits(scope: string, resource: string): boolean {
  if (!QUOTA.includes(resource)) return true;
  if (scope === "BestEffort") return resource === "pods";
  if (scope === "VolumeAttributesClass") return ["persistentvolumeclaims", "requests.storage"].includes(resource);
  return !SCOPES.includes(scope) || QUOTA_OF_PODS.includes(resource);
}

const quota: StructRule = (spec, path, errors) => {
  entriesOf((name, value, at, found) => {
    quotaResourceName(name, at, found);
    resourceAmount(name, value, at, found);
  })(spec.hard, `${path}.hard`, errors);
  const resources = Object.keys(object(spec.hard)).sort();
  const scopes = isArray(spec.scopes) ? spec.scopes.map(String) : [];
  const refuse = (why: string): number => errors.push(invalidValue(`${path}.scopes`, scopes, why));
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) refuse("unsupported scope");
    for (const resource of resources) if (!suits(scope, resource)) refuse("unsupported scope applied to resource");
  }
  for (const pair of PAIRS) if (pair.every((scope) => scopes.includes(scope))) refuse("conflicting scopes");
  scopeSelector(spec, resources, `${path}.scopeSelector.matchExpressions`, errors);
};

function scopeSelector(spec: JsonObject, resources: readonly string[], path: string, errors: FieldError[]): void {
  for (const { scopeName = "", operator = "", values } of list(object(spec.scopeSelector).matchExpressions)) {
    const scope = String(scopeName);
    if (!SCOPES.includes(scope)) errors.push(invalidValue(`${path}.scopeName`, scope, "unsupported scope"));
    for (const resource of resources) {
      if (!suits(scope, resource))
        errors.push(
          invalidValue(
            path,
            internal("core.ScopeSelector", spec.scopeSelector),
            "unsupported scope applied to resource",
          ),
        );
    }
    if (
      scope !== "PriorityClass" &&
      scope !== "VolumeAttributesClass" &&
      SCOPES.includes(scope) &&
      operator !== "Exists"
    ) {
      errors.push(invalidValue(`${path}.operator`, operator, EXISTS_ALONE));
    }
    const count = isArray(values) ? values.length : 0;
    if (operator === "In" || operator === "NotIn") {
      if (count === 0)
        errors.push(
          required(
            `${path}.values`,
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
          ),
        );
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (count > 0)
        errors.push(
          invalidValue(
            `${path}.values`,
            values,
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
          ),
        );
    } else errors.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
  }
}

export function quotaUpdate(changed: JsonObject, old: JsonObject): FieldError[] {
  const scopes = (each: JsonObject): readonly Json[] => {
    const given = object(each.spec).scopes;
    return isArray(given) ? [...given].sort() : [];
  };
  return isSameJson(scopes(changed), scopes(old))
    ? []
    : [invalidValue("spec.scopes", object(changed.spec).scopes ?? null, IMMUTABLE)];
}

const LIMIT_TYPES = ["Pod", "Container", "PersistentVolumeClaim"];

/** The bounds of one resource must be consistent. */
function boundErrors(item: JsonObject, name: string, path: string, errors: FieldError[]): void {
  const of = (list: string): Json | undefined => field(object(item[list]), name);
  const [min, max, limit, request, ratio] = ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"].map(of);
  const isAbove = (one: Json | undefined, other: Json | undefined): boolean =>
    one !== undefined && other !== undefined && nanosOf(one) > nanosOf(other);
  const refuse = (list: string, shown: Json | undefined, why: string): number =>
    errors.push(invalidValue(`${path}.${list}[${name}]`, quantityText(shown), why));
  const [least, most, usual, asked] = [min, max, limit, request].map((value) =>
    value === undefined ? "" : quantityText(value),
  );
  if (isAbove(min, max)) refuse("min", min, `min value ${least} is greater than max value ${most}`);
  if (isAbove(min, request))
    refuse("defaultRequest", request, `min value ${least} is greater than default request value ${asked}`);
  if (isAbove(request, max))
    refuse("defaultRequest", request, `default request value ${asked} is greater than max value ${most}`);
  if (isAbove(request, limit))
    refuse("defaultRequest", request, `default request value ${asked} is greater than default limit value ${usual}`);
  if (isAbove(min, limit)) refuse("default", min, `min value ${least} is greater than default value ${usual}`);
  if (isAbove(limit, max)) refuse("default", max, `default value ${usual} is greater than max value ${most}`);
  if (ratio !== undefined) {
    const refuseRatio = (why: string): number =>
      refuse("maxLimitRequestRatio", ratio, `ratio ${quantityText(ratio)} is ${why}`);
    if (nanosOf(ratio) < 1_000_000_000n) refuseRatio("less than 1");
    const widest = Number(nanosOf(max)) / Number(nanosOf(min));
    if (min !== undefined && max !== undefined && Number(nanosOf(ratio)) / 1e9 > widest) {
      refuseRatio(`greater than max/min = ${widest.toFixed(6)}`);
    }
  }
  const isOneAmount = limit === undefined || request === undefined || nanosOf(limit) === nanosOf(request);
  if (!isOneAmount && !isOvercommitted(name)) {
    refuse("defaultRequest", request, `default value ${usual} must equal to defaultRequest value ${asked} in ${name}`);
  }
}

const limitRange: StructRule = (spec, path, errors) => {
  const types = new Set<string>();
  for (const [index, item] of list(spec.limits).entries()) {
    const at = `${path}.limits[${index}]`;
    const type = String(item.type ?? "");
    const before = errors.length;
    qualified(type, `${at}.type`, errors);
    if (errors.length === before && !LIMIT_TYPES.includes(type) && !type.includes("/")) {
      errors.push(invalidValue(`${at}.type`, type, "must be a standard limit type or fully qualified"));
    }
    const nameOf = type === "Pod" || type === "Container" ? containerResourceName : resourceName;
    if (types.has(type)) errors.push(duplicate(`${at}.type`, type));
    types.add(type);
    const lists = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];
    const names = new Set<string>();
    for (const name of lists) {
      const isDefault = name.startsWith("default");
      if (isDefault && type === "Pod") {
        if (!isEmpty(item[name]))
          errors.push(forbiddenField(`${at}.${name}`, "may not be specified when `type` is 'Pod'"));
        continue;
      }
      entriesOf((resource, _value, place, found) => {
        nameOf(resource, place, found);
        names.add(resource);
      })(item[name], `${at}.${name}`, errors);
    }
    if (
      type === "PersistentVolumeClaim" &&
      object(item.min).storage === undefined &&
      object(item.max).storage === undefined
    ) {
      errors.push(
        required(`${at}.limits`, "either minimum or maximum storage value is required, but neither was provided"),
      );
    }
    for (const name of [...names].sort()) boundErrors(item, name, at, errors);
  }
};

const lease: StructRule = (spec, path, errors) => {
  pointed(number((value) => value > 0, "must be greater than 0"))(
    spec.leaseDurationSeconds,
    `${path}.leaseDurationSeconds`,
    errors,
  );
  pointed(number((value) => value >= 0, "must be greater than or equal to 0"))(
    spec.leaseTransitions,
    `${path}.leaseTransitions`,
    errors,
  );
};

export const policyRules: Readonly<Record<string, Rule>> = {
  "policy/poddisruptionbudgets": ofSpec(budget),
  "scheduling.k8s.io/priorityclasses": priorityClass,
  "/resourcequotas": ofSpec(quota),
  "/limitranges": ofSpec(limitRange),
  "coordination.k8s.io/leases": ofSpec(lease),
};
