/** A string as Go's `%q` writes it: the form in which the real server's messages quote what a client sent. */
export function goQuote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that need an escape.
  if (!/[\u0000-\u001f"\\\u007f-\u00a0\u00ad\u2028\u2029\ufeff\ufffd\ud800-\udfff]/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += escape(character);
  return `${quoted}"`;
}

const NAMED = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);

function escape(character: string): string {
  const named = NAMED.get(character);
  if (named !== undefined) return named;
  const code = character.codePointAt(0)!;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  const isUnprintable =
    (code >= 0x80 && code <= 0xa0) || code === 0xad || code === 0x2028 || code === 0x2029 || code === 0xfeff;
  return isUnprintable ? `\\u${code.toString(16).padStart(4, "0")}` : character;
}
