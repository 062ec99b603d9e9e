import { describe, expect, it } from "vitest";
import { Lab, named } from "./lab.testing.js";

describe("cycles", () => {
  it("sets an error on every member at once, calls none, and frees the rest when one is deleted [16]", async () => {
    await using lab = await Lab.create();
    lab.graph.batch((edit) => {
      edit.create({ name: named("bar1"), refs: [named("bar2")], spec: {} });
      edit.create({ name: named("bar2"), refs: [named("bar1")], spec: {} });
    });
    await lab.settle();
    expect(lab.log).toEqual([]);
    expect(lab.graph.list().map(({ status, error }) => [status, error?.code])).toEqual([
      ["cyclic", "GRAPH_CYCLE"],
      ["cyclic", "GRAPH_CYCLE"],
    ]);
    lab.graph.delete(named("bar1"));
    await lab.settle();
    const { ctx } = lab.call("bar2");
    expect(() => ctx.requireRefs()).toThrow(expect.objectContaining({ type: "terminal" }));
  });

  it("calls a resource that refers to itself cyclic, and lets it be deleted [17]", async () => {
    await using lab = await Lab.create();
    lab.create("bar1", ["bar1"]);
    await lab.settle();
    expect(lab.status("bar1")).toBe("cyclic");
    await lab.graph.delete(named("bar1"));
    expect([lab.graph.list(), lab.log]).toEqual([[], []]);
  });

  it("recovers a cycle of three when one ref is pointed elsewhere [18]", async () => {
    await using lab = await Lab.create();
    lab.create("foo");
    lab.create("bar1", ["bar3"]);
    lab.create("bar2", ["bar1"]);
    await lab.finishAll();
    lab.create("bar3", ["bar2"]);
    await lab.settle();
    expect(["bar1", "bar2", "bar3"].map((name) => lab.status(name))).toEqual(["cyclic", "cyclic", "cyclic"]);
    await lab.finishAll();
    lab.log.length = 0;
    lab.graph.updateMeta(named("bar1"), { refs: [named("foo")] });
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile bar1", "reconcile bar2", "reconcile bar3"]);
    expect(lab.graph.list().every(({ status, error }) => status === "idle" && !error)).toBe(true);
  });
});
