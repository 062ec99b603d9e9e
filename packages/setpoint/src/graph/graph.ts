import type { Clock } from "../clock/clock.js";
import { type Random, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { SetpointError } from "../errors/error.js";
import { type Fence, openFence } from "../loop/fence.js";
import { type Logger, silentLogger } from "../loop/logger.js";
import { messageOf } from "../loop/outcome.js";
import { Alarms } from "./alarms.js";
import { contentHash, deepFreeze } from "./canonical.js";
import { emptyState, isAtRest } from "./draft.js";
import { Editor, SingleEdits } from "./editor.js";
import { type Explanation, explain } from "./explain.js";
import type { BatchEditor, GraphEditor, Rest, Ticket } from "./graph-editor.js";
import { checked, checkedCapacity, type GraphKind, kindsByName, weightsOf } from "./graph-kind.js";
import { GraphRun } from "./graph-run.js";
import type { GraphSession, GraphStore, StoreWrite } from "./graph-store.js";
import { memoryStore } from "./memory-store.js";
import { reduce, restore } from "./reduce.js";
import { type GraphResource, type Key, nameText, type ResourceName, resourceKey } from "./resource.js";
import type { Edit, Effect, Event, GraphRecord, Node, Reduction, State, Weights } from "./state.js";
import { OpenTicket, TicketBoard } from "./ticket.js";
import { viewOf } from "./view.js";

export interface GraphOptions {
  // biome-ignore lint/suspicious/noExplicitAny: kinds of all specs and states stand in one list.
  readonly kinds: readonly GraphKind<any, any>[];
  /** Defaults to memory, which loses everything with the process. */
  readonly store?: GraphStore;
  /** The capacity of each weight: `{ connections: 4 }`. Weights without a capacity are not limited. */
  readonly capacity?: Weights;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  /** Whether this process may still act; checked before every effect of a run. */
  readonly fence?: Fence;
}

/** An event before it happens. */
type Timeless<Given> = Given extends unknown ? Omit<Given, "nowMs"> : never;

export type GraphEvent =
  | { readonly type: "changed"; readonly resource: GraphResource }
  | { readonly type: "removed"; readonly name: ResourceName };

export interface ListFilter {
  readonly kind?: string;
  readonly owner?: ResourceName;
  readonly path?: string;
  readonly tag?: string;
}

/** Opens the store, fences off the process that had it open, and schedules its resources. */
export async function openGraph(options: GraphOptions): Promise<Graph> {
  const session = await (options.store ?? memoryStore()).open();
  try {
    return await Graph.open(options, session);
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
}

/**
 * Resources that refer to each other, reconciled to their specs: the event loop around the reducer. Every edit is
 * stored before anything runs because of it.
 *
 * ```ts
 * await using graph = await openGraph({ kinds: [Table] });
 * graph.create({ name: { kind: "Table", name: "orders" }, spec: { sql: "…" } });
 * const sums = { kind: "Table", name: "sums" };
 * await graph.create({ name: sums, spec: { sql: "…" }, refs: [{ kind: "Table", name: "orders" }] });
 * console.log(graph.explain(sums)?.reason);
 * ```
 */
export class Graph extends SingleEdits implements AsyncDisposable {
  readonly #kinds: ReadonlyMap<string, GraphKind>;
  readonly #session: GraphSession;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #fence: Fence;
  readonly #editor: Editor;
  readonly #runs = new Map<number, GraphRun>();
  readonly #tickets = new TicketBoard();
  readonly #listeners = new Set<(event: GraphEvent) => void>();
  readonly #idleWaiters = new Set<{ readonly ignoreHidden: boolean; readonly resolve: () => void }>();
  readonly #alarms: Alarms;
  readonly #ended: { promise: Promise<unknown>; resolve: (error: unknown) => void };
  #state: State;
  #operations = 0;
  /** Effects of steps that are not stored yet, and the tickets of their edits. */
  #effects: Effect[] = [];
  #unstored: OpenTicket[] = [];
  #flushing: Promise<void> | undefined;
  #lock: object | undefined;
  #lockTail: Promise<void> = Promise.resolve();
  #deferred: (() => void)[] = [];
  #stopped: SetpointError | undefined;

  private constructor(options: GraphOptions, session: GraphSession) {
    super();
    this.#kinds = kindsByName(options.kinds);
    this.#session = session;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log ?? silentLogger;
    this.#fence = options.fence ?? openFence;
    const policies = Object.fromEntries(
      options.kinds.map(({ name, whenRefsFinish, options: { rename } }) => [
        name,
        { whenRefsFinish, rebuilds: !rename },
      ]),
    );
    this.#state = emptyState(policies, checkedCapacity(options.capacity ?? {}));
    this.#editor = this.#editorOf(undefined, undefined);
    this.#alarms = new Alarms(this.#clock, (ids) => this.#reduce({ type: "due", ids }));
    let resolve!: (error: unknown) => void;
    this.#ended = { promise: new Promise((done) => (resolve = done)), resolve: (error) => resolve(error) };
  }

  /** Use `openGraph`. */
  static async open(options: GraphOptions, session: GraphSession): Promise<Graph> {
    const graph = new Graph(options, session);
    graph.#apply(
      restore(graph.#state, session.records(), (record) => graph.#storedWeights(record), graph.#clock.now()),
    );
    await graph.#flushing;
    return graph;
  }

  /**
   * Resolves when the graph has stopped; with the error, if it had to stop, for example because another process opened
   * the store.
   */
  get ended(): Promise<unknown> {
    return this.#ended.promise;
  }

  /** How many nodes and edges the scheduler has looked at since the start: the cost of its work. */
  get operations(): number {
    return this.#operations;
  }

  get(name: ResourceName): GraphResource | undefined {
    const node = this.#state.nodes.get(resourceKey(name));
    return node && viewOf(node);
  }

  /** Sorted by key, without deleted resources; for those see `deleted`. */
  list(filter: ListFilter = {}): readonly GraphResource[] {
    return this.#listed((node) => node.meta.deletedOn === undefined && fits(node, filter));
  }

  /** Deleted resources that are not removed yet; with an error if the removal failed and will be retried. */
  deleted(): readonly GraphResource[] {
    return this.#listed((node) => node.meta.deletedOn !== undefined);
  }

  /** Why a resource ran or did not run, and what it waits for. Undefined for an unknown resource. */
  explain(name: ResourceName): Explanation | undefined {
    const key = resourceKey(name);
    return explain(this.#state, key) ?? explain(this.#state, this.#state.tombstones.get(key)?.at(-1) ?? "");
  }

  batch(work: (edit: BatchEditor) => void): Ticket {
    return this.#editor.batch(work);
  }

  lock<Result>(work: (edit: GraphEditor) => Promise<Result> | Result): Promise<Result> {
    return this.#editor.lock(work);
  }

  /** Rejects always: only the run of a resource may write its state, with `ctx.updateState`. */
  updateState(name: ResourceName, _state: unknown): Ticket {
    const message = `the state of ${nameText(name)} is written by its own reconciler: use ctx.updateState there`;
    return this.#submit([], new SetpointError("GRAPH_STATE_FOREIGN", message), undefined, undefined);
  }

  /** Calls `listener` with each changed resource, once for all changes that were stored together. */
  subscribe(listener: (event: GraphEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Resolves when nothing runs and nothing is in line. Resources that wait for their time, or for something outside, do
   * not count.
   */
  async waitUntilIdle(options: { readonly ignoreHidden?: boolean } = {}): Promise<void> {
    const { ignoreHidden = false } = options;
    await this.#flushing;
    if (this.#isIdle(ignoreHidden) || this.#stopped) return;
    await new Promise<void>((resolve) => this.#idleWaiters.add({ ignoreHidden, resolve }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop(new SetpointError("GRAPH_CLOSED", "the graph was closed"));
    await Promise.all([...this.#runs.values()].map((run) => run.returned));
    await this.#flushing;
    this.#session[Symbol.dispose]();
    this.#ended.resolve(undefined);
  }

  /** The edits of one caller: `by` a run, or under a lock. */
  #editorOf(by: number | undefined, lock: object | undefined): Editor {
    return new Editor({
      submit: (edits, problem) => this.#submit(edits, problem, by, lock),
      lock: (work) => (lock ? Promise.resolve(work(this.#editorOf(by, lock))) : this.#withLock(by, work)),
      specOf: (name, spec) => {
        const kind = this.#kindOf(name);
        const value = deepFreeze(checked(kind.options.spec, spec, nameText(name)));
        return {
          spec: value,
          specHash: contentHash(value),
          weights: weightsOf(kind, value, nameText(name)),
        };
      },
    });
  }

  #kindOf({ kind, name }: ResourceName): GraphKind {
    const found = this.#kinds.get(kind);
    if (found) return found;
    const known = [...this.#kinds.keys()].join(", ");
    throw new SetpointError("GRAPH_KIND_UNKNOWN", `${kind}/${name}: this graph has the kinds ${known}`);
  }

  /** A resource stored by an older program may have no valid weight now. Start anyway. */
  #storedWeights({ meta, spec }: GraphRecord): Weights {
    const { kind, name } = meta.name;
    try {
      return weightsOf(this.#kinds.get(kind), spec, `${kind}/${name}`);
    } catch (error) {
      this.#log.error(`the weight of ${kind}/${name} is not known: ${messageOf(error)}`, { error });
      return {};
    }
  }

  #submit(edits: readonly Edit[], problem: unknown, by: number | undefined, lock: object | undefined): Ticket {
    const open = new OpenTicket();
    open.ticket.catch(() => {}); // callers need not await it
    if (problem !== undefined) {
      this.#log.warn(`an edit was refused: ${messageOf(problem)}`, { error: problem });
      open.reject(problem);
      return open.ticket;
    }
    const attempt = (): void => {
      const error = this.#tryEdit(open, { type: "edit", edits, ...(by === undefined ? {} : { by }) });
      if (error) open.reject(error);
    };
    if (this.#lock !== undefined && this.#lock !== lock) this.#deferred.push(attempt);
    else attempt();
    return open.ticket;
  }

  #tryEdit(open: OpenTicket, event: Timeless<Event>): SetpointError | undefined {
    if (this.#stopped) return this.#stopped;
    const { refusal, ids } = this.#reduce(event);
    if (refusal) return new SetpointError(refusal.code, refusal.message);
    open.waitFor(ids);
    this.#tickets.add(open);
    this.#unstored.push(open);
    return undefined;
  }

  async #withLock<Result>(
    by: number | undefined,
    work: (edit: GraphEditor) => Promise<Result> | Result,
  ): Promise<Result> {
    const before = this.#lockTail;
    let release!: () => void;
    this.#lockTail = new Promise((resolve) => (release = resolve));
    await before;
    const lock = {};
    this.#lock = lock;
    this.#reduce({ type: "lock" });
    try {
      // A run that has ended holds nothing back any more, whatever it left behind.
      const over = this.#runs.get(by ?? 0)?.returned.then(() => {
        throw new SetpointError("GRAPH_RUN_OVER", "the run has ended, and with it its lock");
      });
      const worked = work(this.#editorOf(by, lock));
      return await (over ? Promise.race([worked, over]) : worked);
    } finally {
      this.#lock = undefined;
      for (const attempt of this.#deferred.splice(0)) attempt();
      this.#reduce({ type: "unlock" });
      release();
    }
  }

  #reduce(event: Timeless<Event>): Reduction {
    return this.#apply(reduce(this.#state, { ...event, nowMs: this.#clock.now() } as Event));
  }

  #apply(step: Reduction): Reduction {
    const { state, effects, operations } = step;
    this.#state = state;
    this.#operations += operations;
    for (const effect of effects) {
      if (effect.type === "abort") this.#runs.get(effect.run)?.abort(effect.reason);
      else if (effect.type === "moved") this.#tickets.move(effect.moves);
      this.#effects.push(effect);
    }
    this.#flushing ??= Promise.resolve().then(() => this.#flush());
    return step;
  }

  /** Stores the changes, then carries out their effects. Steps that arrive meanwhile go into the next round. */
  async #flush(): Promise<void> {
    try {
      while (this.#effects.length > 0 || this.#unstored.length > 0) {
        const effects = this.#effects;
        const stored = this.#unstored;
        this.#effects = [];
        this.#unstored = [];
        const writes = writesOf(effects);
        if (writes.length > 0) await this.#session.commit(writes);
        this.#carryOut(effects);
        for (const open of stored) {
          this.#answer(open.ids);
          open.accept();
        }
      }
    } catch (error) {
      this.#log.error(`the graph has stopped: ${messageOf(error)}`, { error });
      this.#stop(new SetpointError("GRAPH_STOPPED", `the graph has stopped: ${messageOf(error)}`, { cause: error }));
      this.#ended.resolve(error);
    } finally {
      this.#flushing = undefined;
    }
    this.#tellIdle();
  }

  #carryOut(effects: readonly Effect[]): void {
    const changed = new Map<Key, ResourceName>();
    for (const effect of effects) {
      if (effect.type === "start") this.#start(effect.run);
      else if (effect.type === "timer") this.#alarms.set(effect.id, effect.at);
      else if (effect.type === "changed") changed.set(effect.id, effect.name);
    }
    this.#answer(changed.keys());
    // A deleted resource is shown as such until it is removed, unless it is deleted under a former name.
    for (const { from, to } of effects.flatMap((effect) => (effect.type === "moved" ? effect.moves : []))) {
      const isDeleted = to.startsWith("~") && to.endsWith(`/${from}`);
      if (isDeleted && !this.#state.nodes.has(from)) changed.delete(from);
    }
    for (const [id, name] of changed) this.#show(id, name);
    this.#alarms.arm();
  }

  /** Answers the tickets that wait for these nodes, as far as they are at rest or gone. */
  #answer(ids: Iterable<Key>): void {
    for (const id of ids) {
      const node = this.#state.nodes.get(id);
      if (!node || isAtRest(node)) this.#tickets.rest(id, () => restOf(node));
    }
  }

  #show(id: Key, name: ResourceName): void {
    const node = this.#state.nodes.get(id);
    // A deleted resource is removed, and another one of its name lives on.
    if (!node && this.#state.nodes.has(resourceKey(name))) return;
    for (const listener of this.#listeners) {
      try {
        listener(node ? { type: "changed", resource: viewOf(node) } : { type: "removed", name });
      } catch (error) {
        this.#log.error(`a subscriber of the graph failed: ${messageOf(error)}`, { error });
      }
    }
  }

  #start(id: number): void {
    const run = this.#state.runs.get(String(id));
    const node = this.#state.nodes.get(run?.node ?? "");
    if (!run || !node || run.cancelled) {
      this.#reduce({ type: "finished", run: id, result: { outcome: "done" } });
      return;
    }
    const graphRun = new GraphRun({
      run,
      node,
      kind: this.#kinds.get(node.meta.name.kind),
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      fence: this.#fence,
      editor: this.#editorOf(id, undefined),
      state: () => this.#state,
      updateState: (state) => void this.#reduce({ type: "state", run: id, state }),
    });
    this.#runs.set(id, graphRun);
    void graphRun.returned.then((result) => {
      this.#runs.delete(id);
      if (!this.#stopped) this.#reduce({ type: "finished", run: id, result });
    });
  }

  #stop(error: SetpointError): void {
    if (this.#stopped) return;
    this.#stopped = error;
    this.#alarms[Symbol.dispose]();
    for (const run of this.#runs.values()) run.abort(error.message);
    for (const open of this.#unstored.splice(0)) open.reject(error);
    this.#effects = [];
    this.#tickets.reject(error);
    for (const { resolve } of this.#idleWaiters) resolve();
    this.#idleWaiters.clear();
  }

  #isIdle(ignoreHidden: boolean): boolean {
    if (this.#state.ready > 0 || this.#state.locks > 0 || this.#effects.length > 0) return false;
    for (const { node } of this.#state.runs.values()) {
      if (!ignoreHidden || !this.#state.nodes.get(node ?? "")?.meta.hidden) return false;
    }
    return true;
  }

  #tellIdle(): void {
    for (const waiter of this.#idleWaiters) {
      if (!this.#isIdle(waiter.ignoreHidden)) continue;
      this.#idleWaiters.delete(waiter);
      waiter.resolve();
    }
  }

  #listed(isMeant: (node: Node) => boolean): readonly GraphResource[] {
    const found = [...this.#state.nodes.values()].filter(isMeant);
    return found.sort((left, right) => (left.id < right.id ? -1 : 1)).map(viewOf);
  }
}

function restOf(node: Node | undefined): Rest {
  const resource = node && viewOf(node);
  return { resource, ...(resource?.error ? { error: resource.error } : {}) };
}

function fits({ meta }: Node, { kind, owner, path, tag }: ListFilter): boolean {
  if (kind !== undefined && meta.name.kind !== kind) return false;
  if (owner && (!meta.owner || resourceKey(meta.owner) !== resourceKey(owner))) return false;
  return (path === undefined || meta.paths.includes(path)) && (tag === undefined || meta.tags.includes(tag));
}

/** One write per record, from the stored version to the last. */
function writesOf(effects: readonly Effect[]): readonly StoreWrite[] {
  const writes = new Map<Key, StoreWrite>();
  for (const effect of effects) {
    if (effect.type !== "put" && effect.type !== "remove") continue;
    const expected = writes.get(effect.id)?.expected ?? effect.expected;
    writes.set(effect.id, { ...effect, expected });
  }
  return [...writes.values()].filter(({ type, expected }) => type === "put" || expected > 0);
}
