/** CEL's reserved words. An expression spells a field with such a name `__name__`. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
const ESCAPES = [
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
] as const;

/** Escapes a field name for use in expressions. Undefined if that is impossible. */
export function escapedName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (KEYWORDS.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => ESCAPES.find(([plain]) => plain === part)![1]);
}

/** The field that an escaped name denotes; undefined for an invalid name. */
export function unescapedName(name: string): string | undefined {
  let isValid = true;
  const plain = name.replace(/__([^_]+)__/g, (whole, content: string) => {
    const known = ESCAPES.find(([, escaped]) => escaped === whole);
    if (known !== undefined) return known[0];
    if (!KEYWORDS.has(content) || whole !== name) isValid = false;
    return content;
  });
  return isValid ? plain : undefined;
}
