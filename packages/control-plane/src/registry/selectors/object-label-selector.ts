import { type LabelRequirement, type LabelSelector, labelSelector } from "./label-selector.js";

/** A `LabelSelector` as it stands in objects. */
export interface ObjectLabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null }[]
    | null;
}

const OPERATORS: Readonly<Record<string, LabelRequirement["operator"]>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

/** Absent and empty ones match everything. */
export function selectorOf(selector: ObjectLabelSelector | null | undefined): LabelSelector {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(
    ([key, value]): LabelRequirement => ({ key, operator: "in", values: [value] }),
  );
  const expressions = (selector?.matchExpressions ?? []).flatMap(({ key, operator, values }): LabelRequirement[] => {
    const known = OPERATORS[operator];
    return known ? [{ key, operator: known, values: values ?? [] }] : [];
  });
  return labelSelector([...labels, ...expressions]);
}
