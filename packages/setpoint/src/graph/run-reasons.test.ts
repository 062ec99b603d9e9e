import { describe, expect, it } from "vitest";
import { requeueAfter, retry, terminal } from "../loop/outcome.js";
import { Lab, named } from "./lab.testing.js";

describe("a resource", () => {
  it("runs once for each resource when the runtime is restarted [30]", async () => {
    const first = await Lab.create();
    first.create("a");
    first.create("b", ["a"]);
    await first.finishAll();
    await first[Symbol.asyncDispose]();
    await using second = await Lab.create({}, { before: first });
    await second.finishAll();
    expect(second.log).toEqual(["reconcile a", "reconcile b"]);
  });

  it("restores its timer after a restart; a time missed while down fires once [30]", async () => {
    const first = await Lab.create({ whenRefsFinish: "changed" });
    first.create("soon");
    first.create("late");
    await first.settle();
    await first.call("soon").return(requeueAfter("1m"));
    await first.call("late").return(requeueAfter("10m"));
    await first[Symbol.asyncDispose]();
    await first.clock.advance(5 * 60_000);
    await using second = await Lab.create({ whenRefsFinish: "changed" }, { before: first });
    expect(second.log).toEqual(["reconcile soon"]);
    await second.finishAll();
    await second.clock.advance(6 * 60_000);
    expect(second.log).toEqual(["reconcile soon", "reconcile late"]);
  });

  it("completes an interrupted delete [30]", async () => {
    const first = await Lab.create({ whenRefsFinish: "changed" });
    first.create("a");
    await first.finishAll();
    first.graph.delete(named("a"));
    await first.settle();
    await first[Symbol.asyncDispose]();
    await using second = await Lab.create({ whenRefsFinish: "changed" }, { before: first });
    expect(second.log).toEqual(["remove a"]);
    await second.finishAll();
    expect(second.graph.deleted()).toEqual([]);
  });

  it("keeps an error across a restart, and its retry waits for its time [30]", async () => {
    const first = await Lab.create({ whenRefsFinish: "changed" });
    first.create("a");
    await first.settle();
    await first.call("a").return(retry(new Error("no disk"), { after: "1m" }));
    await first[Symbol.asyncDispose]();
    await using second = await Lab.create({ whenRefsFinish: "changed" }, { before: first });
    expect(second.log).toEqual([]);
    expect(second.graph.get(named("a"))?.error?.message).toBe("no disk");
    await second.clock.advance(60_000);
    expect(second.call("a").ctx.causes).toEqual([{ type: "retry", attempt: 1, error: "no disk" }]);
    expect(second.call("a").ctx.attempt).toBe(1);
  });

  it("runs when its spec is updated, and when its refs are", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b");
    await lab.finishAll();
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    expect(lab.call("a").ctx.causes).toEqual([{ type: "updated" }]);
    await lab.finishAll();
    lab.graph.updateMeta(named("a"), { refs: [named("b")] });
    await lab.settle();
    expect(lab.running).toEqual(["a"]);
  });

  it("does not run for an update that changes nothing", async () => {
    await using lab = await Lab.create();
    lab.create("a", [], { value: 1 });
    await lab.finishAll();
    const { version } = lab.graph.get(named("a"))!.meta;
    await lab.graph.updateSpec(named("a"), { value: 1 });
    await lab.graph.updateMeta(named("a"), { refs: [] });
    expect(lab.log).toEqual(["reconcile a"]);
    expect(lab.graph.get(named("a"))!.meta.version).toBe(version);
  });

  it("runs when it is deleted, with deletedOn set, and get hides it meanwhile", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.finishAll();
    const ticket = lab.graph.delete(named("a"));
    await lab.settle();
    expect(lab.call("a")).toMatchObject({ phase: "remove" });
    expect(lab.call("a").resource.meta.deletedOn).toBeDefined();
    expect(lab.call("a").ctx.get(named("a"))?.meta.deletedOn).toBeDefined();
    expect(lab.graph.get(named("a"))).toBeUndefined();
    await lab.finishAll();
    expect(await ticket).toEqual([{ resource: undefined }]);
  });

  it("runs when it is renamed, with renamedFrom set until it has moved", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.finishAll();
    lab.graph.updateName(named("a"), named("b"));
    await lab.settle();
    expect(lab.call("b")).toMatchObject({ phase: "rename", move: { from: named("a"), to: named("b") } });
    expect(lab.graph.get(named("b"))?.meta.renamedFrom).toEqual(named("a"));
    await lab.finishAll();
    expect(lab.graph.get(named("b"))?.meta.renamedFrom).toBeUndefined();
    expect(lab.log).toEqual(["reconcile a", "rename b"]);
  });

  it("runs when all refs have finished, even with errors; once, and branches overlap [24]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b", ["a"]);
    lab.create("c", ["a"]);
    lab.create("d", ["b", "c"]);
    await lab.finishAll();
    lab.log.length = 0;
    lab.graph.reconcile(named("a"));
    await lab.settle();
    await lab.call("a").return();
    expect([...lab.running].sort()).toEqual(["b", "c"]);
    await lab.call("b").return(terminal(new Error("broken")));
    expect([lab.running, lab.status("d")]).toEqual([["c"], "pending"]);
    await lab.call("c").return();
    await lab.finishAll();
    expect([...lab.log].sort()).toEqual(["reconcile a", "reconcile b", "reconcile c", "reconcile d"]);
    expect(lab.log.at(-1)).toBe("reconcile d");
  });

  it("runs on request", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    await lab.finishAll();
    const ticket = lab.graph.reconcile(named("a"));
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile a", "reconcile a"]);
    expect(await ticket).toMatchObject([{ resource: { status: "idle" } }]);
  });

  it("shows the reason of a requested run", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    await lab.finishAll();
    lab.graph.reconcile(named("a"), { why: "the table was dropped" });
    await lab.finishAll();
    expect(lab.graph.explain(named("a"))?.reason).toBe("it ran: requested: the table was dropped");
  });

  it("runs again at its time, or at once before its dependents if that is past; an earlier run cancels it [25]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b", ["a"]);
    await lab.finishAll();
    lab.graph.reconcile(named("a"));
    await lab.settle();
    await lab.call("a").return({ runAgainAt: lab.clock.now() + 2_000 });
    await lab.finishAll();
    expect(lab.graph.get(named("a"))?.runAgainOn).toBe(lab.clock.now() + 2_000);
    lab.log.length = 0;
    await lab.clock.advance(2_000);
    expect(lab.running).toEqual(["a"]);
    await lab.call("a").return({ runAgainAt: lab.clock.now() - 1 });
    expect(lab.log).toEqual(["reconcile a", "reconcile a"]);
    await lab.call("a").return({ runAgainAt: lab.clock.now() + 5_000 });
    await lab.finishAll();
    lab.graph.reconcile(named("a"));
    await lab.finishAll();
    lab.log.length = 0;
    await lab.clock.advance(10_000);
    expect(lab.log).toEqual([]);
  });
});
