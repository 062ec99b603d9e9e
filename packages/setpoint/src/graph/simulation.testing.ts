import { dueOf, originsOf } from "./draft.js";
import type { explain as Explain } from "./explain.js";
import type { GraphSession, GraphStore, StoreWrite } from "./graph-store.js";
import type { reduce as Reduce, restore as Restore } from "./reduce.js";
import { cyclicOf, isAbove, unsettledRefsOf } from "./relations.testing.js";
import { type Key, resourceKey } from "./resource.js";
import { isFailedRename } from "./scheduling.js";
import { independentEdits, type ScriptStep, scriptedEdits, specOf, type TestSpec, updated } from "./script.testing.js";
import type { Edit, Effect, Event, GraphRunResult, Node, Reduction, Run, State } from "./state.js";

/** The code under test: the sources, or mutants of them. */
export interface Parts {
  readonly reduce: typeof Reduce;
  readonly restore: typeof Restore;
  readonly explain: typeof Explain;
  readonly emptyState: typeof import("./draft.js").emptyState;
  readonly memoryStore: () => GraphStore;
}

const CAPACITY = { memory: 4, slots: 3 };
const RETRY_MS = 1_000;

/** A violated invariant, by its number in docs/graph.md. */
export class Violation extends Error {
  readonly invariant: number;

  constructor(invariant: number, message: string) {
    super(`invariant ${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

/**
 * The reducer in a world of tables, without promises: a script decides what is edited, which run returns next and how,
 * and when the process dies. The invariants are checked after every step; `rest` lets everything come to rest and
 * checks the outcome.
 */
export class Simulation {
  state: State;
  /** The built tables, by the key of a name. `half`: a run has started to change it. */
  readonly tables = new Map<Key, string>();
  readonly journal: string[] = [];
  readonly started: { readonly key: Key; readonly phase: string; readonly run: number }[] = [];
  readonly #parts: Parts;
  readonly #store: GraphStore;
  #session: GraphSession;
  #nowMs = 1_000_000;
  #inFlight = new Map<number, { readonly run: Run; readonly node: Node; readonly inputs: string }>();
  /** For each queued node, the number of runs that have returned since. */
  #inLineFor = new Map<Key, number>();
  /** After a crash, until anything else happens: resources that were unaffected and need not run again. */
  #untouched: ReadonlySet<Key> = new Set();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = parts.memoryStore();
    this.#session = this.#store.open() as GraphSession;
    this.state = this.#empty();
  }

  #empty(): State {
    const policies = {
      Always: { whenRefsFinish: "always", rebuilds: true },
      Changed: { whenRefsFinish: "changed" },
    } as const;
    return this.#parts.emptyState(policies, CAPACITY);
  }

  /** All nodes, including deleted ones. */
  get nodes(): readonly Node[] {
    return [...this.state.nodes.values()];
  }

  get inFlight(): readonly number[] {
    return [...this.#inFlight.keys()];
  }

  play(script: readonly ScriptStep[]): void {
    for (const step of script) this.#act(step);
  }

  edit(...edits: readonly Edit[]): boolean {
    const step = this.#reduce({ type: "edit", edits, nowMs: this.#nowMs });
    return step.refusal === undefined;
  }

  #act(step: ScriptStep): void {
    const [operation, first, second, third] = step;
    const edits = scriptedEdits(step, this.state);
    if (edits) {
      if (edits.length > 0) this.edit(...edits);
      return;
    }
    switch (operation % 16) {
      case 9:
        this.#nowMs += (second % 3) * RETRY_MS;
        this.#fireTimers();
        break;
      case 10:
        this.crash(second % 3, first);
        break;
      case 11:
        this.#selfUpdate(first, specOf(step));
        break;
      case 12:
        if (third % 2 === 0) this.#return(first, second % 8 === 0, third % 9 === 0);
        else this.#reduce({ type: this.state.locks > 0 ? "unlock" : "lock", nowMs: this.#nowMs });
        break;
      default:
        this.#return(first, second % 8 === 0, third % 9 === 0);
    }
  }

  /** Edits of three resources and the returns of two runs, independent of each other, in any order. */
  simultaneous(step: ScriptStep): (() => void)[] {
    const isBack = (id: number) => !this.#inFlight.has(id);
    return [
      ...independentEdits(step, this.state).map((edit) => () => void this.edit(edit)),
      ...this.inFlight.slice(0, 2).map((id) => () => void (isBack(id) || this.returnRun(id))),
    ];
  }

  /** Lets one run return: it succeeds, fails by chance, or, if cancelled, gives up with nothing or half done. */
  #return(which: number, failsByChance: boolean, waits: boolean): void {
    const runs = this.inFlight;
    if (runs.length === 0) return;
    this.returnRun(runs[which % runs.length]!, failsByChance, waits);
  }

  returnRun(id: number, failsByChance = false, waits = false): void {
    const { run, node } = this.#inFlight.get(id)!;
    const current = this.state.runs.get(String(id))!;
    const spec = node.spec as TestSpec;
    const fails = failsByChance || (run.phase === "reconcile" && spec.fails);
    let result: GraphRunResult = { outcome: "done" };
    const retryDue = { at: this.#nowMs + RETRY_MS, cause: { type: "retry", attempt: 1, error: "by chance" } } as const;
    if (fails) result = { outcome: "retry", error: { message: "by chance" }, due: retryDue };
    else if (current.cancelled === false) {
      if (run.phase === "delete") this.tables.delete(run.startedAs);
      else if (run.phase === "rename") result = this.#rename(id);
      else if (waits) {
        result = {
          outcome: "waitFor",
          due: { at: this.#nowMs + RETRY_MS, cause: { type: "recheck", reason: "Test" } },
        };
      } else result = { ...result, outputVersion: this.#build(id) };
    }
    this.#inFlight.delete(id);
    for (const key of this.#inLineFor.keys()) this.#inLineFor.set(key, this.#inLineFor.get(key)! + 1);
    this.#reduce({ type: "finished", run: id, result, nowMs: this.#nowMs });
  }

  /** Moves resources of one kind; removes those of the other at their old names and builds them at the new ones. */
  #rename(id: number): GraphRunResult {
    const { run, node } = this.#inFlight.get(id)!;
    if (node.meta.name.kind === "Changed") {
      this.#move(node, run);
      return { outcome: "done" };
    }
    for (const origin of originsOf(node)) this.tables.delete(origin);
    if (run.moveTo || node.unsettledRefs > 0) return { outcome: "done", instead: "removed" };
    if (!(node.spec as TestSpec).fails) return { outcome: "done", outputVersion: this.#build(id), instead: "rebuilt" };
    return { outcome: "terminal", error: { message: "by chance" }, instead: "rebuilt" };
  }

  #build(id: number): string {
    const { run, node, inputs } = this.#inFlight.get(id)!;
    if (inputs !== this.#inputsOf(node)) throw new Violation(3, `a ref of ${node.id} changed while it ran`);
    const output = outputOf(this.#specOf(run, node), inputs);
    this.tables.set(run.startedAs, output);
    return output;
  }

  /** The spec of the run, including its own updates. */
  #specOf(run: Run, node: Node): TestSpec {
    return (this.state.nodes.get(this.state.runs.get(String(run.id))?.node ?? "")?.spec ?? node.spec) as TestSpec;
  }

  #move(node: Node, run: Run): void {
    const to = resourceKey(run.moveTo ?? node.meta.name);
    for (const origin of [node.meta.renamedFrom!, ...(node.origins ?? [])].map(resourceKey)) {
      const table = this.tables.get(origin);
      if (table === undefined || origin === to) continue;
      if (this.tables.has(to)) throw new Violation(11, `${origin} is moved to ${to}, where something is`);
      this.tables.set(to, table);
      this.tables.delete(origin);
    }
  }

  #selfUpdate(which: number, spec: TestSpec): void {
    const runs = this.inFlight.filter((id) => this.#inFlight.get(id)!.run.phase === "reconcile");
    const id = runs[which % runs.length];
    const run = id === undefined ? undefined : this.state.runs.get(String(id));
    const node = this.state.nodes.get(run?.node ?? "");
    if (!run || run.cancelled || !node || node.meta.deletedOn !== undefined) return;
    const refs = which % 3 === 0 ? node.meta.refs.slice(1) : node.meta.refs;
    const edits = [updated(node.meta.name, refs, { ...spec, fails: (node.spec as TestSpec).fails })];
    this.#reduce({ type: "edit", edits, by: run.id, nowMs: this.#nowMs });
    if (this.state.runs.get(String(id))!.cancelled) throw new Violation(9, "a self-update has cancelled its run");
    const after = this.state.nodes.get(node.id)!;
    this.#inFlight.set(run.id, { ...this.#inFlight.get(run.id)!, node: after, inputs: this.#inputsOf(after) });
  }

  #fireTimers(): void {
    const ids = this.nodes.filter((node) => this.#isDue(node)).map(({ id }) => id);
    if (ids.length > 0) this.#reduce({ type: "due", ids, nowMs: this.#nowMs });
  }

  /** Kills the process: at once, after a run has changed the world but before that is stored, or leaving a zombie. */
  crash(how: number, which: number): void {
    const [, run] = [...this.#inFlight][which % Math.max(1, this.#inFlight.size)] ?? [];
    if (how === 1 && run && this.state.runs.get(String(run.run.id))!.cancelled === false) {
      if (run.run.phase === "delete") this.tables.delete(run.run.startedAs);
      else if (run.run.phase === "rename") this.#rename(run.run.id);
      else if (!(run.node.spec as TestSpec).fails) this.#build(run.run.id);
    }
    const old = { session: this.#session, state: this.state };
    this.#untouched = this.#quiet();
    this.restart();
    if (how === 2 && run) {
      const step = this.#parts.reduce(old.state, {
        type: "finished",
        run: run.run.id,
        result: { outcome: "done", outputVersion: "zombie" },
        nowMs: this.#nowMs,
      });
      let isFenced = false;
      try {
        old.session.commit(writesOf(step.effects));
      } catch (error) {
        isFenced = (error as { readonly code?: string }).code === "GRAPH_FENCED";
      }
      if (!isFenced) throw new Violation(13, "a process whose place was taken has written to the store");
    }
  }

  /** The final state of the graph and its world, without its history. Failed resources have no output. */
  get outcome(): string {
    const rows = this.nodes.map(({ id, meta, spec, status, failure, trace }) => {
      const error = status === "cyclic" ? status : (failure ?? trace?.error)?.message;
      const output = error === undefined ? [trace?.outputVersion, this.tables.get(id)] : [];
      return JSON.stringify([id, meta.refs.map(resourceKey), spec, status, error, ...output]);
    });
    return rows.sort().join("\n");
  }

  /** Whether a run was cancelled: what is left of it then depends on the time. */
  get hasCalledOff(): boolean {
    return this.nodes.some(({ failure, trace }) => failure?.code === "GRAPH_RUN_CANCELLED" || trace === undefined);
  }

  /** Resources that run only for changes, and that are done, together with everything they depend on. */
  #quiet(): ReadonlySet<Key> {
    const isDone = ({ status, failure, due, requested, trace }: Node) =>
      status === "idle" && !failure && !due && !requested && trace?.outcome === "done";
    const restless = this.nodes.filter((node) => !isDone(node));
    const isQuiet = (node: Node) =>
      isDone(node) && node.meta.name.kind === "Changed" && !restless.some(({ id }) => isAbove(this.state, id, node.id));
    return new Set(this.nodes.filter(isQuiet).map(({ id }) => id));
  }

  restart(): Reduction {
    this.#session = this.#store.open() as GraphSession;
    this.#inFlight = new Map();
    this.#inLineFor = new Map();
    const weightsOf = (record: Parameters<Parameters<typeof Restore>[2]>[0]) =>
      this.#weights.get(resourceKey(record.meta.name)) ?? { slots: 1 };
    const step = this.#parts.restore(this.#empty(), this.#session.records(), weightsOf, this.#nowMs);
    this.#carryOut(step);
    return step;
  }

  readonly #weights = new Map<Key, Readonly<Record<string, number>>>();

  #reduce(event: Event): Reduction {
    const step = this.#parts.reduce(this.state, event);
    if (step.refusal) return step;
    const mayGoOn = event.type === "lock" || event.type === "unlock";
    if (!mayGoOn && !(event.type === "finished" && event.result.outcome === "done")) this.#untouched = new Set();
    this.#carryOut(step);
    return step;
  }

  #carryOut(step: Reduction): void {
    const { state, effects } = step;
    this.journal.push(JSON.stringify(effects));
    this.#session.commit(writesOf(effects));
    this.state = state;
    for (const effect of effects) if (effect.type === "start") this.#start(effect.run);
    this.#check();
  }

  #start(id: number): void {
    if (this.state.locks > 0) throw new Violation(11, `run ${id} starts under a lock`);
    const run = this.state.runs.get(String(id))!;
    const node = this.state.nodes.get(run.node!)!;
    for (const { run: other } of this.#inFlight.values()) {
      if (other.startedAs === run.startedAs) throw new Violation(2, `two runs of ${run.startedAs}`);
      const now = this.state.runs.get(String(other.id))!;
      const below = now.node !== undefined && isAbove(this.state, run.node!, now.node);
      const above = now.node !== undefined && isAbove(this.state, now.node, run.node!);
      if (now.cancelled === false && (below || above)) throw new Violation(3, `${run.node} starts beside ${now.node}`);
      if (below || now.reads.includes(resourceKey(node.meta.name))) {
        throw new Violation(
          10,
          `${run.node} starts before the cancelled run of ${now.node ?? now.startedAs} has returned`,
        );
      }
    }
    if (this.#untouched.has(run.node!)) throw new Violation(13, `${run.node} runs again after a crash of other runs`);
    if (run.causes.length === 0) throw new Violation(7, `${run.node} runs without a cause`);
    this.#checkPhases(run);
    const isNeedless =
      run.phase === "reconcile" &&
      node.meta.name.kind === "Changed" &&
      run.causes.every(({ type }) => ["restart", "updated", "ref", "renamed"].includes(type)) &&
      node.trace?.outcome === "done" &&
      !node.failure &&
      !node.requested &&
      this.#hasSeenAll(node) &&
      !this.tables.get(run.startedAs)?.startsWith("half");
    if (isNeedless) throw new Violation(7, `${run.node} runs although nothing has changed`);
    this.#inFlight.set(id, { run, node, inputs: this.#inputsOf(node) });
    this.started.push({ key: run.startedAs, phase: run.phase, run: id });
    if (run.phase === "reconcile" && !(node.spec as TestSpec).fails)
      this.tables.set(run.startedAs, `half of run ${id}`);
  }

  #checkPhases(run: Run): void {
    const isOpen = (node: Node) => (node.status === "pending" || node.status === "running") && !node.isParked;
    for (const node of this.nodes) {
      if (node.id === run.node || !isOpen(node)) continue;
      const isDelete = node.meta.deletedOn !== undefined;
      if (run.phase !== "delete" && isDelete) throw new Violation(11, `${run.phase} of ${run.node} before a delete`);
      if (run.phase === "reconcile" && node.meta.renamedFrom && !isDelete) {
        throw new Violation(11, `${run.node} runs before the rename of ${node.id}`);
      }
    }
  }

  #check(): void {
    const cyclic = cyclicOf(this.state);
    for (const node of this.nodes) {
      const isCyclic = node.meta.deletedOn === undefined && cyclic.has(node.id);
      if ((node.status === "cyclic") !== isCyclic)
        throw new Violation(12, `${node.id} is ${isCyclic ? "" : "not "}cyclic`);
      if (node.status === "pending") {
        const { waitsFor } = this.#parts.explain(this.state, node.id)!;
        const last = waitsFor.at(-1);
        if (!last || last.type === "resource") throw new Violation(4, `${node.id} names no last blocker`);
        if (last.type === "rest" && resourceKey(last.name) === node.id)
          throw new Violation(4, `${node.id} waits for nothing`);
      }
      const isRestless = node.status === "pending" || node.meta.deletedOn !== undefined || node.status === "cyclic";
      const runs = node.run === undefined ? undefined : this.state.runs.get(String(node.run));
      if (!isRestless && runs?.phase !== "rename" && unsettledRefsOf(this.state, node) > 0)
        throw new Violation(3, `${node.id} is ${node.status} below a resource that is not at rest`);
      const isCutOff = node.status === "idle" && node.meta.name.kind === "Changed" && !this.#hasSeenAll(node);
      if (isCutOff) throw new Violation(8, `${node.id} is at rest, and its last run saw other inputs`);
      if (node.inLine) {
        const gatesOpen = this.state.openDeletes + this.state.openRenames + this.state.locks === 0;
        const waited = gatesOpen ? (this.#inLineFor.get(node.id) ?? 0) : 0;
        this.#inLineFor.set(node.id, waited);
        if (waited > 60) throw new Violation(15, `${node.id} is in line for ${waited} completions`);
      } else this.#inLineFor.delete(node.id);
      this.#weights.set(resourceKey(node.meta.name), node.weights);
    }
    const used: Record<string, number> = {};
    for (const { weights } of this.state.runs.values()) {
      for (const [name, weight] of Object.entries(weights)) used[name] = (used[name] ?? 0) + weight;
    }
    for (const [name, capacity] of Object.entries(CAPACITY)) {
      if ((used[name] ?? 0) > capacity) throw new Violation(15, `${used[name]} of ${capacity} ${name} are used`);
    }
  }

  /** Whether the last run of a resource was for its current spec and inputs; does not apply to cancelled runs. */
  #hasSeenAll({ failure, trace, specHash, meta }: Node): boolean {
    if (!trace || failure || meta.deletedOn !== undefined || meta.renamedFrom) return true;
    const offers = meta.refs.map((ref) => {
      const parent = this.state.nodes.get(resourceKey(ref));
      const isBad = parent?.status === "cyclic" || parent?.failure || parent?.trace?.error;
      return parent ? `${isBad ? "failed" : "ok"} ${parent.trace?.outputVersion ?? ""}` : "absent";
    });
    return specHash === trace.specHash && JSON.stringify(offers) === JSON.stringify(trace.inputs);
  }

  /** Runs are numbered in the order of their starts, and a run starts after those of its refs have ended. */
  #checkFollows({ id, meta, failure, lastRun }: Node): void {
    for (const ref of meta.refs) {
      const last = this.state.nodes.get(resourceKey(ref))?.lastRun;
      if (failure || last?.phase !== "reconcile" || last.outcome === "cancelled") continue;
      if (last.id > (lastRun?.id ?? 0)) throw new Violation(6, `${id} has not run since ${resourceKey(ref)} did`);
    }
  }

  /** The current inputs of a node: the tables of its refs, or that they failed or are missing. */
  #inputsOf(node: Node): string {
    return JSON.stringify(
      node.meta.refs.map((ref) => {
        const parent = this.state.nodes.get(resourceKey(ref));
        if (!parent) return "absent";
        const failed = parent.status === "cyclic" || parent.failure || parent.trace?.error;
        return failed ? "failed" : (this.tables.get(resourceKey(ref)) ?? "nothing");
      }),
    );
  }

  /**
   * Lets all runs return and all timers fire until nothing is left, in a bounded number of steps; checks the outcome.
   */
  rest(): void {
    while (this.state.locks > 0) this.#reduce({ type: "unlock", nowMs: this.#nowMs });
    const bound = 40 * (this.nodes.length + 4);
    for (let steps = 0; ; steps++) {
      if (steps > bound) throw new Violation(1, `not at rest after ${steps} steps`);
      const [next] = this.inFlight;
      if (next !== undefined) {
        this.returnRun(next);
        continue;
      }
      const due = this.nodes
        .filter((node) => this.#waitsForItsTime(node) && !this.#isKnownToFail(node))
        .flatMap((node) => dueOf(node)?.at ?? []);
      if (due.length === 0) break;
      this.#nowMs = Math.max(this.#nowMs, Math.min(...due));
      this.#fireTimers();
    }
    this.#checkOutcome();
  }

  #waitsForItsTime(node: Node): boolean {
    return node.status === "idle" || node.status === "waiting" || isFailedRename(node);
  }

  #isDue(node: Node): boolean {
    const due = dueOf(node);
    return due !== undefined && due.at <= this.#nowMs;
  }

  #isKnownToFail(node: Node): boolean {
    return (node.spec as TestSpec).fails && node.status === "idle" && !node.meta.deletedOn && !node.meta.renamedFrom;
  }

  #checkOutcome(): void {
    const expected = new Map<Key, string>();
    const offer = (key: Key): string => {
      const node = this.state.nodes.get(key);
      if (!node) return "absent";
      if (node.status === "cyclic" || (node.spec as TestSpec).fails || node.failure) return "failed";
      const known = expected.get(key);
      if (known !== undefined) return known;
      const output = outputOf(
        node.spec as TestSpec,
        JSON.stringify(node.meta.refs.map((ref) => offer(resourceKey(ref)))),
      );
      expected.set(key, output);
      return output;
    };
    for (const node of this.nodes) {
      if (node.meta.deletedOn !== undefined) throw new Violation(11, `${node.id} is not deleted`);
      if (node.meta.renamedFrom) throw new Violation(11, `${node.id} is not renamed`);
      if (node.status !== "idle" && node.status !== "cyclic")
        throw new Violation(1, `${node.id} is ${node.status} at rest`);
      if (node.status === "idle" && !this.#hasSeenAll(node))
        throw new Violation(6, `${node.id} has not run for its last inputs`);
      if (node.status === "idle" && node.meta.name.kind === "Always") this.#checkFollows(node);
      const isCalledOff =
        node.failure?.code === "GRAPH_RUN_CANCELLED" || (node.trace === undefined && node.status === "idle");
      if (isCalledOff || offer(node.id) === "failed") continue;
      if (this.tables.get(node.id) !== offer(node.id)) {
        throw new Violation(5, `${node.id} is ${this.tables.get(node.id)}, not ${offer(node.id)}`);
      }
    }
    for (const key of this.tables.keys()) {
      const isMoving = this.state.moving.has(key);
      if (!this.state.nodes.has(key) && !isMoving) throw new Violation(11, `${key} is left over`);
    }
  }
}

function outputOf(spec: TestSpec, inputs: string): string {
  return `${spec.value % 3}(${inputs})`;
}

function writesOf(effects: readonly Effect[]): readonly StoreWrite[] {
  return effects.filter((effect): effect is StoreWrite => effect.type === "put" || effect.type === "remove");
}
