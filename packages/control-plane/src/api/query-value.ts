import { badRequest, type StatusError } from "./status-error.js";

/** Parses a boolean like the real server: absent, "false" and "0" are false, anything else is true. */
export function parseBoolean(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== "false" && value !== "0";
}

const INT64 = 2 ** 63;

/** Parses a decimal int64. Throws a 400 for anything else. */
export function parseInteger(value: string): number {
  const refuse = (why: string): StatusError => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: ${why}`);
  if (!/^[+-]?\d+$/.test(value)) throw refuse("invalid syntax");
  const number = Number(value);
  if (number >= INT64 || number < -INT64) throw refuse("value out of range");
  return number;
}
