import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LabelRequirement } from "./label-requirement.js";
import { formatLabelSelector, type LabelSelector, matchesLabels, parseLabelSelector } from "./label-selector.js";

const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}[a-z0-9]$/);
const key = fc.oneof(
  word,
  fc.tuple(word, word).map(([prefix, name]) => `${prefix.replace(/[.-]+/g, "")}.io/${name}`),
);
const values = fc.uniqueArray(fc.oneof(word, fc.constant("")), { minLength: 1, maxLength: 3 });
const term: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom("In", "NotIn"), values }),
  fc.record({ key, operator: fc.constantFrom("Exists", "DoesNotExist"), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom("Gt", "Lt"), values: fc.nat().map((bound) => [String(bound)]) }),
);
const invalid = expect.objectContaining({ code: "LABEL_SELECTOR_INVALID" });

describe("a label selector", () => {
  it("selects everything when empty", () => {
    expect(matchesLabels("", undefined)).toBe(true);
    expect(matchesLabels({}, { a: "b" })).toBe(true);
  });

  // Results of apimachinery 0.36 for the labels app=web, tier="", replicas=10.
  it.each([
    ["app=web", true],
    ["app==web", true],
    ["app = web", true],
    ["app!=web", false],
    ["missing!=web", true],
    ["app in (web, api)", true],
    ["app in (api)", false],
    ["app notin (api),tier", true],
    ["missing notin (api)", true],
    ["!app", false],
    ["! missing", true],
    ["tier=", true],
    ["tier in ()", true],
    ["tier in (,a)", true],
    ["replicas>9", true],
    ["replicas<9", false],
    ["app>9", false],
    ["missing<9", false],
  ])("%s gives %s", (selector, expected) => {
    expect(matchesLabels(selector, { app: "web", tier: "", replicas: "10" })).toBe(expected);
  });

  it.each([
    "a=b,",
    "=b",
    "a=b c=d",
    "a in b",
    "a in (b",
    "a in (b c)",
    "-a=b",
    "a=-b",
    "a>x",
    "a b",
    "(a)",
    "x/y/z",
    "&",
  ])("%j is invalid", (selector) => {
    expect(() => parseLabelSelector(selector)).toThrow(invalid);
  });

  it("is validated in object form, too", () => {
    const refused: LabelSelector[] = [
      { matchLabels: { "bad key": "v" } },
      { matchExpressions: [{ key: "a", operator: "In", values: [] }] },
      { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] },
      { matchExpressions: [{ key: "a", operator: "Like" as "In", values: ["b"] }] },
      { matchLabels: { a: "v".repeat(64) } },
    ];
    for (const selector of refused) expect(() => parseLabelSelector(selector)).toThrow(invalid);
  });

  it("does not match inherited properties of JavaScript objects", () => {
    expect(matchesLabels("constructor", {})).toBe(false);
  });

  it("survives a round trip through text, and equal selectors have equal texts", () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 4 }), fc.dictionary(key, word), (terms, labels) => {
        const text = formatLabelSelector(terms);
        const parsed = parseLabelSelector(text);
        expect(formatLabelSelector(parsed)).toBe(formatLabelSelector(formatLabelSelector(parsed)));
        expect(matchesLabels(parsed, labels)).toBe(matchesLabels(terms, labels));
      }),
    );
    expect(formatLabelSelector({ matchLabels: { b: "1", a: "2" } })).toBe("a=2,b=1");
    expect(formatLabelSelector("b in (y,x),a")).toBe("a,b in (x,y)");
  });
});
