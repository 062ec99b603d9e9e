import { describe, expect, it } from "vitest";
import { type Condition, findCondition, isConditionTrue, setCondition } from "./condition.js";

const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second);
const ready = { type: "Ready", status: "True", reason: "Up" } as const;

describe("setCondition", () => {
  it("adds a condition, stamped with the time", () => {
    const conditions = setCondition(undefined, { ...ready, observedGeneration: 2 }, at(1));
    expect(conditions).toEqual([
      { ...ready, message: "", observedGeneration: 2, lastTransitionTime: "2026-01-01T00:00:01Z" },
    ]);
  });

  it("keeps the transition time while the status stays", () => {
    const before = setCondition(undefined, ready, at(1));
    const after = setCondition(before, { ...ready, reason: "StillUp" }, at(2));
    expect(after[0]).toMatchObject({ reason: "StillUp", lastTransitionTime: "2026-01-01T00:00:01Z" });
    expect(setCondition(after, { ...ready, status: "False" }, at(3))[0]?.lastTransitionTime).toBe(
      "2026-01-01T00:00:03Z",
    );
  });

  it("returns the same array if nothing changed, and leaves other conditions alone", () => {
    const other: Condition = { ...ready, type: "Other", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const conditions = setCondition([other], ready, at(1));
    expect(setCondition(conditions, ready, at(9))).toBe(conditions);
    expect(conditions[0]).toBe(other);
    expect(findCondition(conditions, "Ready")?.reason).toBe("Up");
    expect(isConditionTrue(conditions, "Missing")).toBe(false);
  });
});
