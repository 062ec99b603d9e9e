import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { perText } from "../api/memoized.js";

const require = createRequire(import.meta.url);

/** Loaded with the first pattern, because its tables would take a tenth of the startup time. */
function re2(): typeof RE2JS {
  return (require("re2js") as typeof import("re2js")).RE2JS;
}

/** A compiled pattern, or the error in it. */
export type Regex =
  | {
      readonly test: (text: string) => boolean;
      /** The matches from left to right, at most `limit` of them; all if `limit` is negative. */
      readonly find: (text: string, limit: number) => readonly string[];
    }
  | { readonly error: string };

const MAX_CACHED = 1000;

/**
 * Compiles a pattern of a schema in RE2 syntax, like Go. RE2 matches in time linear in the text, so no pattern can
 * hang the server. Caches the most recent patterns.
 */
export const regex: (pattern: string) => Regex = perText(MAX_CACHED, compile);

function compile(pattern: string): Regex {
  try {
    const compiled = re2().compile(pattern);
    return { test: (text) => compiled.test(text), find: (text, limit) => find(compiled, text, limit) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function find(compiled: RE2JS, text: string, limit: number): readonly string[] {
  const matches: string[] = [];
  const matcher = compiled.matcher(text);
  while ((limit < 0 || matches.length < limit) && matcher.find()) matches.push(matcher.group() ?? "");
  return matches;
}
