import { labelValue, qualifiedName } from "../label-rules.js";
import { INTEGER } from "./label-rule.js";
import type { InvalidPart } from "./selector-error.js";

/** One term of a parsed selector; all terms must hold. `a=b` is `In` with one value, `a!=b` is `NotIn`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** Why an operator cannot have so many values. */
export function shapeProblem({ operator, values: { length } }: LabelRequirement): string | undefined {
  switch (operator) {
    case "In":
    case "NotIn":
      return length === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case "Exists":
    case "DoesNotExist":
      return length > 0 ? "values set must be empty for exists and does not exist" : undefined;
    case "Gt":
    case "Lt":
      return length === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    default:
      return `"${String(operator)}" is not a valid label selector operator`;
  }
}

/** Why a key cannot be that of a label, as an API server says it. */
export function keyProblems(key: string): readonly InvalidPart[] {
  const complaints = qualifiedName(key);
  return complaints.length === 0 ? [] : [{ field: "<nil>", value: key, detail: complaints.join("; ") }];
}

/** Why values cannot be those of a label, as an API server says it. */
export function* valueProblems({ key, operator, values }: LabelRequirement): Iterable<InvalidPart> {
  for (const [index, value] of values.entries()) {
    if ((operator === "Gt" || operator === "Lt") && !INTEGER.test(value)) {
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
      yield { field: `values[${index}]`, value, detail };
    }
    const complaints = labelValue(value);
    if (complaints.length > 0) yield { field: `values[${index}][${key}]`, value, detail: complaints.join("; ") };
  }
}
