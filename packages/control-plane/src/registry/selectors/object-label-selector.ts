import { type LabelMatcher, type LabelRequirement, labelMatcher } from "setpoint/kinds";

/** A `LabelSelector` as objects contain it. */
export interface ObjectLabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null }[]
    | null;
}

const OPERATORS: readonly string[] = ["In", "NotIn", "Exists", "DoesNotExist"] satisfies LabelRequirement["operator"][];

/** Matches all objects: a selector without terms. */
export const everything: LabelMatcher = () => true;

/** Compiles a selector. An absent or empty one matches everything. */
export function selectorOf(selector: ObjectLabelSelector | null | undefined): LabelMatcher {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(
    ([key, value]): LabelRequirement => ({ key, operator: "In", values: [value] }),
  );
  const expressions = (selector?.matchExpressions ?? []).flatMap(({ key, operator, values }): LabelRequirement[] => {
    if (!OPERATORS.includes(operator)) return [];
    return [{ key, operator: operator as LabelRequirement["operator"], values: values ?? [] }];
  });
  const terms = [...labels, ...expressions];
  return terms.length === 0 ? everything : labelMatcher(terms);
}
