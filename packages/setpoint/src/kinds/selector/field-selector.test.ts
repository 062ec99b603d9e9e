import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatFieldSelector, holdsField, parseFieldSelector } from "./field-selector.js";

const terms = fc.array(
  fc.record({
    field: fc.stringMatching(/^[a-z][a-z.]{0,8}$/),
    operator: fc.constantFrom("=" as const, "!=" as const),
    value: fc.string(),
  }),
  { maxLength: 4 },
);

describe("a field selector", () => {
  it("is parsed and matched", () => {
    const values: Record<string, string> = { "metadata.name": "a", "status.phase": "Running" };
    const matches = (selector: string) =>
      parseFieldSelector(selector).every((term) => holdsField(term, values[term.field] ?? ""));
    expect(matches("metadata.name=a,status.phase!=Failed")).toBe(true);
    expect(matches("metadata.name==b")).toBe(false);
    expect(matches("spec.nodeName=")).toBe(true);
    expect(matches("")).toBe(true);
  });

  it.each(["a", "a=b=c", "a=b\\x", "a=b\\"])("%j is invalid", (selector) => {
    expect(() => parseFieldSelector(selector)).toThrow(expect.objectContaining({ code: "FIELD_SELECTOR_INVALID" }));
  });

  it("survives a round trip through text, whatever its values contain", () => {
    fc.assert(
      fc.property(terms, (given) => {
        const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
        expect([...parseFieldSelector(formatFieldSelector(given))].sort(byText)).toEqual([...given].sort(byText));
      }),
    );
  });
});
