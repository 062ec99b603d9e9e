import { SetpointError } from "../errors/error.js";

const WELL_FORMED = /^[1-9]\d*$/;

/**
 * Negative, zero or positive if `left` is older than, equal to or newer than `right`. Compare only versions of one
 * resource. They are decimal numbers of any length; throws `RESOURCE_VERSION_INVALID` for anything else, including the
 * list option `"0"`.
 */
export function compareResourceVersions(left: string, right: string): number {
  for (const version of [left, right]) {
    if (!WELL_FORMED.test(version)) {
      throw new SetpointError("RESOURCE_VERSION_INVALID", `${JSON.stringify(version)} is not a resourceVersion`);
    }
  }
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
