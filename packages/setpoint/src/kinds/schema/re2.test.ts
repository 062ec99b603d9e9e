import { describe, expect, it } from "vitest";
import { toRe2 } from "./re2.js";

describe("a pattern for RE2", () => {
  it.each([
    ["^[a-z0-9]+(-[a-z0-9]+)*$", "^[a-z0-9]+(-[a-z0-9]+)*$"],
    ["^\\/a\\-b$", "^\\/a\\-b$"],
    ["\\u0041\\u{1F600}", "\\x{0041}\\x{1F600}"],
    ["\\p{L}\\p{Script=Greek}", "\\p{L}\\p{Greek}"],
    ["(?<year>\\d{4})", "(?<year>\\d{4})"],
    ["[\\]\\^]\\0", "[\\]\\^]\\x00"],
    ["[(?=a)]", "[(?=a)]"],
  ])("%s becomes %s", (pattern, expected) => {
    expect(toRe2(pattern)).toEqual({ pattern: expected });
  });

  it.each([
    ["(?=a)b", "look-ahead"],
    ["(?!a)b", "look-ahead"],
    ["(?<=a)b", "look-behind"],
    ["(?<!a)b", "look-behind"],
    ["(a)\\1", "back references"],
    ["(?<n>a)\\k<n>", "back references"],
    ["a{1001}", "1001 repetitions"],
    ["[^]", "empty class"],
    ["\\cA", "escape"],
    ["\\p{Emoji}", "class"],
    ["(", "group"],
  ])("%s has no equivalent: %s", (pattern, problem) => {
    expect(toRe2(pattern)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
