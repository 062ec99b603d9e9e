import { badRequest } from "../status-error.js";

/** As the real server converts: absent, "false" and "0" are false, anything else is true. */
export function parseBoolean(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== "false" && value !== "0";
}

/** A decimal int64; empty is zero. */
export function parseInteger(value: string): number {
  if (value === "") return 0;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}
