import { describe, expect, it } from "vitest";
import { requeueAfter, retry, terminal, waitFor } from "../loop/outcome.js";
import { Lab, named } from "./lab.testing.js";

const reason = (lab: Lab, name: string) => lab.graph.explain(named(name))?.reason.replace(/\d{4}-\S+Z/, "TIME");

describe("an explanation", () => {
  it("says why a resource runs, why it ran, how that run ended and when it runs again", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    expect(lab.graph.explain(named("a"))).toMatchObject({
      reason: "it is running: created",
      causes: [{ type: "created" }],
    });
    await lab.call("a").return(retry(new Error("no disk"), { after: "1m" }));
    expect(reason(lab, "a")).toBe("it ran: created; failed: no disk; runs again at TIME");
    await lab.clock.advance(60_000);
    expect(reason(lab, "a")).toBe("it is running: retry 1");
    await lab.call("a").return(requeueAfter("1h"));
    expect(reason(lab, "a")).toBe("it ran: retry 1; runs again at TIME");
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    await lab.call("a").return(terminal(new Error("bad spec")));
    expect(reason(lab, "a")).toBe("it ran: updated; failed: bad spec");
    expect(lab.graph.explain(named("nobody"))).toBeUndefined();
  });

  it("follows a chain of waits to the run, the time or the person at its end", async () => {
    await using lab = await Lab.create();
    lab.create("root");
    lab.create("middle", ["root"]);
    lab.create("leaf", ["middle"]);
    await lab.settle();
    expect(reason(lab, "leaf")).toBe(
      "to run: created; waits for Node/middle, which it refers to, in the end for the run of Node/root",
    );
    await lab.call("root").return(waitFor("DiskMounted"));
    expect(reason(lab, "root")).toBe("its last run waits for DiskMounted, and looks again at TIME");
    expect(lab.graph.explain(named("leaf"))?.waitsFor).toEqual([
      { type: "resource", name: named("middle"), why: "ref" },
      { type: "resource", name: named("root"), why: "ref" },
      { type: "timer", at: expect.any(Number) },
    ]);
  });

  it("names the members of a cycle in ref order, and stops there for resources below it", async () => {
    await using lab = await Lab.create();
    lab.graph.batch((edit) => {
      edit.create({ name: named("a"), refs: [named("c")], spec: {} });
      edit.create({ name: named("b"), refs: [named("a")], spec: {} });
      edit.create({ name: named("c"), refs: [named("b")], spec: {} });
      edit.create({ name: named("below"), refs: [named("a")], spec: {} });
    });
    await lab.settle();
    expect(reason(lab, "a")).toBe("it is in a cycle of refs: Node/a → Node/c → Node/b → Node/a");
    expect(lab.graph.get(named("a"))?.error).toEqual({
      code: "GRAPH_CYCLE",
      message: "Node/a refers to itself, directly or through others",
    });
    expect(lab.graph.explain(named("below"))?.failedRefs).toEqual([named("a")]);
  });

  it("names what is deleted first, and what is ahead in the queue", async () => {
    const weight = ({ value = 1 }: { readonly value?: number }) => ({ slots: value });
    await using lab = await Lab.create({ weight }, { capacity: { slots: 2 } });
    for (const name of ["old", "busy"]) lab.create(name);
    await lab.finishAll();
    lab.graph.batch((edit) => {
      edit.delete(named("old"));
      edit.reconcile(named("busy"));
    });
    await lab.settle();
    expect(reason(lab, "busy")).toBe(
      "to run: requested; waits for Node/old, which is deleted or renamed first, in the end for the run of Node/old",
    );
    await lab.call("old").return();
    lab.create("heavy", [], { value: 2 });
    lab.create("second", [], { value: 2 });
    await lab.settle();
    expect(reason(lab, "heavy")).toBe("to run: created; waits for the run of Node/busy");
    expect(reason(lab, "second")).toBe(
      "to run: created; waits for Node/heavy, which is ahead in line, in the end for the run of Node/busy",
    );
  });
});
