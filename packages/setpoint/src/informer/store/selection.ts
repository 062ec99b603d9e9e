import type { KubeObject } from "../../kinds/object.js";
import {
  type FieldRequirement,
  type FieldSelectorLike,
  holdsField,
  parseFieldSelector,
} from "../../kinds/selector/field-selector.js";
import type { LabelRequirement } from "../../kinds/selector/label-requirement.js";
import { LabelRule } from "../../kinds/selector/label-rule.js";
import { type LabelSelectorLike, parseLabelSelector } from "../../kinds/selector/label-selector.js";
import { FieldPath } from "./field-path.js";

/** Which cached objects a list returns. Defaults to all. */
export interface ListSelection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: LabelSelectorLike | undefined;
  /**
   * On any field of the object with a string, number or boolean (`spec.nodeName=node-1`), not only on those that the
   * server supports. An absent field counts as empty.
   */
  readonly fieldSelector?: FieldSelectorLike | undefined;
}

/** One term of a selector over the text of one field. */
export interface Term {
  /** Terms with the same id are about the same field. */
  readonly id: string;
  readonly path: FieldPath;
  /** The texts that satisfy it; `"present"` if any does. Undefined if an absent field may satisfy it too. */
  readonly texts: readonly string[] | "present" | undefined;
  holds(text: string | undefined): boolean;
}

/** The terms of a selection. Throws `LABEL_SELECTOR_INVALID` or `FIELD_SELECTOR_INVALID`. */
export function termsOf({ labelSelector, fieldSelector }: ListSelection): readonly Term[] {
  const terms: Term[] = [];
  if (labelSelector) for (const term of parseLabelSelector(labelSelector)) terms.push(labelTerm(term));
  if (fieldSelector) for (const term of parseFieldSelector(fieldSelector)) terms.push(fieldTerm(term));
  return terms;
}

/** Whether an object satisfies all terms. */
export function isSelectedBy(terms: readonly Term[], object: KubeObject): boolean {
  return terms.every((term) => term.holds(term.path.textOf(object)));
}

function labelTerm(term: LabelRequirement): Term {
  const { key, operator, values } = term;
  const rule = new LabelRule(term);
  const isPresent = operator === "Exists" || operator === "Gt" || operator === "Lt";
  return {
    id: `label ${key}`,
    path: FieldPath.ofLabel(key),
    texts: operator === "In" ? values : isPresent ? "present" : undefined,
    holds: (text) => rule.holds(text),
  };
}

function fieldTerm(term: FieldRequirement): Term {
  const { field, operator, value } = term;
  return {
    id: `field ${field}`,
    path: FieldPath.ofField(field),
    texts: operator === "=" && value !== "" ? [value] : undefined,
    holds: (text) => holdsField(term, text ?? ""),
  };
}
