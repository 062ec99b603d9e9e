import type { Json } from "../api/json.js";
import { StatusError } from "../api/status-error.js";

/**
 * The maximum nesting depth of a value. Every recursion over a value here stays well within the stack at this depth.
 * `JSON.stringify` overflows it before 5,000 levels.
 */
export const MAX_DEPTH = 1000;

/** Rejects a value that nests deeper than `MAX_DEPTH`. */
export function checkDepth(value: Json, refuse = (why: string) => new StatusError(400, "BadRequest", why)): void {
  const opening = tooDeep(value, MAX_DEPTH);
  if (opening !== undefined) throw refuse(`invalid character '${opening}' exceeded max depth`);
}

/** The first character of the first value deeper than `limit` levels; undefined if there is none. */
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
  // Avoid `Object.values`, which copies: every request body passes here.
  for (const key in value) {
    const opening = tooDeep((value as { readonly [key: string]: Json })[key]!, limit - 1);
    if (opening !== undefined) return opening;
  }
  return undefined;
}
