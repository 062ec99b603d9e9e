import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unifiedDiff } from "./unified-diff.js";

/** Applies the difference to the old text. */
function patched(before: string, diff: string): string {
  const old = before.split("\n");
  const result: string[] = [];
  let at = 0;
  for (const line of diff.split("\n").slice(0, -1)) {
    const head = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (head) {
      const start = Number(head[1]) - (head[2] === "0" ? 0 : 1);
      result.push(...old.slice(at, start));
      at = start;
    } else if (line.startsWith("+")) result.push(line.slice(1));
    else {
      if (line.startsWith(" ")) result.push(old[at]!);
      expect(old[at]).toBe(line.slice(1));
      at++;
    }
  }
  return [...result, ...old.slice(at)].join("\n");
}

describe("a unified difference", () => {
  it("shows three lines around a change, and distant changes separately", () => {
    const before = [..."abcdefghijklmnopqrst"].join("\n");
    const after = before.replace("e", "E").replace("r\n", "");
    expect(unifiedDiff(before, after)).toBe(
      "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n@@ -15,6 +15,5 @@\n o\n p\n q\n-r\n s\n t\n",
    );
  });

  it("is empty for equal texts", () => {
    expect(unifiedDiff("a\nb", "a\nb")).toBe("");
  });

  it("turns the old text into the new one", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d", "{", "}"), { minLength: 1, maxLength: 260 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [before, after] = [one.join("\n"), other.join("\n")];
        expect(patched(before, unifiedDiff(before, after))).toBe(after);
      }),
    );
  });
});
