/** Words that CEL keeps for itself; a field of such a name is spelled `__name__`. */
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

/** How an expression spells a field: what CEL does not take in a name is escaped. Undefined where that is impossible. */
export function escapedName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (KEYWORDS.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => ESCAPES.find(([plain]) => plain === part)![1]);
}

/** The field that an expression means; undefined for a name that no field is spelled by. */
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
