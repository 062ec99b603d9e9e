const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LINE_END = 0x0a;

/**
 * About how many values a text of JSON or YAML holds, and never far too few: each has a comma before it, opens a map or
 * a list, or stands on a line of its own. Counts no further than `most`.
 */
export function partsOf(text: Uint8Array, most: number): number {
  let parts = 0;
  for (let at = 0; at < text.length && parts < most; at++) {
    const byte = text[at];
    if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET || byte === LINE_END) parts++;
  }
  return parts;
}
