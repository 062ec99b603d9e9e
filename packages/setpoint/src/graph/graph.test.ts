import { describe, expect, it } from "vitest";
import { requeueAfter, terminal } from "../loop/outcome.js";
import { Lab, named } from "./lab.testing.js";

describe("the graph", () => {
  it("links placeholders, keeps them while they are referred to, and refuses self-refs [32]", async () => {
    await using lab = await Lab.create();
    lab.create("1", ["2"]);
    lab.create("2", ["3", "4"]);
    lab.create("3", ["4"]);
    await lab.finishAll();
    lab.create("4", ["1"]);
    expect(["1", "2", "3", "4"].map((name) => lab.status(name))).toEqual(Array(4).fill("cyclic"));
    await lab.settle();
    lab.graph.updateMeta(named("4"), { refs: [] });
    lab.log.length = 0;
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile 4", "reconcile 3", "reconcile 2", "reconcile 1"]);
    lab.graph.delete(named("4"));
    await lab.finishAll();
    lab.log.length = 0;
    lab.create("4");
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile 4", "reconcile 3", "reconcile 2", "reconcile 1"]);
    lab.graph.updateMeta(named("4"), { refs: [named("4")] });
    expect(lab.status("4")).toBe("cyclic");
  });

  it("stops when another process opens its store, and writes nothing more [31]", async () => {
    const older = await Lab.create();
    older.create("a");
    await older.settle();
    const { ctx } = older.call("a");
    const newer = await Lab.create({}, { before: older });
    const ticket = older.graph.updateSpec(named("a"), { value: 2 });
    await expect(ticket).rejects.toMatchObject({ code: "GRAPH_STOPPED", cause: { code: "GRAPH_FENCED" } });
    expect(await older.graph.ended).toMatchObject({ code: "GRAPH_FENCED" });
    expect(ctx.signal.aborted).toBe(true);
    await expect(older.graph.create({ name: named("b"), spec: {} })).rejects.toMatchObject({ code: "GRAPH_STOPPED" });
    expect(newer.graph.get(named("a"))?.spec).toEqual({});
    await newer.finishAll();
    await newer[Symbol.asyncDispose]();
  });

  it("never exceeds its capacity; a run that is too heavy runs alone, and is overtaken only so often", async () => {
    const weight = ({ value = 1 }: { readonly value?: number }) => ({ memory: value });
    await using lab = await Lab.create({ weight }, { capacity: { memory: 2 } });
    lab.create("x");
    lab.create("huge", [], { value: 9 });
    for (let at = 0; at < 40; at++) lab.create(`light${at}`);
    await lab.settle();
    for (let done = 0; !lab.running.includes("huge"); done++) {
      expect(lab.running.length).toBeLessThanOrEqual(2);
      expect(done).toBeLessThan(40);
      await lab.call(lab.running[0]!).return();
    }
    expect(lab.running).toEqual(["huge"]);
  });

  it("settles a ticket when the resource is at rest, and rejects invalid edits", async () => {
    await using lab = await Lab.create();
    const ticket = lab.graph.create({ name: named("a"), spec: {} });
    await ticket.accepted;
    await lab.settle();
    await lab.call("a").return(terminal(new Error("no")));
    expect(await ticket).toMatchObject([{ resource: { status: "idle" }, error: { message: "no" } }]);
    await expect(lab.graph.create({ name: named("A"), spec: {} })).rejects.toMatchObject({ code: "GRAPH_NAME_TAKEN" });
    await expect(lab.graph.reconcile(named("zzz"))).rejects.toMatchObject({ code: "GRAPH_NOT_FOUND" });
    const stale = lab.graph.updateSpec(named("a"), { value: 1 }, { ifVersion: 1 });
    await expect(stale).rejects.toMatchObject({ code: "GRAPH_CONFLICT" });
    const batch = lab.graph.batch((edit) => {
      edit.create({ name: named("new"), spec: {} });
      edit.delete(named("zzz"));
    });
    await expect(batch).rejects.toMatchObject({ code: "GRAPH_NOT_FOUND" });
    expect(lab.graph.get(named("new"))).toBeUndefined();
  });

  it.each([
    ["a kind that is not declared", "GRAPH_KIND_UNKNOWN", { name: { kind: "Nood", name: "x" }, spec: {} }],
    ["an empty name", "GRAPH_NAME_INVALID", { name: named(""), spec: {} }],
    ["a name that is a text", "GRAPH_NAME_INVALID", { name: "Node/x" as never, spec: {} }],
    ["a ref that is a text", "GRAPH_NAME_INVALID", { name: named("x"), refs: ["Node/y" as never], spec: {} }],
  ])("rejects the ticket of %s, and the whole batch with it", async (_, code, resource) => {
    await using lab = await Lab.create();
    await expect(lab.graph.create(resource)).rejects.toMatchObject({ code });
    const batch = lab.graph.batch((edit) => {
      edit.create({ name: named("good"), spec: {} });
      edit.create(resource);
    });
    await expect(batch).rejects.toMatchObject({ code });
    await expect(batch.accepted).rejects.toMatchObject({ code });
    expect(lab.graph.list()).toEqual([]);
    lab.create("good");
    await lab.finishAll();
    const other = lab.graph.updateName(named("good"), { kind: "Other", name: "good" });
    await expect(other).rejects.toMatchObject({ code: "GRAPH_NAME_INVALID" });
  });

  it("settles a ticket with its own resource if a name is released and taken at once", async () => {
    await using lab = await Lab.create();
    lab.create("a", [], { value: 1 });
    await lab.finishAll();
    const moved = lab.graph.updateName(named("a"), named("b"));
    const taken = lab.graph.create({ name: named("a"), spec: { value: 2 } });
    await lab.finishAll();
    expect(await moved).toMatchObject([{ resource: { meta: { name: named("b") }, spec: { value: 1 } } }]);
    expect(await taken).toMatchObject([{ resource: { meta: { name: named("a") }, spec: { value: 2 } } }]);
  });

  it("settles the ticket of a batch in the order of its edits, also with several for one resource", async () => {
    await using lab = await Lab.create();
    lab.create("old");
    await lab.finishAll();
    const ticket = lab.graph.batch((edit) => {
      edit.create({ name: named("new"), spec: { value: 1 } });
      edit.updateSpec(named("new"), { value: 2 });
      edit.updateName(named("new"), named("newer"));
      edit.delete(named("old"));
      edit.reconcile(named("newer"));
    });
    await lab.finishAll();
    const rests = (await ticket).map(({ resource }) => resource?.meta.name.name);
    expect(rests).toEqual(["newer", "newer", "newer", undefined, "newer"]);
  });

  it("reports no removal to subscribers if another resource of that name exists", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.finishAll();
    const removed: string[] = [];
    using _subscription = lab.graph.subscribe((event) => {
      if (event.type === "removed") removed.push(event.name.name);
    });
    // The rename would never finish: the data at its old name is removed instead.
    await lab.graph.lock(async (edit) => {
      await edit.updateName(named("a"), named("A")).accepted;
      await edit.updateMeta(named("A"), { refs: [named("A")] }).accepted;
    });
    await lab.finishAll();
    expect([lab.log, lab.status("a"), removed]).toEqual([["reconcile a", "remove a"], "cyclic", []]);
  });

  it("records the effects of a run, including failed ones, and refuses them after a cancellation", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    const { ctx } = lab.call("a");
    expect(await ctx.effect("build", () => 3)).toBe(3);
    await expect(ctx.effect("swap", () => Promise.reject(new Error("locked")))).rejects.toThrow("locked");
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    const late = ctx.effect("late", () => expect.unreachable());
    await expect(late).rejects.toMatchObject({ code: "GRAPH_RUN_CANCELLED" });
    await lab.call("a").return();
    expect(lab.graph.explain(named("a"))?.lastRun).toMatchObject({ outcome: "cancelled", effects: ["build", "swap"] });
    await lab.finishAll();
    expect(lab.graph.explain(named("a"))?.lastRun).toMatchObject({ outcome: "done", effects: [] });
  });

  it("does not repeat a cancelled run, and reports it", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b", ["a"]);
    await lab.settle();
    lab.graph.cancel(named("a"));
    await lab.settle();
    await lab.call("a").return();
    expect(lab.graph.get(named("a"))).toMatchObject({ status: "idle", error: { code: "GRAPH_RUN_CANCELLED" } });
    expect(lab.running).toEqual(["b"]);
  });

  it("does not repeat a cancelled run that a timer had started, nor fire that timer again", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    for (const start of [() => lab.clock.advance(60_000), () => lab.graph.reconcile(named("a")).accepted]) {
      await lab.call("a").return(requeueAfter("1m"));
      await start();
      await lab.settle();
      await lab.graph.cancel(named("a")).accepted;
      await lab.call("a").return();
      await lab.clock.advance(600_000);
      expect([lab.running, lab.graph.get(named("a"))?.error?.code]).toEqual([[], "GRAPH_RUN_CANCELLED"]);
      lab.graph.reconcile(named("a"));
      await lab.settle();
    }
  });

  it("runs the dependents of a resource whose run is cancelled before it started", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("parent");
    lab.create("child", ["parent"]);
    await lab.finishAll();
    lab.graph.batch((edit) => {
      edit.reconcile(named("parent"));
      edit.cancel(named("parent"));
    });
    await lab.settle();
    expect(lab.graph.get(named("parent"))?.error?.code).toBe("GRAPH_RUN_CANCELLED");
    expect(lab.running).toEqual(["child"]);
    expect(() => lab.call("child").ctx.requireRefs()).toThrow();
  });

  it("notifies subscribers once per resource and commit, and survives one that throws", async () => {
    await using lab = await Lab.create();
    const seen: string[] = [];
    using _broken = lab.graph.subscribe(() => {
      throw new Error("subscriber");
    });
    using _subscription = lab.graph.subscribe((event) =>
      seen.push(event.type === "changed" ? `${event.resource.meta.name.name} ${event.resource.status}` : "removed"),
    );
    lab.create("a");
    await lab.finishAll();
    lab.graph.delete(named("a"));
    await lab.finishAll();
    expect(seen).toEqual(["a running", "a idle", "a running", "removed"]);
  });

  it("can be idle while hidden resources run", async () => {
    await using lab = await Lab.create();
    lab.graph.create({ name: named("parser"), spec: {}, hidden: true });
    await lab.settle();
    await lab.graph.waitUntilIdle({ ignoreHidden: true });
    expect(lab.running).toEqual(["parser"]);
  });

  it("names the root of a failure in the errors of its dependents", async () => {
    await using lab = await Lab.create();
    lab.create("foo");
    lab.create("bar1", ["foo"]);
    lab.create("bar2", ["bar1"]);
    await lab.settle();
    await lab.call("foo").return(terminal(new Error("no such file")));
    for (const name of ["bar1", "bar2"]) {
      const { ctx, return: end } = lab.call(name);
      try {
        ctx.requireRefs();
      } catch (outcome) {
        await end(outcome as ReturnType<typeof terminal>);
      }
    }
    expect(lab.graph.get(named("bar2"))?.error).toEqual({
      code: "GRAPH_REF_FAILED",
      message: "dependency error: Node/bar1 cannot be used because of Node/foo: no such file",
    });
    expect(lab.graph.explain(named("bar2"))?.failedRefs).toEqual([named("bar1"), named("foo")]);
  });
});
