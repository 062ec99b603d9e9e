import { describe, expect, it } from "vitest";
import { isTooDeepYaml, MAX_YAML_DEPTH } from "./yaml-depth.js";

const nested: Readonly<Record<string, (depth: number) => string>> = {
  maps: (depth) => `x: ${"{a: ".repeat(depth)}1${"}".repeat(depth)}\n`,
  lists: (depth) => `x: ${"[".repeat(depth)}${"]".repeat(depth)}\n`,
  "lists that never end": (depth) => "[".repeat(depth),
  dashes: (depth) => `x:\n${"- ".repeat(depth)}1\n`,
  lines: (depth) => Array.from({ length: depth }, (_, indent) => `${" ".repeat(indent)}a:\n`).join(""),
};

describe("the nesting depth of YAML", () => {
  for (const [what, text] of Object.entries(nested)) {
    it(`is limited for ${what}`, () => {
      expect(isTooDeepYaml(text(MAX_YAML_DEPTH - 2))).toBe(false);
      expect(isTooDeepYaml(text(MAX_YAML_DEPTH + 2))).toBe(true);
      expect(isTooDeepYaml(text(20_000))).toBe(true);
    });
  }

  it("is not counted in strings", () => {
    const code = "    {{{[[[\n".repeat(1000);
    expect(isTooDeepYaml(`data:\n  a: |\n${code}  b: "${"[".repeat(1000)}"\n  c: x${"{".repeat(1000)}\n`)).toBe(false);
  });

  it("does not depend on the length of a document", () => {
    expect(isTooDeepYaml("- a:\n    - {b: [1]}\n".repeat(1000))).toBe(false);
  });
});
