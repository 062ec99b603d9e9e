import type { LabelRequirement } from "setpoint/kinds";
import { type LabelSelector, labelSelector } from "./label-selector.js";

/** A `LabelSelector` as it stands in objects. */
export interface ObjectLabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null }[]
    | null;
}

const OPERATORS: readonly string[] = ["In", "NotIn", "Exists", "DoesNotExist"] satisfies LabelRequirement["operator"][];

/** Absent and empty ones match everything. */
export function selectorOf(selector: ObjectLabelSelector | null | undefined): LabelSelector {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(
    ([key, value]): LabelRequirement => ({ key, operator: "In", values: [value] }),
  );
  const expressions = (selector?.matchExpressions ?? []).flatMap(({ key, operator, values }): LabelRequirement[] => {
    if (!OPERATORS.includes(operator)) return [];
    return [{ key, operator: operator as LabelRequirement["operator"], values: values ?? [] }];
  });
  return labelSelector([...labels, ...expressions]);
}
