import { SetpointError } from "../errors/error.js";

/** The notation of a quantity, which sums keep: `12M`, `12Mi`, `12e6`. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/**
 * An exact amount of a resource: `mantissa` × 10^`exponent`. Parsing, sums and the canonical text match those of
 * Kubernetes exactly; amounts are rounded away from zero to a billionth.
 */
export interface Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** The original text, if Kubernetes treats it as canonical. */
  readonly text?: string;
}

/** A quantity as objects have it, or a parsed one. */
export type QuantityLike = string | number | Quantity;

/** The `pattern` of a quantity in schemas, valid in RE2 and in JavaScript. */
export const quantityPattern =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** No two parts can begin with the same character, so matching is linear. */
const PARTS = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?|[-+])\d*|)$/;
const DECIMAL_EXPONENTS = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const DECIMAL_SUFFIXES = new Map([...DECIMAL_EXPONENTS].map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** The smallest unit: a billionth. */
const FINEST_EXPONENT = -9;
const LARGEST_INT64 = 2n ** 63n - 1n;
/** Numbers of at most this many digits are read exactly. */
const INT64_DIGITS = 18;
/** How many characters of a text an error quotes. */
const MAX_SHOWN = 80;

/**
 * Parses `100m`, `1.5Gi`, `12e6`, `3`. Throws `QUANTITY_INVALID` for texts that Kubernetes refuses too.
 *
 * ```ts
 * formatQuantity(addQuantities("1500m", "0.5")); // "2"
 * compareQuantities("1Gi", "1G") > 0;
 * ```
 */
export function parseQuantity(value: QuantityLike): Quantity {
  if (typeof value === "object") return value;
  const text = String(value);
  const match = text === "" ? undefined : PARTS.exec(text);
  if (!match) throw invalid(text, "it is not a number with a suffix");
  const negative = match[1] === "-";
  const whole = match[2]!.replace(/^0+/, "");
  const fraction = match[3] ?? "";
  const { format, exponent, power } = readSuffix(text, match[4]!);
  const digits = (whole || "0") + fraction;
  const scale = exponent - fraction.length;
  const magnitude = BigInt(digits) << BigInt(power);
  const signed = negative ? -magnitude : magnitude;
  if (isExact(format, digits, fraction, scale, power)) {
    const amount = { mantissa: signed, exponent: scale, format };
    return isCanonical(format, digits, scale) ? { ...amount, text } : amount;
  }
  if (match[2] === "" && fraction === "") throw invalid(text, "it has no digits");
  return settle(signed, scale, format);
}

function readSuffix(text: string, suffix: string): { format: QuantityFormat; exponent: number; power: number } {
  const exponent = DECIMAL_EXPONENTS.get(suffix);
  if (exponent !== undefined) return { format: "DecimalSI", exponent, power: 0 };
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  if (binary > 0) return { format: "BinarySI", exponent: 0, power: binary * 10 };
  if (/^[eE][-+]?\d+$/.test(suffix)) {
    const given = Number(suffix.slice(1));
    if (Math.abs(given) > 1_000) throw invalid(text, "its exponent is too large");
    return { format: "DecimalExponent", exponent: given, power: 0 };
  }
  throw invalid(text, `the suffix "${suffix}" is not one of n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent`);
}

/** Whether Kubernetes parses the number into 64 bits, without rounding or bounds. */
function isExact(format: QuantityFormat, digits: string, fraction: string, scale: number, power: number): boolean {
  if (format !== "BinarySI") return digits.length <= INT64_DIGITS && scale >= FINEST_EXPONENT;
  return fraction === "" && 15 - digits.length - Math.trunc((power * 3) / 10) - 1 >= 0;
}

/** Kubernetes keeps a text that its fast path treats as canonical: `1.500` stays `1.500`, but `1500k` becomes `1500k`. */
function isCanonical(format: QuantityFormat, digits: string, scale: number): boolean {
  if (format === "BinarySI") return (BigInt(digits) & 7n) !== 0n;
  return scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

/** Rounds to billionths, away from zero, and limits binary amounts to 64 bits. */
function settle(signed: bigint, scale: number, format: QuantityFormat): Quantity {
  const negative = signed < 0n;
  let magnitude = negative ? -signed : signed;
  let exponent = scale;
  if (exponent < FINEST_EXPONENT) {
    const divisor = 10n ** BigInt(FINEST_EXPONENT - exponent);
    magnitude = (magnitude + divisor - 1n) / divisor;
    exponent = FINEST_EXPONENT;
  }
  let written = format;
  if (format === "BinarySI") {
    const unit = 10n ** BigInt(-Math.min(exponent, 0));
    if (magnitude > LARGEST_INT64 * unit) [magnitude, exponent] = [LARGEST_INT64, 0];
    else if (magnitude > 0n && magnitude < unit) written = "DecimalSI";
  }
  return { mantissa: negative ? -magnitude : magnitude, exponent, format: written };
}

/** The canonical text: no fraction, the largest suffix that keeps it whole, and the original notation. */
export function formatQuantity(value: QuantityLike): string {
  const quantity = parseQuantity(value);
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.mantissa === 0n) return "0";
  return (quantity.format === "BinarySI" && formatBinary(quantity)) || formatDecimal(quantity);
}

/** Undefined if the decimal form is better: below 1024, or not a whole number. */
function formatBinary(quantity: Quantity): string | undefined {
  let whole = toInteger(quantity);
  if (whole === undefined || (whole > -1024n && whole < 1024n)) return undefined;
  let power = 0;
  for (; whole % 1024n === 0n; whole /= 1024n) power++;
  return `${whole}${BINARY_SUFFIXES[power] ?? ""}`;
}

function formatDecimal({ mantissa, exponent, format }: Quantity): string {
  let digits = mantissa;
  let power = exponent;
  for (; digits % 10n === 0n; digits /= 10n) power++;
  for (; power % 3 !== 0; power--) digits *= 10n;
  if (format === "DecimalExponent") return `${digits}${power === 0 ? "" : `e${power}`}`;
  // There is no larger suffix: write zeros instead.
  for (; power > 18; power--) digits *= 10n;
  return `${digits}${DECIMAL_SUFFIXES.get(power)}`;
}

/** The amount as a whole number; undefined if it has a fraction. */
function toInteger({ mantissa, exponent }: Quantity): bigint | undefined {
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return mantissa % divisor === 0n ? mantissa / divisor : undefined;
}

/** A comparator for `Array.sort`; ignores the notation. */
export function compareQuantities(left: QuantityLike, right: QuantityLike): number {
  const [a, b] = aligned(parseQuantity(left), parseQuantity(right));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The sum, in the notation of the first operand unless that is zero. */
export function addQuantities(left: QuantityLike, right: QuantityLike): Quantity {
  const [a, b] = [parseQuantity(left), parseQuantity(right)];
  const [x, y, exponent] = aligned(a, b);
  return { mantissa: x + y, exponent, format: a.mantissa === 0n ? b.format : a.format };
}

/** `a - b`, exact, in the notation of `a`. */
export function subtractQuantities(left: QuantityLike, right: QuantityLike): Quantity {
  const { mantissa, exponent, format } = parseQuantity(right);
  return addQuantities(left, { mantissa: -mantissa, exponent, format });
}

/** As a floating-point number, for arithmetic and metrics; large ones lose digits. */
export function quantityToNumber(value: QuantityLike): number {
  const { mantissa, exponent } = parseQuantity(value);
  return Number(`${mantissa}e${exponent}`);
}

function aligned(a: Quantity, b: Quantity): readonly [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = (quantity: Quantity) => quantity.mantissa * 10n ** BigInt(quantity.exponent - exponent);
  return [scaled(a), scaled(b), exponent];
}

function invalid(text: string, why: string): SetpointError {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return new SetpointError("QUANTITY_INVALID", `${JSON.stringify(shown)} is not a quantity: ${why}`);
}
