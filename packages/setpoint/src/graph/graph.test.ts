import { describe, expect, it } from "vitest";
import { requeueAfter, retry, terminal, waitFor } from "../loop/outcome.js";
import type { BatchEditor } from "./graph-editor.js";
import { Lab, named } from "./lab.testing.js";

describe("when a resource runs", () => {
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

  it("re-arms its time after a restart, and a time missed while down fires once [30]", async () => {
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

  it("completes a delete that was interrupted [30]", async () => {
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

  it("keeps an error across a restart, and its retry waits for its time", async () => {
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

  it("runs when it is deleted, with deletedOn set, and is hidden from get meanwhile", async () => {
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

  it("runs when all refs have finished, also with errors; once, and branches overlap [24]", async () => {
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

  it("runs when somebody asks for it", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    await lab.finishAll();
    const ticket = lab.graph.reconcile(named("a"));
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile a", "reconcile a"]);
    expect(await ticket).toMatchObject([{ resource: { status: "idle" } }]);
  });

  it("says why somebody asked for a run", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    await lab.finishAll();
    lab.graph.reconcile(named("a"), { why: "the table was dropped" });
    await lab.finishAll();
    expect(lab.graph.explain(named("a"))?.reason).toBe("it ran: requested: the table was dropped");
  });

  it("runs again at its time; at once, and before its dependents, where that is past; an earlier run drops it [25]", async () => {
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

describe("what runs at once", () => {
  it("runs one reconcile per name, also where a name is taken over", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    lab.graph.updateName(named("a"), named("b"));
    lab.create("a");
    await lab.settle();
    expect(lab.running).toEqual(["a"]);
    expect(lab.call("a").ctx.signal.aborted).toBe(true);
  });

  it("cancels a running child when its parent is updated, waits for it, then runs both once [21]", async () => {
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

  it("keeps a leaf waiting for the root when the run between them is called off", async () => {
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

  it("keeps a leaf waiting for the root when the rename between them fails, and retries the rename at its time", async () => {
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

  it("does not let a failed rename hold up a resource that it refers to", async () => {
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

  it("does not cancel for a self-update; for an outsider's exactly once more [22]", async () => {
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

  it("lets a cancelled run write its state, and refuses everybody else [23]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    const { ctx } = lab.call("a");
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.settle();
    ctx.updateState({ rows: 3 });
    expect(lab.graph.get(named("a"))?.state).toEqual({ rows: 3 });
    expect(() => lab.graph.updateState(named("a"))).toThrow("written by its own reconciler");
    await expect(ctx.graph.updateSpec(named("a"), { value: 9 })).rejects.toMatchObject({ code: "GRAPH_RUN_OVER" });
    await lab.call("a").return();
    expect(() => ctx.updateState({ rows: 4 })).toThrow("has ended");
  });

  it("makes a throwing reconciler an error of its own, releases its lock, and leaves siblings alone [26]", async () => {
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

  it("cancels for a delete, blocks dependents until it is done, then runs them [27]", async () => {
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

  it("aborts a delete when the name is created again; the version goes on [27]", async () => {
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

  it("deletes at once what deletes itself, aborts its signal, and calls no remove [28]", async () => {
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

  it("starts nothing under a lock, then parents first; edits of others wait [29]", async () => {
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

  it("does all deletes, then all renames, then the rest", async () => {
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

  it("keeps state and output readable while a run is under way", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    lab.call("a").ctx.updateState({ rows: 1 });
    await lab.call("a").return({ outputVersion: "v1" });
    lab.graph.reconcile(named("a"));
    await lab.settle();
    expect(lab.graph.get(named("a"))).toMatchObject({ status: "running", state: { rows: 1 }, outputVersion: "v1" });
  });

  it("blocks dependents of a resource that waits, until it is done", async () => {
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

describe("renames", () => {
  it("neither stalls nor loses anything when a parent is edited and its child renamed in one batch [14]", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b", ["a"]);
    await lab.finishAll();
    lab.log.length = 0;
    lab.graph.batch((edit) => {
      edit.updateSpec(named("a"), { value: 2 });
      edit.updateName(named("b"), named("c"));
    });
    await lab.finishAll();
    await lab.graph.waitUntilIdle();
    expect(lab.log).toEqual(["rename c", "reconcile a", "reconcile c"]);
  });

  it("exchanges names without a rebuild: one steps aside", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    const world = new Map<string, string>();
    for (const name of ["a", "b"]) {
      lab.create(name, [], { value: name.charCodeAt(0) });
      world.set(name, `data of ${name}`);
    }
    await lab.finishAll();
    lab.graph.batch((edit) => {
      edit.updateName(named("a"), named("b"));
      edit.updateName(named("b"), named("a"));
    });
    for (await lab.settle(); lab.running.length > 0; ) {
      const call = lab.call(lab.running[0]!);
      const { from, to } = call.move!;
      expect(world.has(to.name)).toBe(false);
      world.set(to.name, world.get(from.name)!);
      world.delete(from.name);
      await call.return();
    }
    expect([...world].sort()).toEqual([
      ["a", "data of b"],
      ["b", "data of a"],
    ]);
    expect(lab.log.filter((entry) => entry.startsWith("reconcile"))).toEqual(["reconcile a", "reconcile b"]);
  });

  it("keeps each resource's things apart when a ring of renames is broken by another rename before it starts", async () => {
    await using lab = await Lab.create();
    for (const name of ["a", "b", "c"]) lab.create(name);
    await lab.finishAll();
    await lab.graph.lock(async (edit) => {
      await edit.batch((ring) => {
        ring.updateName(named("c"), named("a"));
        ring.updateName(named("a"), named("b"));
        ring.updateName(named("b"), named("c"));
      }).accepted;
      await edit.updateName(named("c"), named("d")).accepted;
    });
    await lab.settle();
    const before = lab.log.length - lab.running.length;
    await lab.finishAll();
    expect(lab.log.slice(before, before + 3)).toEqual(["rename d", "rename b", "rename a"]);
  });

  it.each([
    ["has", "a~1", () => undefined],
    ["is moving away from", "a~1", (edit: BatchEditor) => edit.updateName(named("a~1"), named("z"))],
    // Its removal is the first run.
    ["could not be removed from", "a~2", (edit: BatchEditor) => edit.delete(named("a~2"))],
  ])("does not step aside to a name that another resource %s", async (_, taken, change) => {
    const kind = { whenRefsFinish: "changed", remove: () => Promise.resolve(retry("in use")) } as const;
    const first = await Lab.create(kind);
    for (const name of ["a", "b", taken]) first.create(name);
    await first.finishAll();
    await first[Symbol.asyncDispose]();
    // Runs are counted from 1 again.
    await using lab = await Lab.create(kind, { before: first });
    lab.graph.batch((edit) => {
      edit.updateName(named("a"), named("b"));
      edit.updateName(named("b"), named("a"));
      change(edit);
    });
    await lab.settle();
    expect(lab.call("a").move?.to.name).toMatch(/^a~/);
    expect(lab.call("a").move?.to.name).not.toBe(taken);
  });

  it("steps aside where a later rename closes a ring", async () => {
    await using lab = await Lab.create();
    for (const name of ["a", "b", "m"]) lab.create(name);
    await lab.finishAll();
    await lab.graph.lock(async (edit) => {
      await edit.batch((chain) => {
        chain.updateName(named("m"), named("a"));
        chain.updateName(named("a"), named("b"));
        chain.updateName(named("b"), named("c"));
      }).accepted;
      await edit.updateName(named("c"), named("m")).accepted;
    });
    await lab.settle();
    expect(lab.call("a").move?.to.name).toMatch(/^a~/);
    await lab.finishAll();
    expect(["a", "b", "m"].map((name) => lab.graph.get(named(name))?.meta.renamedFrom)).toEqual(
      Array(3).fill(undefined),
    );
  });

  it("still knows its first name when a rename that has begun is taken back", async () => {
    const interrupted = async () => {
      const lab = await Lab.create();
      lab.create("a");
      await lab.finishAll();
      lab.graph.updateName(named("a"), named("b"));
      await lab.settle();
      lab.graph.updateName(named("b"), named("a"));
      return lab;
    };
    await using renamed = await interrupted();
    renamed.graph.updateName(named("a"), named("c"));
    await renamed.call("b").return();
    const moves: string[] = [];
    for (let move = renamed.call("c").move; move; move = renamed.call("c").move) {
      moves.push(`${move.from.name} to ${move.to.name}`);
      await renamed.call("c").return();
    }
    expect(moves.sort()).toEqual(["a to c", "b to c"]);

    await using deleted = await interrupted();
    const before = deleted.log.length;
    deleted.graph.delete(named("a"));
    await deleted.call("b").return();
    await deleted.finishAll();
    expect(deleted.log.slice(before).sort()).toEqual(["remove a", "remove b"]);
  });

  it("takes a change of case for a rename", async () => {
    await using lab = await Lab.create();
    lab.create("bar");
    await lab.finishAll();
    lab.graph.updateName(named("bar"), named("Bar"));
    await lab.settle();
    expect(lab.call("Bar").move).toEqual({ from: named("bar"), to: named("Bar") });
    await lab.finishAll();
    expect(lab.graph.get(named("BAR"))?.meta.name).toEqual(named("Bar"));
  });
});

describe("early cut-off", () => {
  it("settles a dependent without a call where outputs and failures are the same, and says so", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("a");
    lab.create("b", ["a"]);
    lab.create("c", ["b"]);
    await lab.finishAll();
    lab.log.length = 0;
    lab.graph.updateSpec(named("a"), { value: 2 });
    await lab.finishAll(() => "same");
    expect(lab.log).toEqual(["reconcile a"]);
    expect(lab.graph.explain(named("c"))?.reason).toContain("settled without another");
    lab.graph.updateSpec(named("a"), { value: 3 });
    await lab.finishAll((name) => (name === "a" ? "new" : "same"));
    expect(lab.log).toEqual(["reconcile a", "reconcile a", "reconcile b"]);
  });

  it("runs a dependent where a failure comes or goes, though the output is the same", async () => {
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

  it("runs nothing for an edit that is taken back before its run starts", async () => {
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

  it("shows no stale errors while something above runs, and a warning re-runs nobody [33]", async () => {
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
});

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

  it("keeps a failed delete visible and tries it again, without holding up others", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.finishAll();
    lab.graph.delete(named("a"));
    await lab.settle();
    await lab.call("a").return(retry(new Error("locked"), { after: "1s" }));
    expect(lab.graph.deleted()).toMatchObject([{ error: { message: "locked" } }]);
    lab.create("b");
    await lab.settle();
    expect(lab.running).toEqual(["b"]);
    await lab.clock.advance(1_000);
    await lab.finishAll();
    expect(lab.graph.deleted()).toEqual([]);
  });

  it("waits for a cancelled child before it deletes its parent", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    lab.create("b", ["a"]);
    await lab.settle();
    await lab.call("a").return();
    lab.graph.delete(named("a"));
    await lab.settle();
    expect([lab.running, lab.call("b").ctx.signal.aborted]).toEqual([["b"], true]);
    await lab.call("b").return();
    expect(lab.call("a").phase).toBe("remove");
  });

  it("never takes more than its capacity; what is too heavy runs alone, and is overtaken only so often", async () => {
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

  it("answers a ticket when the resource has come to rest, and refuses what cannot be", async () => {
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

  it("records the effects of a run, also of one that failed in them, and refuses them after a cancellation", async () => {
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

  it("cancels without a repetition, and says so", async () => {
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

  it("runs those below a resource whose run is called off before it started", async () => {
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

  it("tells subscribers of each resource once for what was stored together, and survives one that throws", async () => {
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

  it("is idle beside what runs for as long as the process does", async () => {
    await using lab = await Lab.create();
    lab.graph.create({ name: named("parser"), spec: {}, hidden: true });
    await lab.settle();
    await lab.graph.waitUntilIdle({ ignoreHidden: true });
    expect(lab.running).toEqual(["parser"]);
  });

  it("names the root of a failure in the errors of those below it", async () => {
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
