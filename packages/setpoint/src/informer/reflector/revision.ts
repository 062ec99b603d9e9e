import { compareResourceVersions } from "../../kinds/resource-version.js";

const ORDERED = /^[1-9]\d*$/;

/** The order of two resourceVersions: negative if `a` is older; undefined if the server's versions have no order. */
function compare(a: string, b: string): number | undefined {
  return ORDERED.test(a) && ORDERED.test(b) ? compareResourceVersions(a, b) : undefined;
}

/** Without an order, nothing is older. */
export function isOlder(a: string, b: string): boolean {
  return (compare(a, b) ?? 0) < 0;
}

/** Without an order, a different one is newer. */
export function isNewer(a: string, b: string): boolean {
  const order = compare(a, b);
  return order === undefined ? a !== b : order > 0;
}
