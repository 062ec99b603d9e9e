import { describe, expect, it } from "vitest";
import { retry } from "../loop/outcome.js";
import { openGraph } from "./graph.js";
import { graphKind } from "./graph-kind.js";
import { Lab, named } from "./lab.testing.js";

// Twelve defects are known of the scheduler on which this one is modelled. The test of defect 1 is in renames.test.ts,
// those of 2 and 3 are in early-cut-off.test.ts, and that of 10 is in graph-store.contract.ts.
describe("defects of other schedulers", () => {
  it("follows each declared ref, also to a resource that is created later, whatever the spec contains [defect 4]", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("reader", ["Late"]);
    await lab.finishAll();
    expect(lab.graph.explain(named("reader"))?.lastRun?.outcome).toBe("done");
    lab.create("late");
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile reader", "reconcile late", "reconcile reader"]);
  });

  it("repeats no step that is done according to the state, on a requested run or a restart [defect 5]", async () => {
    const ran: number[] = [];
    const Migration = graphKind<{ readonly version: number }, { readonly version: number }>({
      name: "Migration",
      reconcile({ spec, state }, ctx) {
        for (let version = (state?.version ?? 0) + 1; version <= spec.version; version++) {
          ran.push(version);
          ctx.updateState({ version });
          if (version === 2 && ctx.attempt === 0) throw new Error("the connection broke");
        }
      },
    });
    const name = { kind: "Migration", name: "schema" };
    const lab = await Lab.create({}, { kinds: [Migration] });
    await lab.graph.create({ name, spec: { version: 3 } });
    expect([ran, lab.graph.get(name)?.state]).toEqual([[1, 2], { version: 2 }]);
    await lab.graph.reconcile(name);
    expect(ran).toEqual([1, 2, 3]);
    await lab[Symbol.asyncDispose]();
    await using restarted = await Lab.create({}, { kinds: [Migration], before: lab });
    await restarted.graph.updateSpec(name, { version: 1 });
    await restarted.graph.updateSpec(name, { version: 4 });
    expect(ran).toEqual([1, 2, 3, 4]);
    expect(restarted.graph.get(name)?.error).toBeUndefined();
  });

  it("runs once for a new spec with unchanged refs, and not again for the same refs [defect 6]", async () => {
    await using lab = await Lab.create({ whenRefsFinish: "changed" });
    lab.create("table");
    lab.create("alert", ["table"], { value: 1 });
    await lab.finishAll();
    lab.log.length = 0;
    lab.graph.updateSpec(named("alert"), { value: 2 });
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile alert"]);
    lab.graph.reconcile(named("table"));
    await lab.finishAll();
    expect(lab.log).toEqual(["reconcile alert", "reconcile table"]);
  });

  it("shows a failed delete and retries it, without blocking others [defect 7]", async () => {
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

  it("knows after a crash what a rename still has to move [defect 7]", async () => {
    const first = await Lab.create({ whenRefsFinish: "changed" });
    first.create("old");
    await first.finishAll();
    first.graph.updateName(named("old"), named("new"));
    await first.settle();
    await using second = await Lab.create({ whenRefsFinish: "changed" }, { before: first });
    expect(second.call("new").move).toEqual({ from: named("old"), to: named("new") });
    await second.finishAll();
    expect(second.log).toEqual(["rename new"]);
    await first[Symbol.asyncDispose]();
  });

  it("settles a ticket when the request is done; failures are retried with back-off [defect 8]", async () => {
    await using lab = await Lab.create({ retry: { initial: "1s", jitter: 0 } });
    lab.create("a");
    await lab.finishAll();
    const ticket = lab.graph.reconcile(named("a"));
    let isAnswered = false;
    void ticket.then(() => (isAnswered = true));
    await lab.settle();
    expect(isAnswered).toBe(false);
    await lab.call("a").return(retry(new Error("no watch")));
    expect(await ticket).toMatchObject([{ error: { message: "no watch" } }]);
    const times: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      times.push(lab.graph.get(named("a"))!.runAgainOn! - lab.clock.now());
      await lab.clock.advance(times.at(-1)!);
      await lab.call("a").return(retry(new Error("no watch")));
    }
    expect(times).toEqual([1_000, 2_000, 4_000]);
  });

  it("starts the same runs in the same order every time, and reports cycles alike in any order [defect 9]", async () => {
    const refs: Readonly<Record<string, readonly string[]>> = { a: [], b: ["a"], c: ["a", "d"], d: ["c"], e: ["d"] };
    const played = async (names: readonly string[]) => {
      await using lab = await Lab.create();
      lab.graph.batch((edit) => {
        for (const name of names) edit.create({ name: named(name), refs: refs[name]!.map(named), spec: {} });
      });
      await lab.finishAll();
      return { log: lab.log, statuses: names.map((name) => `${name} ${lab.status(name)}`).sort() };
    };
    const names = Object.keys(refs);
    const first = await played(names);
    expect(await played(names)).toEqual(first);
    expect((await played([...names].reverse())).statuses).toEqual(first.statuses);
    expect(first.statuses).toEqual(["a idle", "b idle", "c cyclic", "d cyclic", "e idle"]);
  });

  it("waits for a cancelled child before it deletes its parent [defect 11]", async () => {
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

  it("does not count an unchanged state as new, and does not run dependents [defect 12]", async () => {
    const alerts: unknown[] = [];
    let rows = 1;
    const View = graphKind<unknown, { readonly rows: number }>({
      name: "View",
      reconcile(_, ctx) {
        ctx.updateState({ rows });
        return { outputVersion: String(rows) };
      },
    });
    const Alert = graphKind({
      name: "Alert",
      whenRefsFinish: "changed",
      reconcile: (_, ctx) => void alerts.push(ctx.refs()[0]?.outputVersion),
    });
    await using graph = await openGraph({ kinds: [View, Alert] });
    const view = { kind: "View", name: "view" };
    graph.create({ name: view, spec: {} });
    await graph.create({ name: { kind: "Alert", name: "alert" }, refs: [view], spec: {} });
    const { stateVersion } = graph.get(view)!.meta;
    for (let pass = 0; pass < 3; pass++) await graph.reconcile(view);
    await graph.waitUntilIdle();
    expect([graph.get(view)?.meta.stateVersion, alerts]).toEqual([stateVersion, ["1"]]);
    rows = 2;
    await graph.reconcile(view);
    await graph.waitUntilIdle();
    expect([graph.get(view)?.meta.stateVersion, alerts]).toEqual([stateVersion + 1, ["1", "2"]]);
  });
});
