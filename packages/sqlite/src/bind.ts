import type { SqlValue } from "./database.js";
import { SqliteError } from "./sqlite-error.js";

/**
 * Checks parameters before a driver sees them. One driver crashes the process at a boolean or an object, and all
 * drivers silently store NaN as NULL.
 */
export function checkedParameters(parameters: readonly SqlValue[]): SqlValue[] {
  parameters.forEach((value, at) => {
    if (isSqlValue(value)) return;
    const shown =
      typeof value === "number" ? String(value) : (Object.prototype.toString.call(value).slice(8, -1) as string);
    throw new SqliteError("SQLITE_MISUSE", `parameter ${at + 1} cannot be stored: ${shown}`);
  });
  return parameters as SqlValue[];
}

function isSqlValue(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "bigint":
      return true;
    case "number":
      return Number.isFinite(value);
    default:
      return value === null || value instanceof Uint8Array;
  }
}
