const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LINE_END = 0x0a;

/**
 * Estimates how many values a JSON or YAML text holds: each value follows a comma, opens a map or list, or has its own
 * line. The estimate may be too high, but is never far too low. Stops counting at `most`.
 */
export function partsOf(text: Uint8Array, most: number): number {
  let parts = 0;
  for (let at = 0; at < text.length && parts < most; at++) {
    const byte = text[at];
    if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET || byte === LINE_END) parts++;
  }
  return parts;
}
