import type { UntypedObject } from "setpoint/kinds";
import { type Cells, list, record, text } from "./cell-values.js";

const UNSET = "<unset>";

function policy({ spec }: UntypedObject): Cells {
  const { validations, mutations, paramKind } = record(spec);
  const { apiVersion, kind } = record(paramKind);
  return {
    Validations: list(validations).length,
    Mutations: list(mutations).length,
    ParamKind: paramKind === undefined ? UNSET : `${text(apiVersion)}/${text(kind)}`,
  };
}

function binding({ spec }: UntypedObject): Cells {
  const { policyName, paramRef } = record(spec);
  return { PolicyName: text(policyName), ParamRef: paramText(record(paramRef)) };
}

/** Whether the parameter kind is namespaced is unknown here, so a missing namespace shows as `*`. */
function paramText({ name, namespace, selector }: Readonly<Record<string, unknown>>): string {
  if (name) return `${text(namespace || "*")}/${text(name)}`;
  return selector === undefined ? UNSET : selectorStruct(record(selector));
}

/** A selector as Go prints its struct. */
function selectorStruct({ matchLabels, matchExpressions }: Readonly<Record<string, unknown>>): string {
  const labels = Object.entries(record(matchLabels))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${text(value)},`);
  const requirements = list(matchExpressions).map((each) => {
    const { key, operator, values } = record(each);
    const set = list(values).map(text).join(" ");
    return `LabelSelectorRequirement{Key:${text(key)},Operator:${text(operator)},Values:[${set}],},`;
  });
  const given = requirements.join("");
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${given}},}`;
}

function webhooks(object: UntypedObject): Cells {
  return { Webhooks: list(object.webhooks).length };
}

export const admissionCells = { policy, binding, webhooks };
