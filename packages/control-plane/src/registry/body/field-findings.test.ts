import { describe, expect, it } from "vitest";
import { duplicateField, duplicateLines, inDocumentOrder, unknownField, warningsOf } from "./field-findings.js";

describe("findings of field validation", () => {
  const document = { zz: { a: 1 }, metadata: { name: "a", foo: 1 }, aa: 1 };
  const unknown = ["aa", "zz", "metadata.foo"].map(unknownField);

  it("are reported in document order, or by name", () => {
    expect(inDocumentOrder(document, [duplicateField("metadata.name")], unknown, false)).toEqual([
      'unknown field "zz"',
      'duplicate field "metadata.name"',
      'unknown field "metadata.foo"',
      'unknown field "aa"',
    ]);
    expect(inDocumentOrder(document, [], unknown, true)).toEqual([
      'unknown field "aa"',
      'unknown field "metadata.foo"',
      'unknown field "zz"',
    ]);
  });

  it("name no unknown field twice, nor a field within it", () => {
    const duplicates = ["zz", "zz.a", "zzz"].map(duplicateField);
    expect(inDocumentOrder({ zz: { a: 1 }, zzz: 1 }, duplicates, [unknownField("zz")], false)).toEqual([
      'unknown field "zz"',
      'duplicate field "zzz"',
    ]);
  });

  it("are one sentence for all lines of YAML, and a warning for each", () => {
    const lines = ['line 5: key "a" already set in map', 'line 7: key "b" already set in map'];
    const [finding] = duplicateLines(lines);
    expect(finding?.text).toBe(`yaml: unmarshal errors:\n  ${lines.join("\n  ")}`);
    expect(warningsOf(finding?.text ?? "")).toEqual(lines);
    expect(duplicateLines([])).toEqual([]);
  });
});
