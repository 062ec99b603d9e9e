import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_CAUSES } from "../../loop/cause.js";
import { actionOf, type Cause, describeCause, mergeControllerCauses } from "./cause.js";

const metadata = { name: "a", uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const created: Cause = { type: "created", isInInitialList: false };
const updated: Cause = { type: "updated" };
const dependency = (key: string): Cause => ({ type: "dependency", kind: "v1/ConfigMap", key, change: "updated" });

describe("merged causes", () => {
  it("keeps each cause once, and the latest retry", () => {
    const merged = mergeControllerCauses(
      [created, dependency("a/x"), { type: "retry", attempt: 1, error: "first" }],
      [updated, dependency("a/x"), dependency("a/y"), { type: "retry", attempt: 2, error: "second" }],
    );
    expect(merged).toEqual([
      created,
      dependency("a/x"),
      { type: "retry", attempt: 2, error: "second" },
      updated,
      dependency("a/y"),
    ]);
  });

  it("counts the causes beyond its limit", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(200))), (batches) => {
        const merged = batches
          .map((batch) => batch.map((key) => dependency(`a/${key}`)))
          .reduce((earlier: readonly Cause[], later) => mergeControllerCauses(earlier, later), []);
        const distinct = new Set(batches.flat()).size;
        expect(merged.length).toBe(Math.min(distinct, MAX_CAUSES));
        const rest = merged.find((cause) => cause.type === "more");
        expect(rest !== undefined).toBe(distinct > MAX_CAUSES);
        if (rest) expect(rest.count).toBeGreaterThanOrEqual(distinct - MAX_CAUSES + 1);
      }),
    );
  });
});

describe("causes of other objects", () => {
  it("never displace what happened to the object itself", () => {
    const own: readonly Cause[] = [
      created,
      updated,
      { type: "deleted" },
      { type: "retry", attempt: 1, error: "no" },
      { type: "requested", by: "reconcile-now" },
      { type: "trigger", name: "paid" },
    ];
    const others = Array.from({ length: 3 * MAX_CAUSES }, (_, at) => dependency(`a/${at}`));
    fc.assert(
      fc.property(fc.shuffledSubarray([...own, ...others], { minLength: 3 * MAX_CAUSES }), fc.nat(20), (all, size) => {
        let merged: readonly Cause[] = [];
        for (let at = 0; at < all.length; at += size + 1)
          merged = mergeControllerCauses(merged, all.slice(at, at + size + 1));
        for (const cause of all.filter(({ type }) => type !== "dependency")) expect(merged).toContainEqual(cause);
        const kept = merged.filter(({ type }) => type === "dependency").length;
        const rest = merged.find((cause) => cause.type === "more");
        expect(kept + (rest?.count ?? 0)).toBe(all.filter(({ type }) => type === "dependency").length);
        expect(merged.length).toBeLessThanOrEqual(MAX_CAUSES + own.length);
      }),
    );
  });
});

describe("actionOf", () => {
  it.each<[string, readonly Cause[], string]>([
    ["created", [created], "created"],
    ["created, then updated", [created, updated], "created"],
    ["updated", [updated], "updated"],
    ["only resyncs", [{ type: "resync" }], "resynced"],
    ["a resync and an update", [{ type: "resync" }, updated], "updated"],
  ])("returns the action for %s [case 5]", (_, causes, action) => expect(actionOf(causes, { metadata })).toBe(action));

  it("returns resynced for an object that it held before a restart, but not for its retries [case 32]", () => {
    const held = { metadata: { ...metadata, finalizers: ["example.com/ours"] } };
    const listed: Cause = { type: "created", isInInitialList: true };
    const retry: Cause = { type: "retry", attempt: 1, error: "no" };
    expect(actionOf([listed], held, "example.com/ours")).toBe("resynced");
    expect(actionOf([listed], held, "example.com/another")).toBe("created");
    expect(actionOf([listed, retry], held, "example.com/ours")).toBe("created");
    expect(actionOf([created], held, "example.com/ours")).toBe("created");
  });

  it("returns created for a successor of a deleted object whose add event is still to come", () => {
    expect(actionOf([{ type: "deleted" }, dependency("a/x")], { metadata })).toBe("created");
  });

  it("returns deleted for any object with a deletionTimestamp", () => {
    const deleting = { metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(actionOf([created], deleting)).toBe("deleted");
  });
});

describe("describeCause", () => {
  it("names what has changed", () => {
    expect(describeCause(dependency("team/settings"))).toBe("dependency v1/ConfigMap team/settings updated");
    expect(describeCause({ type: "retry", attempt: 3, error: "no" })).toBe("retry 3");
    expect(describeCause(updated)).toBe("updated");
  });
});
