import { describe, expect, it } from "vitest";
import { retry, terminal } from "../loop/outcome.js";
import { openGraph } from "./graph.js";
import type { BatchEditor } from "./graph-editor.js";
import { type GraphKindOptions, graphKind } from "./graph-kind.js";
import { Lab, named } from "./lab.testing.js";

/** A graph with a kind that has no `rename`, and the log of its calls. */
async function withoutRename(options: Partial<GraphKindOptions<{ readonly fails?: boolean }, unknown>> = {}) {
  const log: string[] = [];
  const Plain = graphKind<{ readonly fails?: boolean }>({
    name: "Node",
    reconcile({ meta, spec }) {
      log.push(`reconcile ${meta.name.name}${meta.renamedFrom ? `, which was ${meta.renamedFrom.name}` : ""}`);
      return spec.fails ? terminal(new Error("bad spec")) : { outputVersion: meta.name.name };
    },
    remove: ({ meta }) => void log.push(`remove ${meta.name.name}`),
    ...options,
  });
  return { log, graph: await openGraph({ kinds: [Plain] }) };
}

describe("renames of a kind without rename", () => {
  it.each(["always", "changed"] as const)("remove at the old name, then reconcile at the new (%s)", async (when) => {
    const { log, graph } = await withoutRename({ whenRefsFinish: when });
    await using _ = graph;
    for (const name of ["a", "b"]) await graph.create({ name: named(name), spec: {} });
    log.length = 0;
    const ticket = graph.batch((edit) => {
      edit.reconcile(named("b"));
      edit.updateName(named("a"), named("new"));
    });
    expect((await ticket).map(({ resource }) => resource?.outputVersion)).toEqual(["b", "new"]);
    expect(log).toEqual(["remove a", "reconcile new, which was a", "reconcile b"]);
    expect(graph.get(named("new"))?.meta.renamedFrom).toBeUndefined();
  });

  it("run resources that refer to the new name", async () => {
    const { log, graph } = await withoutRename();
    await using _ = graph;
    await graph.create({ name: named("a"), spec: {} });
    await graph.create({ name: named("reader"), refs: [named("new")], spec: {} });
    log.length = 0;
    await graph.updateName(named("a"), named("new"));
    await graph.waitUntilIdle();
    expect(log).toEqual(["remove a", "reconcile new, which was a", "reconcile reader"]);
  });

  it("rebuild after the refs have run, if these have to run", async () => {
    const { log, graph } = await withoutRename({ whenRefsFinish: "changed" });
    await using _ = graph;
    await graph.create({ name: named("a"), spec: {} });
    log.length = 0;
    graph.batch((edit) => {
      edit.updateName(named("a"), named("new"));
      edit.updateMeta(named("new"), { refs: [named("late")] });
      edit.create({ name: named("late"), spec: {} });
    });
    await graph.waitUntilIdle();
    expect(log).toEqual(["remove a", "reconcile late", "reconcile new"]);
  });

  it("are complete when the run at the new name fails, which shows as a failed run", async () => {
    const { log, graph } = await withoutRename();
    await using _ = graph;
    await graph.create({ name: named("a"), spec: { fails: true } });
    log.length = 0;
    const [rest] = await graph.updateName(named("a"), named("new"));
    expect([rest?.error?.message, rest?.resource?.meta.renamedFrom]).toEqual(["bad spec", undefined]);
    await graph.create({ name: named("a"), spec: {} });
    expect(log).toEqual(["remove a", "reconcile new, which was a", "reconcile a"]);
  });

  it("exchange names: each is removed before another is built there", async () => {
    const { log, graph } = await withoutRename();
    await using _ = graph;
    for (const name of ["a", "b"]) await graph.create({ name: named(name), spec: {} });
    log.length = 0;
    await graph.batch((edit) => {
      edit.updateName(named("a"), named("b"));
      edit.updateName(named("b"), named("a"));
    });
    const at = (entry: string) => log.findIndex((each) => each.startsWith(entry));
    expect(log.filter((entry) => entry.startsWith("reconcile"))).toHaveLength(2);
    expect([at("remove a") < at("reconcile a"), at("remove b") < at("reconcile b")]).toEqual([true, true]);
  });
});

describe("renames", () => {
  it("neither stall nor lose anything when a parent is edited and its child renamed in one batch [14, defect 1]", async () => {
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

  it("exchange names without a rebuild, by way of a temporary name", async () => {
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

  it("keep the data of resources apart when another rename breaks a ring of renames before it starts", async () => {
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
    // The first run is its removal.
    ["could not be removed from", "a~2", (edit: BatchEditor) => edit.delete(named("a~2"))],
  ])("do not use a temporary name that another resource %s", async (_, taken, change) => {
    const kind = { whenRefsFinish: "changed", remove: () => Promise.resolve(retry("in use")) } as const;
    const first = await Lab.create(kind);
    for (const name of ["a", "b", taken]) first.create(name);
    await first.finishAll();
    await first[Symbol.asyncDispose]();
    // Run numbers start from 1 again.
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

  it("use a temporary name if a later rename closes a ring", async () => {
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

  it("remember the first name when a started rename is reverted", async () => {
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

  it("include changes of case", async () => {
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
