import { describe, expect, it } from "vitest";
import { parseShellLine } from "./shell-line.js";

const parse = (line: string) => parseShellLine(line, (name) => `<${name}>`);

describe("a line of shell", () => {
  it("has words, quotes, escapes and variables", () => {
    expect(parse(`echo a  'b $c' "d $e \${f}" g\\ h"i"'j' # end`)).toEqual([
      { when: "always", words: ["echo", "a", "b $c", "d <e> <f>", "g hij"] },
    ]);
    expect(parse(`echo "a\\"\\$b" $?`)).toEqual([{ when: "always", words: ["echo", 'a"$b', "<?>"] }]);
  });

  it("has commands that run always, after a success, or after a failure", () => {
    expect(parse("a && b || c; d\ne")).toEqual([
      { when: "always", words: ["a"] },
      { when: "success", words: ["b"] },
      { when: "failure", words: ["c"] },
      { when: "always", words: ["d"] },
      { when: "always", words: ["e"] },
    ]);
    expect(parse("")).toEqual([]);
  });

  it.each(["a | b", "a > b", "echo $(date)", "a &", "echo `x`", "'open"])(
    "refuses what is not simulated: %s",
    (line) => {
      expect(() => parse(line)).toThrow(/is not simulated/);
    },
  );
});
