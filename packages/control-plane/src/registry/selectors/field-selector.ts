import { badRequest } from "../../api/status-error.js";

export interface FieldTerm {
  readonly field: string;
  readonly isNegated: boolean;
  readonly value: string;
}

/** Parses a `fieldSelector`; throws the real server's 400 if it is invalid. The kind decides which fields exist. */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  return splitTerms(text)
    .sort()
    .filter((term) => term !== "")
    .map((term) => {
      const match = /!=|==|=/.exec(term);
      if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const value = unescaped(term.slice(match.index + match[0].length));
      return { field: term.slice(0, match.index), isNegated: match[0] === "!=", value };
    });
}

/** At commas that no backslash escapes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  let isEscaped = false;
  for (let at = 0; at < text.length; at++) {
    if (isEscaped) isEscaped = false;
    else if (text[at] === "\\") isEscaped = true;
    else if (text[at] === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function unescaped(value: string): string {
  if (!/[\\,=]/.test(value)) return value;
  let result = "";
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!;
    if (character === "\\") {
      const next = value[++at];
      if (next === undefined || !/[\\,=]/.test(next)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${next ?? ""}`);
      }
      result += next;
    } else if (character === "," || character === "=") {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else result += character;
  }
  return result;
}
