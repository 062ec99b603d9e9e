import { PersistentMap } from "./persistent-map.js";
import { type Key, type ResourceName, resourceKey } from "./resource.js";
import type { Due, Effect, GraphRecord, KindPolicy, Node, Phase, Run, State, Weights } from "./state.js";

const NO_CHILDREN: PersistentMap<true> = PersistentMap.empty();
const NO_LINE = { front: undefined, back: undefined };

/** An empty graph. */
export function emptyState(policies: Readonly<Record<string, KindPolicy>>, capacity: Weights = {}): State {
  return {
    policies,
    capacity,
    nodes: PersistentMap.empty(),
    children: PersistentMap.empty(),
    tombstones: PersistentMap.empty(),
    moving: PersistentMap.empty(),
    runs: PersistentMap.empty(),
    busy: PersistentMap.empty(),
    readers: PersistentMap.empty(),
    lines: { delete: NO_LINE, rename: NO_LINE, reconcile: NO_LINE },
    window: [],
    overtaken: 0,
    used: {},
    openDeletes: 0,
    openRenames: 0,
    cancelledInFlight: 0,
    ready: 0,
    nextRun: 1,
    nextTombstone: 1,
    locks: 0,
  };
}

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

/** The state while one event is reduced. It never changes what it shares with the previous state. */
export class Draft {
  readonly now: number;
  readonly next: Mutable<State>;
  /** Nodes to look at, because something that they wait for has changed. */
  readonly todo: Key[] = [];
  /** Nodes below one that has just become unsettled. */
  readonly spread: Key[] = [];
  readonly effects: Effect[] = [];
  operations = 0;
  readonly #before: State;
  readonly #owner = {};
  readonly #dirty = new Set<Key>();
  readonly #shown = new Map<Key, ResourceName>();

  constructor(state: State, nowMs: number) {
    this.#before = state;
    this.next = { ...state };
    this.now = nowMs;
  }

  node(id: Key): Node | undefined {
    this.operations++;
    return this.next.nodes.get(id);
  }

  run(id: number): Run | undefined {
    return this.next.runs.get(String(id));
  }

  setRun(run: Run): void {
    this.next.runs = this.next.runs.set(String(run.id), run, this.#owner);
  }

  dropRun(run: Run): void {
    this.next.runs = this.next.runs.delete(String(run.id), this.#owner);
  }

  childrenOf(key: Key): PersistentMap<true> {
    return this.next.children.get(key) ?? NO_CHILDREN;
  }

  /**
   * Replaces a node. Updates every count that depends on it: its children's unsettled refs, the open deletes and
   * renames, the line. Children of a node that becomes unsettled go to `spread`, those of a settled one to `todo`.
   */
  set(node: Node): void {
    const before = this.next.nodes.get(node.id);
    this.next.nodes = this.next.nodes.set(node.id, node, this.#owner);
    this.#count(before, node);
  }

  /** Changes fields of a node that is there. */
  patch(node: Node, change: Partial<Node>): Node {
    const patched = { ...node, ...change };
    this.set(patched);
    return patched;
  }

  drop(node: Node): void {
    this.next.nodes = this.next.nodes.delete(node.id, this.#owner);
    this.#count(node, undefined);
  }

  /** Stores the node, or its absence, at the end of the step. */
  store(id: Key): void {
    this.#dirty.add(id);
  }

  link(node: Node): Node {
    let unsettledRefs = 0;
    for (const ref of node.meta.refs) {
      const key = resourceKey(ref);
      this.next.children = this.next.children.set(
        key,
        this.childrenOf(key).set(node.id, true, this.#owner),
        this.#owner,
      );
      unsettledRefs += this.unsettledAt(key);
    }
    return { ...node, unsettledRefs };
  }

  unlink(node: Node): void {
    for (const ref of node.meta.refs) {
      this.operations++;
      const key = resourceKey(ref);
      const left = this.childrenOf(key).delete(node.id, this.#owner);
      this.next.children =
        left.size === 0 ? this.next.children.delete(key, this.#owner) : this.next.children.set(key, left, this.#owner);
    }
  }

  /** How many nodes of that name, deleted ones included, are not at rest. */
  unsettledAt(key: Key): number {
    this.operations++;
    const live = this.next.nodes.get(key);
    let count = live && isUnsettled(live) ? 1 : 0;
    for (const id of this.next.tombstones.get(key) ?? []) if (isUnsettled(this.next.nodes.get(id)!)) count++;
    return count;
  }

  setEntry<Field extends "tombstones" | "moving" | "busy" | "readers">(
    field: Field,
    key: Key,
    value: (State[Field] extends PersistentMap<infer Value> ? Value : never) | undefined,
  ): void {
    const map = this.next[field] as PersistentMap<unknown>;
    const changed = value === undefined ? map.delete(key, this.#owner) : map.set(key, value, this.#owner);
    (this.next as Record<Field, unknown>)[field] = changed;
  }

  /** The state after the step, with what to store and to show. */
  finish(): { readonly state: State; readonly effects: readonly Effect[] } {
    const stored: Effect[] = [];
    for (const id of this.#dirty) {
      const expected = this.#before.nodes.get(id)?.meta.version ?? 0;
      const node = this.next.nodes.get(id);
      if (node) {
        const meta = { ...node.meta, version: node.meta.version + 1 };
        const record = { ...node, meta };
        this.next.nodes = this.next.nodes.set(id, record, this.#owner);
        this.#shown.set(id, meta.name);
        stored.push({ type: "put", id, record: recordOf(record), expected });
      } else if (expected > 0) stored.push({ type: "remove", id, expected });
    }
    const shown = [...this.#shown].map(([id, name]): Effect => ({ type: "changed", id, name }));
    return { state: this.next, effects: [...stored, ...this.effects, ...shown] };
  }

  #count(before: Node | undefined, after: Node | undefined): void {
    const node = (after ?? before)!;
    this.operations++;
    if (before?.status !== after?.status) {
      this.#shown.set(node.id, node.meta.name);
      if (after ? isAtRest(after) : true) this.effects.push({ type: "rest", id: node.id });
    }
    for (const phase of ["delete", "rename"] as const) {
      const change = Number(holdsUp(after, phase)) - Number(holdsUp(before, phase));
      if (change !== 0) this.next[phase === "delete" ? "openDeletes" : "openRenames"] += change;
    }
    this.next.ready += Number(after?.inLine ?? false) - Number(before?.inLine ?? false);
    const key = resourceKey(node.meta.name);
    this.#wakeNamesakes(before, after, key);
    const change =
      Number(after !== undefined && isUnsettled(after)) - Number(before !== undefined && isUnsettled(before));
    if (change === 0) return;
    for (const id of this.childrenOf(key).keys()) {
      const child = this.node(id)!;
      const unsettledRefs = child.unsettledRefs + change;
      this.next.nodes = this.next.nodes.set(id, { ...child, unsettledRefs }, this.#owner);
      if (change > 0) this.spread.push(id);
      else if (unsettledRefs === 0) this.todo.push(id);
    }
  }

  /** Wakes resources that wait for a name when the deleted or moving resource that holds it has changed. */
  #wakeNamesakes(before: Node | undefined, after: Node | undefined, key: Key): void {
    if (before?.status === after?.status && before?.isParked === after?.isParked) return;
    const node = (after ?? before)!;
    if (node.meta.deletedOn !== undefined) this.todo.push(key);
    for (const origin of originsOf(node)) this.todo.push(origin);
  }
}

/** The stored part of a node. */
export function recordOf(node: Node): GraphRecord {
  const { meta, spec, state, specHash, trace, began, requested, due, retryDue, attempt, origins, failure } = node;
  return {
    meta,
    spec,
    specHash,
    attempt,
    ...(state === undefined ? {} : { state }),
    ...(trace ? { trace } : {}),
    ...(began ? { began } : {}),
    ...(requested ? { requested } : {}),
    ...(due ? { due } : {}),
    ...(retryDue ? { retryDue } : {}),
    ...(origins ? { origins } : {}),
    ...(failure ? { failure } : {}),
  };
}

export function phaseOf({ meta }: Node): Phase {
  if (meta.deletedOn !== undefined) return "delete";
  return meta.renamedFrom ? "rename" : "reconcile";
}

/** When the node runs again by itself. */
export function dueOf(node: Node): Due | undefined {
  return phaseOf(node) === "reconcile" ? node.due : node.retryDue;
}

/** The keys of all names under which a resource may still have things during a rename. */
export function originsOf({ meta, origins = [] }: Node): readonly Key[] {
  return meta.renamedFrom ? [meta.renamedFrom, ...origins].map(resourceKey) : [];
}

/** Whether a node's dependents have to wait for it. */
export function isUnsettled({ status }: Node): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}

export function isAtRest({ status }: Node): boolean {
  return status === "idle" || status === "cyclic" || status === "waiting";
}

function holdsUp(node: Node | undefined, phase: Phase): boolean {
  if (!node || node.isParked || phaseOf(node) !== phase) return false;
  return node.status === "pending" || node.status === "running";
}
