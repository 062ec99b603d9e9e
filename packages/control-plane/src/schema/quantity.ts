/** Thrown for text that is no quantity; the message is the real server's. */
export class QuantityError extends Error {}

type Notation = "decimal" | "binary" | "exponent";

const PATTERN = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Amounts are kept in billionths: what is finer is rounded up. */
const NANO = 1_000_000_000n;
const MAX = (2n ** 63n - 1n) * NANO;

/** A quantity as the real server writes it back: `1000m` is `1`, `1.5Gi` is `1536Mi`. */
export function canonicalQuantity(text: string): string {
  const { amount, notation } = parse(text.trim());
  if (amount === 0n) return "0";
  const isSmall = amount > -1024n * NANO && amount < 1024n * NANO;
  return notation === "binary" && !isSmall ? formatBinary(amount) : formatDecimal(amount, notation);
}

/** The amount in billionths. */
export function quantityNanos(text: string): bigint {
  return parse(text.trim()).amount;
}

function parse(text: string): { readonly amount: bigint; readonly notation: Notation } {
  if (text === "") throw new QuantityError("quantity string cannot be empty");
  const match = PATTERN.exec(text);
  if (match === null) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const [, number = "", suffix = ""] = match;
  const digits = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(number);
  if (digits === null || (digits[2] === "" && (digits[3] ?? "") === "")) {
    throw new QuantityError("unable to parse numeric part of quantity");
  }
  const { multiplier, exponent, notation } = scaleOf(suffix);
  const fraction = digits[3] ?? "";
  const mantissa = BigInt(`${digits[2]}${fraction}` || "0") * multiplier * NANO;
  const shift = exponent - fraction.length;
  let amount = shift >= 0 ? mantissa * 10n ** BigInt(Math.min(shift, 100)) : roundUp(mantissa, 10n ** BigInt(-shift));
  if (amount > MAX) amount = MAX;
  return { amount: digits[1] === "-" ? -amount : amount, notation };
}

function roundUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function scaleOf(suffix: string): {
  readonly multiplier: bigint;
  readonly exponent: number;
  readonly notation: Notation;
} {
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return { multiplier: 1n, exponent: (decimal - 3) * 3, notation: "decimal" };
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { multiplier: 1024n ** BigInt(binary), exponent: 0, notation: "binary" };
  if (/^[eE][-+]?\d+$/.test(suffix)) {
    return { multiplier: 1n, exponent: Number(suffix.slice(1)), notation: "exponent" };
  }
  throw new QuantityError("unable to parse quantity's suffix");
}

function formatDecimal(amount: bigint, notation: Notation): string {
  let mantissa = amount;
  let step = 0;
  while (mantissa % 1000n === 0n && step < DECIMAL.length - 1) {
    mantissa /= 1000n;
    step++;
  }
  if (notation !== "exponent") return `${mantissa}${DECIMAL[step]}`;
  const exponent = (step - 3) * 3;
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

function formatBinary(amount: bigint): string {
  const isNegative = amount < 0n;
  let mantissa = roundUp(isNegative ? -amount : amount, NANO);
  let step = 0;
  while (mantissa % 1024n === 0n && step < BINARY.length - 1) {
    mantissa /= 1024n;
    step++;
  }
  return `${isNegative ? "-" : ""}${mantissa}${BINARY[step]}`;
}
