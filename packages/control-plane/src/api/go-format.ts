import { isArray, isObject, type Json, type MutableJsonObject, setField } from "./json.js";

/** Formats a value like Go's `%v`, as in error messages of the real server. */
export function goValue(value: Json): string {
  if (value === null) return "<nil>";
  if (typeof value === "number") return goNumber(value);
  if (isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${goValue(value[key]!)}`).join(" ")}]`;
  }
  return String(value);
}

/** Formats a value like Go's `%#v`. */
export function goSyntax(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  if (isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    return `map[string]interface {}{${keys.map((key) => `${goQuote(key)}:${goSyntax(value[key]!)}`).join(", ")}}`;
  }
  return String(value);
}

/** Formats a string like Go's `%q`. */
export function goQuote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that need an escape.
  if (!/[\u0000-\u001f"\\\u007f-\u00a0\u00ad\u2028\u2029\ufeff\ufffd\ud800-\udfff]/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += escaped(character);
  return `${quoted}"`;
}

const NAMED_ESCAPES = new Map([
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

function escaped(character: string): string {
  const named = NAMED_ESCAPES.get(character);
  if (named !== undefined) return named;
  const code = character.codePointAt(0)!;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  const isUnprintable =
    (code >= 0x80 && code <= 0xa0) || code === 0xad || code === 0x2028 || code === 0x2029 || code === 0xfeff;
  return isUnprintable ? `\\u${code.toString(16).padStart(4, "0")}` : character;
}

/** JSON as Go's encoder writes it: sorted keys, and escapes for characters that could end a script element. */
export function goJson(value: Json): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string" && PLAIN.test(value)) return `"${value}"`;
  const text = JSON.stringify(sorted(value));
  return /[<>&\u2028\u2029]/.test(text)
    ? text.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;
}

/** Text that needs no escapes in JSON. */
const PLAIN = /^[\w ./:@+,=-]*$/;

function sorted(value: Json): Json {
  if (isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const result: MutableJsonObject = {};
  for (const key of Object.keys(value).sort()) setField(result, key, sorted(value[key]!));
  return result;
}

/** The name of the Go type that JSON decodes the value into. */
export function goTypeName(value: Json): string {
  if (value === null) return "<nil>";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

/** Formats integers in full, and other numbers with the fewest digits and an exponent from 21 digits on. */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString();
  return goFloat(value);
}

/** Formats a float64 like Go's `%v`. */
export function goFloat(value: number): string {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -4 || exponent >= 21) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return String(value);
}
