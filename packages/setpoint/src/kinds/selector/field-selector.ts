import { SetpointError } from "../../errors/error.js";

/** One term of a field selector; all terms must hold. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** The text that requests take, or parsed terms. */
export type FieldSelectorLike = string | readonly FieldRequirement[];

/** `metadata.name=a,status.phase!=Running`. Throws `FIELD_SELECTOR_INVALID`. `\`, `,` and `=` in a value are escaped. */
export function parseFieldSelector(selector: FieldSelectorLike): readonly FieldRequirement[] {
  if (typeof selector !== "string") return selector;
  const terms = selector.match(/(?:\\.|[^,\\]|\\$)+/g) ?? [];
  return terms.sort().map((term) => {
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (!match) throw invalid(selector, `"${term}" has no operator`);
    return { field: match[1]!, operator: match[2] === "!=" ? "!=" : "=", value: unescapeValue(match[3]!, selector) };
  });
}

/** As a query parameter takes it: `metadata.name=web,status.phase!=Failed`. */
export function formatFieldSelector(selector: FieldSelectorLike): string {
  return parseFieldSelector(selector)
    .map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, "\\$&")}`)
    .join(",");
}

/** Whether all terms hold; `textOf` gives the text of a field, empty where it is absent. */
export function matchesFields(selector: FieldSelectorLike, textOf: (field: string) => string): boolean {
  return parseFieldSelector(selector).every((term) => holdsField(term, textOf(term.field)));
}

/** Whether one term holds for the text of its field. */
export function holdsField({ operator, value }: FieldRequirement, text: string): boolean {
  return (text === value) === (operator === "=");
}

function unescapeValue(value: string, selector: string): string {
  return value.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    if (escaped === undefined) throw invalid(selector, `"${found}" in the value "${value}" is not escaped`);
    if (!/^[\\,=]$/.test(escaped)) throw invalid(selector, `"${found}" is no escape sequence`);
    return escaped;
  });
}

function invalid(selector: string, why: string): SetpointError {
  return new SetpointError("FIELD_SELECTOR_INVALID", `field selector ${JSON.stringify(selector)}: ${why}`);
}
