/** What moves the cursor, rings, colours or renames a terminal, hides text or turns its direction. */
const CONTROL = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Text of others in one line, as it can be shown to a person: control characters are written out as escapes. */
export function visible(text: string): string {
  return text.replaceAll(CONTROL, escapeOf);
}

/** The same for text that has lines, as YAML: these stay. */
export function visibleLines(text: string): string {
  return text.replaceAll(CONTROL, (character) => (character === "\n" ? character : escapeOf(character)));
}

function escapeOf(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  const code = character.codePointAt(0)!;
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
