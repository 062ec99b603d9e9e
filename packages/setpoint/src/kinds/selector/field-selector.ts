import { SelectorError } from "./selector-error.js";

/** One term of a field selector; all terms must hold. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** The text form of requests, or parsed terms. */
export type FieldSelectorLike = string | readonly FieldRequirement[];

/**
 * `metadata.name=a,status.phase!=Running`. Throws `FIELD_SELECTOR_INVALID`, a `SelectorError` in the words of an API
 * server. `\`, `,` and `=` in a value are escaped.
 */
export function parseFieldSelector(selector: FieldSelectorLike): readonly FieldRequirement[] {
  if (typeof selector !== "string") return selector;
  const terms = selector.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];
  return terms.sort().map((term) => {
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (!match) throw invalid(selector, `invalid selector: '${selector}'; can't understand '${term}'`);
    return { field: match[1]!, operator: match[2] === "!=" ? "!=" : "=", value: unescapeValue(match[3]!, selector) };
  });
}

/** The text for a query parameter: `metadata.name=web,status.phase!=Failed`. */
export function formatFieldSelector(selector: FieldSelectorLike): string {
  return parseFieldSelector(selector)
    .map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, "\\$&")}`)
    .join(",");
}

/** Whether one term holds for the text of its field, empty where that is absent. */
export function holdsField({ operator, value }: FieldRequirement, text: string): boolean {
  return (text === value) === (operator === "=");
}

function unescapeValue(value: string, selector: string): string {
  return value.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw invalid(selector, `invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`);
    }
    if (!/^[\\,=]$/.test(escaped)) {
      throw invalid(selector, `invalid field selector: invalid escape sequence: ${found}`);
    }
    return escaped;
  });
}

function invalid(selector: string, why: string): SelectorError {
  return new SelectorError("field", selector, why);
}
