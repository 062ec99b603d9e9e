import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CauseRules, type LoopCause, MAX_CAUSES, mergeCauses } from "./cause.js";

const RULES: CauseRules<LoopCause> = {
  identityOf: (cause) => (cause.type === "trigger" ? `trigger ${cause.name}` : cause.type),
  isOneOfMany: ({ type }) => type === "trigger" || type === "more",
};
const trigger = (name: string): LoopCause => ({ type: "trigger", name });

describe("mergeCauses", () => {
  it("keeps each cause once, and the later of two", () => {
    const first: LoopCause = { type: "retry", attempt: 1, error: "a" };
    const second: LoopCause = { type: "retry", attempt: 2, error: "b" };
    expect(mergeCauses<LoopCause>([first, trigger("x")], [trigger("x"), second], RULES)).toEqual([
      second,
      trigger("x"),
    ]);
  });

  it("follows its rules if an earlier cause takes precedence", () => {
    const rules = { ...RULES, joined: (earlier: LoopCause) => earlier };
    const first: LoopCause = { type: "retry", attempt: 1, error: "a" };
    expect(mergeCauses<LoopCause>([first], [{ ...first, attempt: 2 }], rules)).toEqual([first]);
  });

  it("loses no cause: it counts those that it does not keep", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(500), { maxLength: 100 }), (names) => {
        const merged = names.reduce<readonly LoopCause[]>(
          (causes, name) => mergeCauses(causes, [trigger(`${name}`)], RULES),
          [],
        );
        const counted = merged.reduce((sum, cause) => sum + (cause.type === "more" ? cause.count : 1), 0);
        expect(counted).toBe(names.length);
        expect(merged.length).toBeLessThanOrEqual(MAX_CAUSES);
      }),
    );
  });
});
