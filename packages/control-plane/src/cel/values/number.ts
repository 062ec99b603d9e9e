import { Failure, Uint } from "./value.js";

const INTEGER_OVERFLOW = new Failure("integer overflow");
const UNSIGNED_OVERFLOW = new Failure("unsigned integer overflow");

/** A 64-bit int, or a failure. */
export function int(value: bigint): bigint | Failure {
  return BigInt.asIntN(64, value) === value ? value : INTEGER_OVERFLOW;
}

export function uint(value: bigint): Uint | Failure {
  return BigInt.asUintN(64, value) === value ? new Uint(value) : UNSIGNED_OVERFLOW;
}

/** Truncates a double. The bounds are out of range, because doubles cannot distinguish them from values beyond. */
export function truncatedInt(value: number): bigint | Failure {
  return Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63 ? INTEGER_OVERFLOW : BigInt(Math.trunc(value));
}

export function truncatedUint(value: number): Uint | Failure {
  return Number.isNaN(value) || value < 0 || value >= 2 ** 64 ? UNSIGNED_OVERFLOW : new Uint(BigInt(Math.trunc(value)));
}

/** A double as Go's `%g` prints it. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return plainDouble(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** A double with all digits and no exponent. */
export function plainDouble(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  const [digits = "", exponent = "0"] = text.split("e");
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)\.?(\d*)$/.exec(digits)!;
  const power = Number(exponent);
  const all = whole + fraction;
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${all}`;
  return `${sign}${all.padEnd(power + 1, "0")}`;
}
