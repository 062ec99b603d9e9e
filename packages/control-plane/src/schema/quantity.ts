/**
 * Parses and formats quantities like kube-apiserver, including its bugs: beyond the largest suffix it loses the
 * amount, which `setpoint/quantity` keeps. Texts come from clients, so the cost is linear in their length.
 */

/** Thrown for text that is not a quantity. The message is kube-apiserver's. */
export class QuantityError extends Error {}

type Notation = "decimal" | "binary" | "exponent";

/** The amount is `mantissa` times ten to the power of `scale`. */
interface Quantity {
  readonly mantissa: bigint;
  readonly scale: number;
  readonly notation: Notation;
  /** The original text, if Go considers it canonical and writes it back. */
  readonly text: string | undefined;
  /** Whether the amount fits Go's int64. Go rounds larger ones to billionths when parsing. */
  readonly isSmall: boolean;
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
/** No two adjacent parts can begin with the same character, so matching is linear in the text. */
const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?|[-+])\d*|)$/;
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO = -9;
const MAX_INT64 = 2n ** 63n - 1n;
const INT64_DIGITS = 18;

/**
 * A quantity as kube-apiserver writes it: `1000m` becomes `1`, `1.5Gi` becomes `1536Mi`. With `finest`, rounds up to
 * that scale: resource lists keep thousandths.
 */
export function canonicalQuantity(text: string, finest?: number): string {
  const quantity = parse(text.trim());
  const rounded = finest === undefined ? quantity : roundedTo(quantity, finest);
  return rounded.text ?? format(rounded);
}

/** The amount in billionths, rounded up. */
export function quantityNanos(text: string): bigint {
  const { mantissa, scale } = parse(text.trim());
  return scaled(mantissa, scale - NANO);
}

function parse(text: string): Quantity {
  if (text === "0") return { mantissa: 0n, scale: 0, notation: "decimal", text, isSmall: true };
  const match = text === "" ? null : PATTERN.exec(text);
  if (match === null) throw new QuantityError(WRONG_FORMAT);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match;
  const { notation, exponent } = scaleOf(suffix);
  const number = whole.replace(/^0+/, "") || "0";
  const digits = `${number}${fraction}`;
  const isNegative = sign === "-";
  const value = BigInt(digits);
  const binaryFactor = notation === "binary" ? 2n ** BigInt(exponent) : 1n;
  const scale = (notation === "binary" ? 0 : exponent) - fraction.length;
  const mantissa = value * binaryFactor * (isNegative ? -1n : 1n);
  const spareDigits =
    notation === "binary"
      ? fraction === ""
        ? 15 - number.length - Math.trunc(Math.fround(exponent * 3) / 10) - 1
        : -1
      : INT64_DIGITS - digits.length;
  if (spareDigits >= 0 && scale >= NANO && value * binaryFactor <= MAX_INT64) {
    const isCanonical =
      notation === "binary" ? (value & 7n) !== 0n : scale % 3 === 0 && !digits.endsWith("000") && digits[0] !== "0";
    return { mantissa, scale, notation, text: isCanonical ? text : undefined, isSmall: true };
  }
  return large(mantissa, scale, notation);
}

/** An amount that Go parses with arbitrary precision: at most billionths, and capped if binary. */
function large(mantissa: bigint, scale: number, notation: Notation): Quantity {
  let amount = scale < NANO ? scaled(mantissa, scale - NANO) : mantissa;
  let at = Math.max(scale, NANO);
  if (notation === "binary" && scaled(amount, at) > MAX_INT64) {
    amount = MAX_INT64;
    at = 0;
  }
  return { mantissa: amount, scale: at, notation, text: undefined, isSmall: false };
}

function scaleOf(suffix: string): { readonly notation: Notation; readonly exponent: number } {
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return { notation: "decimal", exponent: (decimal - 3) * 3 };
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { notation: "binary", exponent: binary * 10 };
  if (/^[eE][-+]?\d{1,9}$/.test(suffix)) return { notation: "exponent", exponent: clamp(Number(suffix.slice(1))) };
  throw new QuantityError("unable to parse quantity's suffix");
}

/** Limits the exponent, so that no number takes long to compute. */
function clamp(exponent: number): number {
  return Math.max(-1000, Math.min(1000, exponent));
}

function roundedTo(quantity: Quantity, finest: number): Quantity {
  const { mantissa, scale, isSmall } = quantity;
  if (scale >= finest) return isSmall ? quantity : { ...quantity, text: undefined };
  return { ...quantity, mantissa: scaled(mantissa, scale - finest), scale: finest, text: undefined };
}

/** `mantissa` times ten to the power of `power`, rounded away from zero. */
function scaled(mantissa: bigint, power: number): bigint {
  if (power >= 0) return mantissa * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  const quotient = mantissa / divisor;
  if (mantissa % divisor === 0n) return quotient;
  return mantissa < 0n ? quotient - 1n : quotient + 1n;
}

function format(quantity: Quantity): string {
  const { mantissa, scale, notation } = quantity;
  if (mantissa === 0n) return "0";
  if (notation !== "binary") return formatDecimal(mantissa, scale, notation);
  const whole = scaled(mantissa, scale);
  const isExact = scale >= 0 || mantissa % 10n ** BigInt(-scale) === 0n;
  const size = mantissa < 0n ? -whole : whole;
  return isExact && size >= 1024n ? formatBinary(whole) : formatDecimal(mantissa, scale, "decimal");
}

function formatDecimal(mantissa: bigint, scale: number, notation: Notation): string {
  const digits = String(mantissa);
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  let amount = BigInt(digits.slice(0, end));
  let exponent = scale + digits.length - end;
  while (exponent % 3 !== 0) {
    amount *= 10n;
    exponent--;
  }
  if (notation === "exponent") return exponent === 0 ? `${amount}` : `${amount}e${exponent}`;
  return `${amount}${DECIMAL[exponent / 3 + 3] ?? ""}`;
}

function formatBinary(whole: bigint): string {
  let amount = whole;
  let step = 0;
  while (amount % 1024n === 0n) {
    amount /= 1024n;
    step++;
  }
  return `${amount}${BINARY[step] ?? ""}`;
}
