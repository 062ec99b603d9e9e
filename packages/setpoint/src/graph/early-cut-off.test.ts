import { describe, expect, it } from "vitest";
import { terminal } from "../loop/outcome.js";
import { Lab, named } from "./lab.testing.js";

describe("early cut-off", () => {
  it("settles a dependent without a run if outputs and failures are the same, and explains it", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    lab.create("b", ["a"]);
    lab.create("c", ["b"]);
    await lab.finishAll();
    lab.log.length = 0;
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.finishAll(() => "same");
    expect(lab.log).toEqual(["reconcile a"]);
    expect(lab.graph.explain(named("c"))?.reason).toContain("have not changed since its last run");
    lab.graph.updateSpec(named("a"), { value: 3 });
    await lab.finishAll((name) => (name === "a" ? "new" : "same"));
    expect(lab.log).toEqual(["reconcile a", "reconcile a", "reconcile b"]);
  });

  it("runs a dependent if a failure appears or disappears, although the output is the same", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    lab.create("b", ["a"]);
    await lab.finishAll();
    for (const outcome of [terminal(new Error("down")), { outputVersion: "same" }]) {
      lab.log.length = 0;
      lab.graph.reconcile(named("a"));
      await lab.settle();
      await lab.call("a").return(outcome);
      await lab.finishAll();
      expect(lab.log).toEqual(["reconcile a", "reconcile b"]);
    }
  });

  it("runs nothing for an edit that is reverted before its run starts", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed", weight: { slots: 1 } }, { capacity: { slots: 1 } });
    lab.create("a", [], { value: 1 });
    lab.create("busy");
    await lab.finishAll();
    lab.graph.reconcile(named("busy"));
    await lab.settle();
    lab.log.length = 0;
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    lab.graph.updateSpec(named("a"), { value: 1 });
    await lab.finishAll();
    expect(lab.log).toEqual([]);
  });

  it("shows no stale errors while a resource above runs; a warning re-runs nothing [33, defects 2 and 3]", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    lab.create("b", ["a"]);
    lab.create("c", ["b"]);
    await lab.settle();
    await lab.call("a").return({ outputVersion: "1", warnings: ["old syntax"] });
    for (const name of ["b", "c"]) await lab.call(name).return(terminal(new Error("bad")));
    lab.graph.reconcile(named("a"));
    await lab.settle();
    const shown = ["b", "c"].map((name) => lab.graph.get(named(name)));
    expect(shown.map((one) => [one?.status, one?.error])).toEqual([
      ["pending", undefined],
      ["pending", undefined],
    ]);
    lab.log.length = 0;
    const { stateVersion } = lab.graph.get(named("a"))!.meta;
    await lab.call("a").return({ outputVersion: "1", warnings: ["old syntax"] });
    expect(lab.log).toEqual([]);
    expect(lab.graph.get(named("a"))).toMatchObject({ meta: { stateVersion }, warnings: ["old syntax"] });
    expect(lab.graph.get(named("b"))?.error?.message).toBe("bad");
  });

  it("runs a dependent if its ref leaves a cycle and is settled without a run", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("middle", ["top"]);
    lab.create("leaf", ["middle"]);
    await lab.finishAll();
    lab.create("top", ["middle"]);
    await lab.finishAll();
    expect([lab.status("middle"), lab.log.at(-1)]).toEqual(["cyclic", "reconcile leaf"]);
    lab.log.length = 0;
    lab.graph.delete(named("top"));
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile leaf"]);
  });
});
