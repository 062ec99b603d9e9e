/** The largest count of a repetition that RE2 takes. */
const LARGEST_REPEAT = 1000;
/** Escapes with the same meaning in RE2 and in JavaScript. */
const COMMON_ESCAPES = "bBdDsSwWfnrtv";

export type Translation = { readonly pattern: string } | { readonly problem: string };

/**
 * A JavaScript pattern in RE2 syntax, which API servers use, or why that is impossible. Accepts only what means the
 * same in both: no look-around, no back references, none of JavaScript's own classes.
 */
export function toRe2(pattern: string): Translation {
  try {
    new RegExp(pattern, "u");
  } catch {
    try {
      new RegExp(pattern);
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }
  let out = "";
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === "\\") {
      const translated = translateEscape(pattern, at);
      if ("problem" in translated) return translated;
      out += translated.text;
      at += translated.length - 1;
      continue;
    }
    if (inClass) inClass = char !== "]";
    else if (char === "[") {
      inClass = true;
      const empty = /^\[(\^?)\]/.exec(pattern.slice(at));
      if (empty) return { problem: `${empty[0]} is an empty class, which RE2 does not have` };
    } else if (char === "(") {
      const group = /^\(\?(<?[=!])/.exec(pattern.slice(at));
      if (group) return { problem: `${group[1]!.startsWith("<") ? "look-behind" : "look-ahead"} is not in RE2` };
    } else if (char === "{") {
      const counts = /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(at))?.slice(1) ?? [];
      const tooMany = counts.find((count) => Number(count ?? 0) > LARGEST_REPEAT);
      if (tooMany) return { problem: `${tooMany} repetitions are more than the ${LARGEST_REPEAT} of RE2` };
    }
    out += char;
  }
  return { pattern: out };
}

function translateEscape(pattern: string, at: number): { text: string; length: number } | { problem: string } {
  const rest = pattern.slice(at);
  const unicode = /^\\u(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{4}))/.exec(rest);
  if (unicode) return { text: `\\x{${unicode[1] ?? unicode[2]}}`, length: unicode[0].length };
  const property = /^\\[pP]\{([^}]*)\}/.exec(rest);
  if (property) {
    const name = property[1]!.replace(/^(General_Category|gc|Script|sc)=/, "");
    if (name.includes("=") || /^(Any|ASCII|Assigned|Alphabetic|Emoji)/.test(name)) {
      return { problem: `the class ${property[0]} is not in RE2` };
    }
    return { text: `${property[0].slice(0, 3)}${name}}`, length: property[0].length };
  }
  if (/^\\(?:[1-9]|k<)/.test(rest)) return { problem: "back references are not in RE2" };
  if (/^\\x[0-9a-fA-F]{2}/.test(rest)) return { text: rest.slice(0, 4), length: 4 };
  if (/^\\0(?!\d)/.test(rest)) return { text: "\\x00", length: 2 };
  const next = rest[1] ?? "";
  if (COMMON_ESCAPES.includes(next) || /^[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]$/.test(next)) {
    return { text: rest.slice(0, 2), length: 2 };
  }
  return { problem: `the escape \\${next} is not in RE2` };
}
