import { SetpointError } from "../../errors/error.js";

/** A number or a string, such as a port by number or by name, or a percentage. */
export type IntOrString = number | string;

/**
 * The number of an `IntOrString` with percentages: `3` is 3, `"25%"` a quarter of `total`, rounded as given. Throws
 * `INT_OR_STRING_INVALID` for any other text.
 */
export function scaledValue(value: IntOrString, total: number, round: "up" | "down"): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) {
    throw new SetpointError(
      "INT_OR_STRING_INVALID",
      `${JSON.stringify(value)} is neither a number nor a percentage such as "25%"`,
    );
  }
  const share = (Number(percent) * total) / 100;
  return round === "up" ? Math.ceil(share) : Math.floor(share);
}
