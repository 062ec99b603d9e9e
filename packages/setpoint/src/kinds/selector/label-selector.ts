import { keyProblems, type LabelRequirement, shapeProblem, valueProblems } from "./label-requirement.js";
import { LabelRule } from "./label-rule.js";
import { LabelSelectorText } from "./label-selector-text.js";
import { SelectorError } from "./selector-error.js";

/** A selector in its object form. The empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** The text that requests take, the form that objects hold, or parsed terms. */
export type LabelSelectorLike = string | LabelSelector | readonly LabelRequirement[];

type Labels = Readonly<Record<string, string>>;

/** Whether an object with these labels is selected. */
export type LabelMatcher = (labels: Labels | undefined) => boolean;

/**
 * The terms of a selector, checked and in order of their keys. Throws `LABEL_SELECTOR_INVALID`, a `SelectorError` in
 * the words of an API server.
 *
 * ```ts
 * parseLabelSelector("app in (web, api), !canary");
 * parseLabelSelector({ matchLabels: { app: "web" } });
 * ```
 */
export function parseLabelSelector(selector: LabelSelectorLike): readonly LabelRequirement[] {
  if (isParsed(selector)) return selector;
  const terms = typeof selector === "string" ? new LabelSelectorText(selector).terms() : termsOf(selector);
  return terms.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

const isParsed = (selector: LabelSelectorLike): selector is readonly LabelRequirement[] => Array.isArray(selector);

function termsOf(selector: LabelSelector): LabelRequirement[] {
  const equalities = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]): LabelRequirement => ({ key, operator: "In", values: [value] }),
  );
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }): LabelRequirement => ({ key, operator, values: values ?? [] }),
  );
  const terms = [...equalities, ...expressions];
  for (const term of terms) {
    const parts = [...keyProblems(term.key), ...valueProblems(term)];
    const why = shapeProblem(term) ?? (parts.length > 0 ? "invalid requirement" : undefined);
    if (why !== undefined) throw new SelectorError("label", JSON.stringify(selector), why, parts);
  }
  return terms;
}

/** The canonical text: terms by key, values sorted; equal selectors give equal texts. */
export function formatLabelSelector(selector: LabelSelectorLike): string {
  return parseLabelSelector(selector).map(formatTerm).join(",");
}

function formatTerm({ key, operator, values }: LabelRequirement): string {
  const list = [...new Set(values)].sort();
  switch (operator) {
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "Gt":
      return `${key}>${values[0]}`;
    case "Lt":
      return `${key}<${values[0]}`;
    case "In":
      return list.length === 1 ? `${key}=${list[0]}` : `${key} in (${list.join(",")})`;
    case "NotIn":
      return list.length === 1 ? `${key}!=${list[0]}` : `${key} notin (${list.join(",")})`;
  }
}

/** Whether all terms hold for these labels. An absent label satisfies only `NotIn` and `DoesNotExist`. */
export function matchesLabels(selector: LabelSelectorLike, labels: Labels | undefined): boolean {
  return labelMatcher(selector)(labels);
}

/**
 * Whether labels satisfy a selector, for many objects. The cost for each grows with its labels and not with the terms:
 * a selector may have a hundred thousand, and a list as many objects.
 */
export function labelMatcher(selector: LabelSelectorLike): LabelMatcher {
  const rules = new Map<string, LabelRule>();
  for (const term of parseLabelSelector(selector)) {
    const rule = rules.get(term.key);
    if (rule === undefined) rules.set(term.key, new LabelRule(term));
    else rule.add(term);
  }
  let required = 0;
  for (const rule of rules.values()) if (rule.isRequired) required++;
  return (labels = {}) => {
    let met = 0;
    for (const key in labels) {
      const rule = rules.get(key);
      if (rule === undefined) continue;
      if (!rule.holds(labels[key]!)) return false;
      if (rule.isRequired) met++;
    }
    return met === required;
  };
}
