import { pathSegmentName } from "setpoint/kinds";
import { forbiddenField, invalidValue, notSupported, required } from "../../../api/field-error.js";
import { isObject, type JsonObject } from "../../../api/json.js";
import { containerResourceName } from "../pod/resource-rules.js";
import {
  aboveZero,
  each,
  isEmpty,
  label1123,
  list,
  nanosOf,
  needed,
  neededWith,
  nonNegativeQuantity,
  number,
  object,
  oneOf,
  pointed,
  type Rule,
  type StructRule,
  struct,
  text,
} from "../rule.js";

const segment = text((value) => pathSegmentName(value, false));
const reference = struct({ kind: needed(segment), name: needed(segment) });
/** The selector is not validated here: the metrics API parses it. */
const metric = struct({ name: neededWith("must specify a metric name", segment) });

const target = struct({}, (value, path, errors) => {
  const { type, value: amount, averageUtilization, averageValue } = value;
  if (isEmpty(type)) errors.push(required(`${path}.type`, "must specify a metric target type"));
  if (!["Utilization", "Value", "AverageValue"].includes(String(type))) {
    errors.push(invalidValue(`${path}.type`, type ?? "", "must be either Utilization, Value, or AverageValue"));
  }
  if (amount !== undefined && nanosOf(amount) <= 0n)
    errors.push(invalidValue(`${path}.value`, amount, "must be positive"));
  if (typeof averageUtilization === "number" && averageUtilization < 1) {
    errors.push(invalidValue(`${path}.averageUtilization`, averageUtilization, "must be greater than 0"));
  }
  if (averageValue !== undefined && nanosOf(averageValue) <= 0n) {
    errors.push(invalidValue(`${path}.averageValue`, averageValue, "must be positive"));
  }
});

/** Requires one of two amounts in a target. */
function choice(one: string, other: string, missing: string, both?: string): StructRule {
  return (source, path, errors) => {
    const given = object(source.target);
    const [first, second] = [given[one] !== undefined, given[other] !== undefined];
    if (!first && !second) errors.push(required(`${path}.target.${one === "value" ? other : one}`, missing));
    if (first && second && both !== undefined) {
      errors.push(forbiddenField(`${path}.target.${one === "value" ? one : other}`, both));
    }
  };
}

const utilization = choice(
  "averageUtilization",
  "averageValue",
  "must set either a target raw value or a target utilization",
  "may not set both a target raw value and a target utilization",
);

/** Metric sources, in kube-apiserver's order. */
const SOURCES: Readonly<Record<string, Rule>> = {
  object: struct(
    { describedObject: reference, metric, target },
    choice("value", "averageValue", "must set either a target value or averageValue"),
  ),
  external: struct(
    { metric, target },
    choice(
      "value",
      "averageValue",
      "must set either a target value for metric or a per-pod target",
      "may not set both a target value for metric and a per-pod target",
    ),
  ),
  pods: struct({ metric, target }, (source, path, errors) => {
    if (object(source.target).averageValue === undefined) {
      errors.push(required(`${path}.target.averageValue`, "must specify a positive target averageValue"));
    }
  }),
  resource: struct({ name: neededWith("must specify a resource name"), target }, utilization),
  containerResource: struct(
    {
      name: neededWith("must specify a resource name", (name, path, errors) =>
        containerResourceName(String(name), path, errors),
      ),
      container: neededWith("must specify a container", label1123),
      target,
    },
    utilization,
  ),
};
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ContainerResource: "containerResource",
    External: "external",
    Object: "object",
    Pods: "pods",
    Resource: "resource",
  }),
);

const metricSpec = struct({}, (spec, path, errors) => {
  const type = String(spec.type ?? "");
  if (type === "") errors.push(required(`${path}.type`, "must specify a metric source type"));
  const unknown = notSupported(`${path}.type`, type, [...TYPES.keys()]);
  const expected = TYPES.get(type);
  if (expected === undefined) errors.push(unknown);
  const present = Object.keys(SOURCES).filter((name) => isObject(spec[name]));
  const [first] = present;
  if (first !== undefined) SOURCES[first]!(spec[first], `${path}.${first}`, errors);
  if (expected === undefined) errors.push(unknown);
  else if (!present.includes(expected)) {
    errors.push(required(`${path}.${expected}`, "must populate information for the given metric source"));
  }
  if (present.length === 1) return;
  for (const name of present) {
    if (name !== expected) errors.push(forbiddenField(`${path}.${name}`, "must populate the given metric source only"));
  }
});

const scalingRules = struct({}, (rules, path, errors) => {
  const { stabilizationWindowSeconds: window, selectPolicy, policies, tolerance } = rules;
  pointed(
    number((value) => value >= 0, "must be greater than or equal to zero"),
    number((value) => value <= 3600, "must be less than or equal to 3600"),
  )(window, `${path}.stabilizationWindowSeconds`, errors);
  pointed(oneOf("Disabled", "Max", "Min"))(selectPolicy, `${path}.selectPolicy`, errors);
  if (list(policies).length === 0) errors.push(required(`${path}.policies`, "must specify at least one Policy"));
  each(scalingPolicy)(policies, `${path}.policies`, errors);
  if (tolerance !== undefined) nonNegativeQuantity(tolerance, `${path}.tolerance`, errors);
});

const scalingPolicy = struct({}, ({ type, value, periodSeconds }, path, errors) => {
  oneOf("Percent", "Pods")(type, `${path}.type`, errors);
  aboveZero(value ?? 0, `${path}.value`, errors);
  aboveZero(periodSeconds ?? 0, `${path}.periodSeconds`, errors);
  number((seconds) => seconds <= 1800, "must be less than or equal to 1800")(
    periodSeconds,
    `${path}.periodSeconds`,
    errors,
  );
});

const replicas: StructRule = ({ minReplicas, maxReplicas, metrics: given }, path, errors) => {
  const most = Number(maxReplicas ?? 0);
  if (typeof minReplicas === "number" && minReplicas < 1) {
    errors.push(invalidValue(`${path}.minReplicas`, minReplicas, "must be greater than or equal to 1"));
  }
  if (most === 0) errors.push(required(`${path}.maxReplicas`, "must be set and greater than 0"));
  else if (most < 0) errors.push(invalidValue(`${path}.maxReplicas`, most, "must be greater than or equal to 1"));
  if (minReplicas === 0 && !list(given).some(({ type }) => type === "Object" || type === "External")) {
    const why = "must specify at least one Object or External metric to support scaling to zero replicas";
    errors.push(forbiddenField(`${path}.metrics`, why));
  }
  if (typeof minReplicas === "number" && most < minReplicas) {
    errors.push(invalidValue(`${path}.maxReplicas`, most, "must be greater than or equal to `minReplicas`"));
  }
};

const targetReference: StructRule = ({ scaleTargetRef }, path, errors) => {
  const { apiVersion } = object(scaleTargetRef);
  reference(object(scaleTargetRef), `${path}.scaleTargetRef`, errors);
  const parts = String(apiVersion ?? "").split("/").length;
  if (parts < 2) {
    errors.push(
      invalidValue(`${path}.scaleTargetRef.apiVersion`, apiVersion ?? "", "apiVersion must specify API group"),
    );
  } else if (parts > 2) {
    errors.push(
      invalidValue(`${path}.scaleTargetRef.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`),
    );
  }
};

const autoscaler: Rule = (value, _path, errors) => {
  const spec: JsonObject = object(object(value).spec);
  replicas(spec, "spec", errors);
  targetReference(spec, "spec", errors);
  each(metricSpec)(spec.metrics, "spec.metrics", errors);
  struct({ scaleUp: scalingRules, scaleDown: scalingRules })(spec.behavior, "spec.behavior", errors);
};

export const autoscalingRules: Readonly<Record<string, Rule>> = { "autoscaling/horizontalpodautoscalers": autoscaler };
