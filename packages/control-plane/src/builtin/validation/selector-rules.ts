import { labelValue } from "setpoint/kinds";
import { forbiddenField, invalidValue, notSupported, required } from "../../api/field-error.js";
import { field, isArray, type JsonObject } from "../../api/json.js";
import {
  each,
  isEmpty,
  label1123,
  labels,
  list,
  object,
  oneOf,
  qualified,
  type Rule,
  type StructRule,
  struct,
} from "./rule.js";

const valuesOfOperator: StructRule = ({ operator, values }, path, errors) => {
  const isGiven = isArray(values) && values.length > 0;
  if (operator === "In" || operator === "NotIn") {
    if (!isGiven) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (isGiven) {
      errors.push(
        forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    }
  } else {
    errors.push(invalidValue(`${path}.operator`, operator ?? "", "not a valid selector operator"));
  }
};

const textValues: StructRule = ({ values }, path, errors) => {
  if (!isArray(values)) return;
  for (const [index, value] of values.entries()) {
    for (const why of labelValue(String(value))) errors.push(invalidValue(`${path}.values[${index}]`, value, why));
  }
};

/** Any label selector. */
export const labelSelector: Rule = struct({
  matchLabels: labels,
  matchExpressions: each(
    struct({}, valuesOfOperator, ({ key }, path, errors) => qualified(key ?? "", `${path}.key`, errors), textValues),
  ),
});

/** Whether a selector matches labels. An invalid selector matches nothing. */
export function selects(selector: JsonObject, given: JsonObject): boolean {
  const wanted = object(selector.matchLabels);
  if (Object.keys(wanted).some((key) => field(given, key) !== wanted[key])) return false;
  return list(selector.matchExpressions).every(({ key, operator, values }) => {
    const value = field(given, String(key));
    const isAmong = isArray(values) && values.includes(value ?? "");
    if (operator === "In") return value !== undefined && isAmong;
    if (operator === "NotIn") return value === undefined || !isAmong;
    if (operator === "Exists") return value !== undefined;
    return operator === "DoesNotExist" && value === undefined;
  });
}

const nodeValues: StructRule = ({ operator, values }, path, errors) => {
  const count = isArray(values) ? values.length : 0;
  if (operator === "In" || operator === "NotIn") {
    if (count === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (count > 0) {
      errors.push(
        forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    }
  } else if (operator === "Gt" || operator === "Lt") {
    if (count !== 1)
      errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else {
    errors.push(invalidValue(`${path}.operator`, operator ?? "", "not a valid selector operator"));
  }
};

const requirementKey: StructRule = ({ key }, path, errors) => qualified(key ?? "", `${path}.key`, errors);
const nodeRequirement = struct({}, nodeValues, requirementKey, textValues);
/** In a preferred term, an invalid label value causes only a warning. */
const preferredRequirement = struct({}, nodeValues, requirementKey);

const nodeFieldRequirement = struct({}, ({ operator, values, key }, path, errors) => {
  if (operator !== "In" && operator !== "NotIn") {
    errors.push(invalidValue(`${path}.operator`, operator ?? "", "not a valid selector operator"));
  } else if (!isArray(values) || values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, why));
  }
  if (key !== "metadata.name") errors.push(invalidValue(`${path}.key`, key ?? "", "not a valid field selector key"));
});

const nodeSelectorTerm = struct({ matchExpressions: each(nodeRequirement), matchFields: each(nodeFieldRequirement) });

const nodeSelector = struct({}, ({ nodeSelectorTerms }, path, errors) => {
  const at = `${path}.nodeSelectorTerms`;
  if (isEmpty(nodeSelectorTerms)) errors.push(required(at, "must have at least one node selector term"));
  else each(nodeSelectorTerm)(nodeSelectorTerms, at, errors);
});

const podAffinityTerm: Rule = struct(
  {
    labelSelector,
    namespaceSelector: labelSelector,
    namespaces: (value, path, errors) => {
      if (!isArray(value)) return;
      // kube-apiserver omits the index and the last letter of the path.
      for (const name of value) label1123(name, path.slice(0, -1), errors);
    },
  },
  ({ topologyKey }, path, errors) => {
    if (!topologyKey) errors.push(required(`${path}.topologyKey`, "can not be empty"));
    qualified(topologyKey ?? "", `${path}.topologyKey`, errors);
  },
);

const weight: StructRule = ({ weight: value }, path, errors) => {
  if (Number(value ?? 0) <= 0 || Number(value) > 100) {
    errors.push(invalidValue(`${path}.weight`, value ?? 0, "must be in the range 1-100"));
  }
};

const preferredTerm = struct({ matchExpressions: each(preferredRequirement), matchFields: each(nodeFieldRequirement) });
const preferredNode = struct({}, weight, ({ preference }, path, errors) =>
  preferredTerm(preference, `${path}.preference`, errors),
);

const podTerms = struct({
  requiredDuringSchedulingIgnoredDuringExecution: each(podAffinityTerm),
  preferredDuringSchedulingIgnoredDuringExecution: each(
    struct({}, weight, (term, path, errors) =>
      podAffinityTerm(term.podAffinityTerm, `${path}.podAffinityTerm`, errors),
    ),
  ),
});

export const affinity = struct({
  nodeAffinity: struct({
    requiredDuringSchedulingIgnoredDuringExecution: nodeSelector,
    preferredDuringSchedulingIgnoredDuringExecution: each(preferredNode),
  }),
  podAffinity: podTerms,
  podAntiAffinity: podTerms,
});

/** The nodes that can access a volume. */
export const volumeNodeAffinity = struct({}, ({ required: terms }, path, errors) => {
  if (terms === undefined) errors.push(required(`${path}.required`, "must specify required node constraints"));
  else nodeSelector(terms, `${path}.required`, errors);
});

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export const tolerations = each(
  struct({}, (toleration, path, errors) => {
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
    if (key !== "") qualified(key, `${path}.key`, errors);
    else if (operator !== "Exists") {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${path}.operator`, operator, why));
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      errors.push(invalidValue(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (operator === "Equal" || operator === "") {
      const complaints = labelValue(String(value));
      if (complaints.length > 0) errors.push(invalidValue(`${path}.operator`, value, complaints.join(";")));
    } else if (operator === "Exists") {
      if (value !== "")
        errors.push(invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else {
      errors.push(notSupported(`${path}.operator`, operator, ["Equal", "Exists"]));
    }
    if (effect !== "") oneOf(...EFFECTS)(effect, `${path}.effect`, errors);
  }),
);
