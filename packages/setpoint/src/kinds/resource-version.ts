import { SetpointError } from "../errors/error.js";

const WELL_FORMED = /^[1-9]\d*$/;

/**
 * Negative, zero or positive as `left` is older than, the same as or newer than `right`. Only versions of one resource
 * compare. They are decimal numbers of any length; throws `RESOURCE_VERSION_INVALID` for anything else, the list
 * option `"0"` included.
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
