import type { Schema } from "../../facts/schema.js";

const NAMED: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

/** Resolves a rule's `fieldPath` to the path that errors show: `spec[key].name`. Undefined if it does not resolve. */
export function fieldPathIn(schema: Schema, path: string): string | undefined {
  let current: Schema | undefined = schema;
  let result = "";
  let rest = path;
  while (rest !== "") {
    const match: RegExpExecArray | null = /^(?:\.([^.[\]']+)|\['((?:[^'\\]|\\.)*)'\])/s.exec(rest);
    if (match === null || current === undefined) return undefined;
    const name = match[1] ?? unescaped(match[2]!);
    if (name === undefined) return undefined;
    if (current.properties !== undefined) {
      if (!Object.hasOwn(current.properties, name)) return undefined;
      current = current.properties[name];
      result += result === "" ? name : `.${name}`;
    } else if (current.additionalProperties !== undefined) {
      const { additionalProperties }: Schema = current;
      current = typeof additionalProperties === "object" ? additionalProperties : undefined;
      result += `[${name}]`;
    } else return undefined;
    rest = rest.slice(match[0].length);
  }
  return result;
}

function unescaped(text: string): string | undefined {
  let isValid = true;
  const result = text.replace(/\\(.)/gs, (_sequence, letter: string) => {
    const named = NAMED[letter];
    if (named === undefined) isValid = false;
    return named ?? "";
  });
  return isValid ? result : undefined;
}
