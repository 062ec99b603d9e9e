import { describe, expect, it } from "vitest";
import { Warnings } from "../../api/error-budget.js";
import { answer, withWarnings } from "./answer.js";

const warned = (...texts: readonly string[]): readonly string[] => {
  const warnings = new Warnings();
  for (const text of texts) warnings.add(text);
  return (withWarnings(answer(200, {}), warnings).headers.warning ?? []) as readonly string[];
};

describe("warnings of a response", () => {
  it("have separate headers, each once, without characters that no header may contain", () => {
    expect(warned('say "a\\b"', 'say "a\\b"', "two\nlines", "other")).toEqual([
      '299 - "say \\"a\\\\b\\""',
      '299 - "other"',
    ]);
    expect(warned('unknown field "ключ"')).toEqual([
      Buffer.from('299 - "unknown field \\"ключ\\""').toString("latin1"),
    ]);
    expect(withWarnings(answer(200, {}), new Warnings()).headers).not.toHaveProperty("warning");
  });

  it("are truncated if they are too long together", () => {
    const long = Array.from({ length: 1_000 }, (_, index) => `${index} ${"😀".repeat(300)}`);
    const shown = warned(...long);
    const [first = ""] = shown.map((text) => Buffer.from(text, "latin1").toString());
    expect([...first.slice('299 - "'.length, -1)]).toHaveLength(256);
    expect(shown.join("").length).toBeLessThan(20_000);
  });
});
