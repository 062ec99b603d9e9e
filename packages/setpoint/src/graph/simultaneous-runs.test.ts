import { describe, expect, it } from "vitest";
import { retry, waitFor } from "../loop/outcome.js";
import { Lab, named } from "./lab.testing.js";

describe("simultaneous runs", () => {
  it("are at most one per name, also if a name is taken over", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    lab.graph.updateName(named("a"), named("b"));
    lab.create("a");
    await lab.settle();
    expect(lab.running).toEqual(["a"]);
    expect(lab.call("a").ctx.signal.aborted).toBe(true);
  });

  it("a running child is cancelled when its parent is updated, and both run once after it has ended [21]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b", ["a"]);
    await lab.settle();
    await lab.call("a").return();
    const child = lab.call("b");
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    expect([child.ctx.signal.aborted, lab.running]).toEqual([true, ["b"]]);
    expect(lab.graph.explain(named("a"))?.waitsFor).toEqual([{ type: "run", name: named("b"), cancelled: true }]);
    await child.return();
    expect(lab.running).toEqual(["a"]);
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile a", "reconcile b", "reconcile a", "reconcile b"]);
  });

  it("a leaf waits for the root although the run between them is cancelled", async () => {
    await using lab = await Lab.create();
    lab.create("middle", ["root"]);
    lab.create("leaf", ["middle"]);
    await lab.settle();
    lab.create("root");
    lab.graph.cancel(named("middle"));
    await lab.settle();
    await lab.call("middle").return();
    expect(lab.running).toEqual(["root"]);
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile middle", "reconcile root", "reconcile middle", "reconcile leaf"]);
  });

  it("a leaf waits for the root although the rename between them fails, and the rename is retried", async () => {
    await using lab = await Lab.create();
    lab.create("root");
    lab.create("middle", ["root"]);
    lab.create("leaf", ["new"]);
    await lab.finishAll();
    lab.graph.batch((edit) => {
      edit.reconcile(named("root"));
      edit.updateName(named("middle"), named("new"));
    });
    await lab.settle();
    await lab.call("new").return(retry(new Error("locked"), { after: "1m" }));
    expect(lab.running).toEqual(["root"]);
    expect(lab.graph.explain(named("new"))).toMatchObject({ status: "pending", waitsFor: [{ type: "timer" }] });
    const before = lab.log.length;
    await lab.clock.advance(60_000);
    expect(lab.running).toEqual(["root"]);
    await lab.finishAll();
    expect(lab.log.slice(before)).toEqual(["rename new", "reconcile new", "reconcile leaf"]);
  });

  it("a failed rename does not block a resource that it refers to", async () => {
    await using lab = await Lab.create();
    lab.create("root");
    lab.create("middle", ["root"]);
    await lab.finishAll();
    lab.graph.updateName(named("middle"), named("new"));
    await lab.settle();
    await lab.call("new").return(retry(new Error("locked"), { after: "1m" }));
    lab.graph.reconcile(named("root"));
    await lab.settle();
    expect(lab.running).toEqual(["root"]);
  });

  it("an update by the run itself does not cancel it; one by others causes exactly one more run [22]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    const { ctx } = lab.call("a");
    ctx.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    expect(ctx.signal.aborted).toBe(false);
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile a"]);
    lab.graph.reconcile(named("a"));
    await lab.settle();
    lab.graph.updateSpec(named("a"), { value: 3 });
    lab.graph.updateSpec(named("a"), { value: 4 });
    await lab.settle();
    expect(lab.call("a").ctx.signal.aborted).toBe(true);
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile a", "reconcile a", "reconcile a"]);
  });

  it("the refs that a run has read are forgotten when it ends, also if it removed refs itself", async () => {
    await using lab = await Lab.create();
    lab.create("root");
    lab.create("a", ["root"]);
    lab.create("busy");
    await lab.settle();
    await lab.call("root").return();
    await lab.call("a").ctx.graph.updateMeta(named("a"), { refs: [] }).accepted;
    await lab.call("a").return();
    lab.graph.updateSpec(named("busy"), { value: 2 });
    lab.graph.reconcile(named("root"));
    await lab.settle();
    expect(lab.running).toEqual(["busy", "root"]);
  });

  it("a cancelled run may write its state, and everybody else is refused [23]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    const { ctx } = lab.call("a");
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    ctx.updateState({ rows: 3 });
    expect(lab.graph.get(named("a"))?.state).toEqual({ rows: 3 });
    await expect(lab.graph.updateState(named("a"), {})).rejects.toMatchObject({ code: "GRAPH_STATE_FOREIGN" });
    await expect(ctx.graph.updateSpec(named("a"), { value: 9 })).rejects.toMatchObject({ code: "GRAPH_RUN_OVER" });
    await lab.call("a").return();
    expect(() => ctx.updateState({ rows: 4 })).toThrow("has ended");
  });

  it("an error of a reconciler is its own: its lock is released, and siblings go on [26]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b");
    await lab.settle();
    const locked = lab.call("a").ctx.graph.lock(() => Promise.reject(new Error("in the lock")));
    await expect(locked).rejects.toThrow("in the lock");
    await lab.call("a").throw(new Error("out of cheese"));
    expect(lab.graph.get(named("a"))?.error?.message).toBe("out of cheese");
    expect(lab.status("b")).toBe("running");
    lab.create("c");
    await lab.settle();
    expect(lab.running).toEqual(["b", "c"]);
  });

  it("a lock is released when its run ends without waiting for it [26]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    const locked = lab.call("a").ctx.graph.lock(() => new Promise(() => {}));
    locked.catch(() => {});
    await lab.settle();
    await lab.call("a").throw(new Error("out of cheese"));
    await expect(locked).rejects.toMatchObject({ code: "GRAPH_RUN_OVER" });
    lab.create("b");
    await lab.settle();
    expect(lab.running).toEqual(["b"]);
  });

  it("a delete cancels the run, blocks dependents until it is done, then runs them [27]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b", ["a"]);
    await lab.finishAll();
    lab.graph.reconcile(named("a"));
    await lab.settle();
    lab.graph.delete(named("a"));
    await lab.settle();
    expect([lab.call("a").phase, lab.call("a").ctx.signal.aborted]).toEqual(["reconcile", true]);
    await lab.call("a").return();
    expect([lab.call("a").phase, lab.status("b")]).toEqual(["remove", "pending"]);
    await lab.call("a").return();
    expect(lab.call("b").ctx.causes).toEqual([{ type: "ref", name: named("a"), change: "deleted" }]);
  });

  it("a delete is aborted when the name is created again, and the version counts on [27]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.finishAll();
    lab.graph.delete(named("a"));
    await lab.settle();
    const [deleted] = lab.graph.deleted();
    const removal = lab.call("a");
    lab.create("a", [], { value: 2 });
    await lab.settle();
    expect(removal.ctx.signal.aborted).toBe(true);
    expect(lab.graph.get(named("a"))?.meta.version).toBe(deleted!.meta.version + 1);
    await removal.return();
    await lab.finishAll();
    expect([lab.status("a"), lab.graph.deleted()]).toEqual(["idle", []]);
    expect(lab.log).toEqual(["reconcile a", "remove a", "reconcile a"]);
  });

  it("a resource that deletes itself is deleted at once, its signal aborted, and remove not called [28]", async () => {
    await using lab = await Lab.create();
    lab.create("trigger");
    await lab.settle();
    const { ctx } = lab.call("trigger");
    ctx.graph.delete(named("trigger"));
    await lab.settle();
    expect([ctx.signal.aborted, lab.graph.get(named("trigger"))]).toEqual([true, undefined]);
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile trigger"]);
  });

  it("nothing starts under a lock, then parents start first; edits of others wait [29]", async () => {
    await using lab = await Lab.create();
    let release!: () => void;
    const held = lab.graph.lock(async (edit) => {
      edit.create({ name: named("c"), refs: [named("b")], spec: {} });
      edit.create({ name: named("b"), refs: [named("a")], spec: {} });
      edit.create({ name: named("a"), spec: {} });
      await new Promise<void>((resolve) => (release = resolve));
    });
    await lab.settle();
    lab.create("other");
    await lab.settle();
    expect([lab.running, lab.graph.get(named("other"))]).toEqual([[], undefined]);
    expect(lab.graph.explain(named("a"))?.waitsFor).toEqual([{ type: "lock" }]);
    release();
    await held;
    await lab.finishAll();
    expect(lab.log.filter((entry) => !entry.endsWith("other"))).toEqual(["reconcile a", "reconcile b", "reconcile c"]);
  });

  it("deletes come first, then renames, then the rest", async () => {
    await using lab = await Lab.create();
    for (const name of ["bar", "foo"]) lab.create(name);
    await lab.finishAll();
    lab.log.length = 0;
    lab.graph.batch((edit) => {
      edit.create({ name: named("bazz"), spec: {} });
      edit.updateName(named("foo"), named("foo_two"));
      edit.delete(named("bar"));
    });
    await lab.settle();
    expect(lab.running).toEqual(["bar"]);
    await lab.call("bar").return();
    expect(lab.running).toEqual(["foo_two"]);
    await lab.finishAll();
    expect(lab.log).toEqual(["remove bar", "rename foo_two", "reconcile bazz"]);
  });

  it("state and output stay readable during a run", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    lab.call("a").ctx.updateState({ rows: 1 });
    await lab.call("a").return({ outputVersion: "v1" });
    lab.graph.reconcile(named("a"));
    await lab.settle();
    expect(lab.graph.get(named("a"))).toMatchObject({ status: "running", state: { rows: 1 }, outputVersion: "v1" });
  });

  it("dependents of a waiting resource are blocked until it is done", async () => {
    await using lab = await Lab.create();
    lab.create("job");
    lab.create("deployment", ["job"]);
    await lab.settle();
    await lab.call("job").return(waitFor("JobDone", { recheck: "1m" }));
    expect([lab.status("job"), lab.status("deployment")]).toEqual(["waiting", "pending"]);
    await lab.graph.waitUntilIdle();
    lab.graph.reconcile(named("job"));
    await lab.finishAll();
    expect(lab.log.at(-1)).toBe("reconcile deployment");
  });
});
