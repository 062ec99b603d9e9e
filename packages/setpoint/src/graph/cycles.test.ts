import { describe, expect, it } from "vitest";
import { Lab, named } from "./lab.testing.js";

describe("cycles", () => {
  it("set an error on every member at once, run none, and free the rest when one is deleted [16]", async () => {
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

  it("include a resource that refers to itself, which can be deleted [17]", async () => {
    await using lab = await Lab.create();
    lab.create("bar1", ["bar1"]);
    await lab.settle();
    expect(lab.status("bar1")).toBe("cyclic");
    await lab.graph.delete(named("bar1"));
    expect([lab.graph.list(), lab.log]).toEqual([[], []]);
  });

  it("of three are resolved when one ref is changed [18]", async () => {
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
