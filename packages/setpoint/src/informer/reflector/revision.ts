import { compareResourceVersions } from "../../kinds/resource-version.js";

const ORDERED = /^[1-9]\d*$/;

/** The order of two resourceVersions, negative where `a` is older; undefined where a server's are not ordered. */
function compare(a: string, b: string): number | undefined {
  return ORDERED.test(a) && ORDERED.test(b) ? compareResourceVersions(a, b) : undefined;
}

/** Where no order is known, nothing is older. */
export function isOlder(a: string, b: string): boolean {
  return (compare(a, b) ?? 0) < 0;
}

/** Where no order is known, a different one is newer. */
export function isNewer(a: string, b: string): boolean {
  const order = compare(a, b);
  return order === undefined ? a !== b : order > 0;
}
