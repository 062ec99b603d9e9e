import { StatusError } from "../registry/status-error.js";
import type { Json } from "./json.js";

/** How deep a value may nest. Everything here that recurses over a value stays well within the stack at this depth. */
export const MAX_DEPTH = 1000;

/** Refuses a value that nests deeper than `MAX_DEPTH`. */
export function checkDepth(value: Json): void {
  if (depthExceeds(value, MAX_DEPTH)) throw new StatusError(400, "BadRequest", "exceeded max depth");
}

function depthExceeds(value: Json, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (depthExceeds(item as Json, limit - 1)) return true;
    return false;
  }
  for (const key in value) if (depthExceeds((value as { readonly [key: string]: Json })[key]!, limit - 1)) return true;
  return false;
}
