import { type Draft, isUnsettled, originsOf, phaseOf } from "./draft.js";
import { type Key, type ResourceName, resourceKey } from "./resource.js";
import { breaksRing, inputsOf, isUnchanged, nameHolder, settle } from "./scheduling.js";
import type { Line, Node, Phase, Weights } from "./state.js";

/** How many nodes of the line to look at beyond the first that does not fit. */
const WINDOW = 16;
/** How often lighter nodes may overtake the first in line before all wait for it. */
const MAX_OVERTAKEN = 16;
/** Sums of fractions are inexact: the rounding error must not make a node wait forever. */
const ROUNDING = 1 + 1e-9;

/** Starts what may start: all deletes, then all renames, then the rest, within the capacity. */
export function dispatch(draft: Draft): void {
  if (draft.next.locks > 0) return;
  startInOrder(draft, "delete");
  if (draft.next.openDeletes > 0) return;
  startInOrder(draft, "rename");
  if (draft.next.openRenames > 0) return;
  startRegular(draft);
}

function startInOrder(draft: Draft, phase: Phase): void {
  for (let id = first(draft, phase); id !== undefined; id = first(draft, phase)) {
    const node = startable(draft, id, phase);
    if (node && !fits(draft, node)) return;
    take(draft, phase);
    if (node) start(draft, node);
  }
}

function startRegular(draft: Draft): void {
  for (let hasStarted = true; hasStarted; ) {
    hasStarted = false;
    for (let id = first(draft, "reconcile"); id !== undefined && draft.next.window.length < WINDOW; ) {
      draft.next.window = [...draft.next.window, id];
      take(draft, "reconcile");
      id = first(draft, "reconcile");
    }
    for (const [at, id] of draft.next.window.entries()) {
      const node = startable(draft, id, "reconcile");
      if (node && !fits(draft, node)) {
        if (at === 0 && draft.next.overtaken >= MAX_OVERTAKEN) return;
        continue;
      }
      draft.next.window = draft.next.window.filter((other) => other !== id);
      draft.next.overtaken = at === 0 ? 0 : draft.next.overtaken + (node ? 1 : 0);
      if (node) start(draft, node);
      hasStarted = true;
      break;
    }
  }
}

/** The node, if only capacity can keep it from starting. A node that has to wait leaves the line until it is woken. */
function startable(draft: Draft, id: Key, phase: Phase): Node | undefined {
  const node = draft.node(id);
  if (!node?.inLine) return undefined;
  const isMeant = node.status === "pending" && phaseOf(node) === phase && node.run === undefined;
  const isBelowWork = phase === "reconcile" && node.unsettledRefs > 0;
  // It may have joined the line to break a ring of renames that another edit has broken since.
  if (!isMeant || isBelowWork || nameHolder(draft, node)) {
    draft.patch(node, { inLine: false });
    draft.todo.push(id);
    return undefined;
  }
  if (phase === "reconcile" && isUnchanged(draft, node)) {
    settle(draft, draft.patch(node, { inLine: false }), false);
    return undefined;
  }
  const blockers = blockingRuns(draft, node, phase);
  if (blockers.size === 0) return node;
  for (const blocker of blockers) {
    const run = draft.run(blocker)!;
    draft.setRun({ ...run, waiters: { id, next: run.waiters } });
  }
  draft.patch(node, { inLine: false, awaits: blockers.size });
  return undefined;
}

/** Runs that must return first: of the same name, and of relatives. */
export function blockingRuns(draft: Draft, node: Node, phase: Phase): ReadonlySet<number> {
  const found = new Set<number>();
  if (draft.next.runs.size === 0) return found;
  const names = [resourceKey(node.meta.name), ...originsOf(node)];
  for (const name of names) {
    const busy = draft.next.busy.get(name);
    if (busy !== undefined) found.add(busy);
  }
  // A regular run has no running ancestor; its running descendants are cancelled, or have given up the ref.
  if (phase !== "reconcile") runsAbove(draft, node, found);
  const { cancelledInFlight, readers } = draft.next;
  if (phase !== "reconcile" || cancelledInFlight > 0 || readers.size > 0) runsBelow(draft, names, found);
  return found;
}

function runsBelow(draft: Draft, names: readonly Key[], found: Set<number>): void {
  const seen = new Set(names);
  for (const key of seen) {
    for (const run of draft.next.readers.get(key) ?? []) found.add(run);
    for (const id of draft.childrenOf(key).keys()) {
      const child = draft.node(id)!;
      if (child.run !== undefined) found.add(child.run);
      if (child.status !== "cyclic" && child.meta.deletedOn === undefined) seen.add(id);
    }
  }
}

/** A node at rest has no running node above it. */
function runsAbove(draft: Draft, node: Node, found: Set<number>): void {
  const seen = new Set(node.meta.refs.map(resourceKey));
  for (const key of seen) {
    for (const id of [key, ...(draft.next.tombstones.get(key) ?? [])]) {
      const parent = draft.node(id);
      if (!parent || !isUnsettled(parent)) continue;
      if (parent.run !== undefined) found.add(parent.run);
      for (const ref of parent.meta.refs) seen.add(resourceKey(ref));
    }
  }
}

function start(draft: Draft, node: Node): void {
  const phase = phaseOf(node);
  const id = draft.next.nextRun++;
  const weights = clamped(draft, node.weights);
  const moveTo = phase === "rename" && breaksRing(draft, node) ? asideName(draft, node, id) : undefined;
  draft.setRun({
    id,
    node: node.id,
    phase,
    startedAs: resourceKey(node.meta.name),
    causes: node.causes,
    weights,
    inputs: inputsOf(draft, node),
    specHash: node.specHash,
    attempt: node.attempt,
    startedOn: draft.now,
    cancelled: false,
    reads: node.meta.refs.map(resourceKey),
    waiters: undefined,
    ...(moveTo ? { moveTo } : {}),
  });
  draft.setEntry("busy", resourceKey(node.meta.name), id);
  draft.next.used = added(draft.next.used, weights, 1);
  // A move that has begun shows in the origins.
  const began = phase === "rename" ? {} : { began: true as const };
  // Where a move may leave things is stored before it begins.
  const target = phase === "rename" ? (moveTo ?? node.meta.name) : undefined;
  const origins = target && { origins: [...(node.origins ?? []), target] };
  if (target) draft.setEntry("moving", resourceKey(target), node.id);
  draft.patch(node, { status: "running", causes: [], run: id, inLine: false, ...began, ...origins });
  draft.store(node.id);
  draft.effects.push({ type: "start", run: id, id: node.id });
}

/** An unused temporary name for the resource that moves aside in a ring of renames. */
function asideName(draft: Draft, { meta }: Node, run: number): ResourceName {
  const { nodes, tombstones, moving, busy } = draft.next;
  // Run numbers start from 1 after a restart, so a number alone may have been used before.
  for (let number = run; ; number++) {
    const name = { kind: meta.name.kind, name: `${meta.name.name}~${number}` };
    draft.operations++;
    if (![nodes, tombstones, moving, busy].some((map) => map.has(resourceKey(name)))) return name;
  }
}

/** A node that weighs more than the capacity runs alone. */
function clamped(draft: Draft, weights: Weights): Weights {
  const limited = Object.entries(weights).filter(([name]) => draft.next.capacity[name] !== undefined);
  return Object.fromEntries(limited.map(([name, weight]) => [name, Math.min(weight, draft.next.capacity[name]!)]));
}

function fits(draft: Draft, node: Node): boolean {
  const { capacity, used } = draft.next;
  return Object.entries(clamped(draft, node.weights)).every(
    ([name, weight]) => (used[name] ?? 0) + weight <= capacity[name]! * ROUNDING,
  );
}

export function added(used: Weights, weights: Weights, sign: 1 | -1): Weights {
  const sum: Record<string, number> = { ...used };
  for (const [name, weight] of Object.entries(weights)) sum[name] = (sum[name] ?? 0) + sign * weight;
  return sum;
}

function first(draft: Draft, phase: Phase): Key | undefined {
  const line = draft.next.lines[phase];
  if (!line.front && line.back) {
    let front: Line["front"];
    for (let cell: Line["back"] = line.back; cell; cell = cell.next) front = { id: cell.id, next: front };
    draft.next.lines = { ...draft.next.lines, [phase]: { front, back: undefined } };
  }
  return draft.next.lines[phase].front?.id;
}

function take(draft: Draft, phase: Phase): void {
  const line = draft.next.lines[phase];
  draft.next.lines = { ...draft.next.lines, [phase]: { ...line, front: line.front?.next } };
}
