import type { Json } from "../api/json.js";
import { StatusError } from "../api/status-error.js";

/**
 * How deep a value may nest. Everything here that recurses over a value stays well within the stack at this depth; so
 * does `JSON.stringify`, which overflows it before 5,000 levels.
 */
export const MAX_DEPTH = 1000;

/** Refuses a value that nests deeper than `MAX_DEPTH`. */
export function checkDepth(value: Json, refuse = (why: string) => new StatusError(400, "BadRequest", why)): void {
  const opening = tooDeep(value, MAX_DEPTH);
  if (opening !== undefined) throw refuse(`invalid character '${opening}' exceeded max depth`);
}

/** The character with which the first value below `limit` levels begins; undefined where there is none. */
function tooDeep(value: Json, limit: number): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (limit === 0) return Array.isArray(value) ? "[" : "{";
  if (Array.isArray(value)) {
    for (const item of value) {
      const opening = tooDeep(item as Json, limit - 1);
      if (opening !== undefined) return opening;
    }
    return undefined;
  }
  // Without a copy of its values: every body comes by here.
  for (const key in value) {
    const opening = tooDeep((value as { readonly [key: string]: Json })[key]!, limit - 1);
    if (opening !== undefined) return opening;
  }
  return undefined;
}
