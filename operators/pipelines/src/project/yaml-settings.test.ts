import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Document, parseDocument, Scalar } from "yaml";
import { ProblemError } from "./problem-error.js";
import { booleanAt, durationAt, emptyMap, mapAt, plain, type SettingMap, textAt } from "./setting.js";
import { placeName, placeOf } from "./source-text.js";
import { yamlSettings } from "./yaml-settings.js";

/** The position of a word in a file. */
function whereIs(file: string, word: string): string {
  const before = file.slice(0, file.indexOf(word)).split("\n");
  return `f.yaml:${before.length}:${before.at(-1)!.length + 1}`;
}

describe("strings of a YAML file know their place", () => {
  it.each([
    ["a plain text", "a: one two\n", "two"],
    ["a quoted text", "a: 'it''s two'\n", "two"],
    ["a text with escapes", 'a: "x\\ty\\u0041 two"\n', "two"],
    ["a block", "a: |\n  one\n\n    two\n  three\n", "two"],
    ["a block with a stated indent", "a: |2-\n    one\n  two\n", "two"],
    ["a folded block", "a: >-\n  one\n  more\n\n  two\n", "two"],
    ["a folded block with a list", "a: >\n  one\n    deep\n    two\n", "two"],
    ["a text over several lines", "a: one\n  more\n\n  two\n", "two"],
    ["a quoted text over several lines", 'a: "one \\\n   more\n   two"\n', "two"],
    ["a nested text", "b:\n  - c: { d: 1 }\n    e: |-\n      one\n      two\na: x\n", "two"],
    ["a file with Windows line ends", "b: x\r\na: |\r\n  one\r\n  two\r\n", "two"],
  ])("%s", (_title, file, word) => {
    const texts: string[] = [];
    const visit = (setting: SettingMap): void => {
      for (const { value } of setting.entries.values()) {
        if (value.type === "map") visit(value);
        if (value.type === "list") for (const item of value.items) if (item.type === "map") visit(item);
        if (value.type === "scalar" && value.text.text.includes(word))
          texts.push(placeName(placeOf(value.text, value.text.text.indexOf(word))));
      }
    };
    visit(yamlSettings("f.yaml", file));
    expect(texts).toEqual([whereIs(file, word)]);
  });

  it("whatever they contain and however they are written", () => {
    const words = fc.array(fc.constantFrom("a", "bc", "x y", "'", '"', "\\", "\t", "é😀", "#", ":", "- ", "  z"), {
      maxLength: 6,
    });
    const lines = fc
      .array(words, { minLength: 1, maxLength: 5 })
      .map((all) => all.map((line) => line.join(" ")).join("\n"));
    const styles = fc.constantFrom("PLAIN", "QUOTE_SINGLE", "QUOTE_DOUBLE", "BLOCK_LITERAL", "BLOCK_FOLDED");
    fc.assert(
      fc.property(lines, styles, fc.nat(3), fc.constantFrom(0, 12, 80), (text, style, depth, lineWidth) => {
        const scalar = new Scalar(text);
        scalar.type = style as Scalar.Type;
        let value: unknown = scalar;
        for (let level = 0; level < depth; level++) value = { inner: value };
        const file = new Document({ first: 1, text: value, last: [1] }).toString({ lineWidth });
        // The library does not write every string so that it reads it back.
        const document = parseDocument(file);
        fc.pre(document.errors.length === 0);
        const read = document.getIn(["text", ...Array.from({ length: depth }, () => "inner")]);
        let map = yamlSettings("f.yaml", file);
        for (let level = 0; level < depth; level++) map = mapAt(map, level === 0 ? "text" : "inner")!;
        const found = textAt(map, depth === 0 ? "text" : "inner");
        expect(found?.text ?? "").toBe(String(read ?? ""));
        for (const { index: at, 0: character } of found?.text.matchAll(/[a-z]/g) ?? []) {
          const { line, column } = placeOf(found!, at);
          expect(file.split("\n")[line - 1]?.[column - 1], `${JSON.stringify(file)} offset ${at}`).toBe(character);
        }
      }),
    );
  });
});

describe("an invalid YAML file is reported with its place", () => {
  it.each([
    ["a: [1\n", /^f\.yaml:2:1: invalid YAML/],
    ["a: 1\na: 2\n", /^f\.yaml:2:1: invalid YAML: Map keys must be unique/],
    ["a: 1\n\tb: 2\n", /^f\.yaml:2:1: invalid YAML/],
    ["- a\n- b\n", /^f\.yaml:1:1: the file must be a map of keys and values, not a list/],
    ["just text", /^f\.yaml:1:1: the file must be a map of keys and values, not a text/],
    ["a: &x [*x]\n", /^f\.yaml:1:8: the YAML is nested too deeply, or refers to itself/],
    ["a: !!binary x\nb: *nobody\n", /^f\.yaml:2:4: invalid YAML: there is no anchor nobody/],
  ])("%j", (file, expected) => {
    try {
      yamlSettings("f.yaml", file);
    } catch (error) {
      const [problem] = (error as ProblemError).problems;
      expect(`${placeName(problem!.place!)}: ${problem!.message}`).toMatch(expected);
      return;
    }
    expect.unreachable();
  });

  it("aliases and merges are resolved", () => {
    const map = yamlSettings("f.yaml", "a: &x { y: 1 }\nb: *x\n");
    expect(plain(map)).toEqual({ a: { y: 1 }, b: { y: 1 } });
  });

  it("an empty file is an empty map", () => {
    for (const file of ["", "# note\n", "---\n", "null\n"])
      expect(yamlSettings("f.yaml", file)).toEqual(emptyMap({ path: "f.yaml", line: 1, column: 1 }));
  });
});

describe("settings", () => {
  const map = (text: string) => yamlSettings("f.yaml", text);

  it.each([
    ["90", 90_000],
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
    ["2d", 172_800_000],
    ["PT1H30M", 5_400_000],
    ["P1DT1S", 86_401_000],
  ])("durations: %s", (text, expected) => {
    expect(durationAt(map(`a: ${text}`), "a")).toBe(expected);
  });

  it.each(["soon", "P", "PT", "1 h", "-5s", "[1]"])("invalid duration: %s", (text) => {
    expect(() => durationAt(map(`a: ${text}`), "a")).toThrow(ProblemError);
  });

  it("booleans are true and false, in any case", () => {
    expect(booleanAt(map("a: TRUE"), "a")).toBe(true);
    expect(booleanAt(map("a: 'false'"), "a")).toBe(false);
    expect(booleanAt(map("a:"), "a")).toBeUndefined();
    expect(() => booleanAt(map("a: 1"), "a")).toThrow("a must be true or false, not a number");
  });
});
