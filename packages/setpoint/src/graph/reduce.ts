import { cyclicAmong } from "./cycles.js";
import { added, dispatch } from "./dispatch.js";
import { Draft, dueOf, originsOf } from "./draft.js";
import { applyEdit, calledOff, place, removeTombstone, setCyclic } from "./edits.js";
import { type GraphCause, mergeGraphCauses } from "./graph-cause.js";
import { Places } from "./places.js";
import { type Key, resourceKey } from "./resource.js";
import { addCauses, drain, inputsOf, settle, tellChildren } from "./scheduling.js";
import type {
  EditRefusal,
  Event,
  GraphRecord,
  GraphRunResult,
  Node,
  Reduction,
  Run,
  State,
  Trace,
  Weights,
} from "./state.js";

/**
 * The scheduler: computes the new state and the effects of an event. Pure: the same state and event give the same step,
 * and the given state does not change.
 */
export function reduce(state: State, event: Event): Reduction {
  const draft = new Draft(state, event.nowMs);
  const applied = apply(draft, event);
  if ("code" in applied) return { state, effects: [], ids: [], refusal: applied, operations: draft.operations };
  return stepOf(draft, applied);
}

function apply(draft: Draft, event: Event): readonly Key[] | EditRefusal {
  switch (event.type) {
    case "edit":
      return applyEdits(draft, event);
    case "state": {
      const node = draft.node(draft.run(event.run)?.node ?? "");
      if (!node) return runOver(event.run);
      const meta = { ...node.meta, stateVersion: node.meta.stateVersion + 1, stateUpdatedOn: draft.now };
      draft.patch(node, { state: event.state, meta });
      draft.store(node.id);
      return [];
    }
    case "finished":
      finish(draft, event.run, event.result);
      return [];
    case "due":
      for (const id of event.ids) fallDue(draft, id);
      return [];
    case "lock":
    case "unlock":
      draft.next.locks += event.type === "lock" ? 1 : -1;
      return [];
  }
}

/** The state after a start: every stored resource, each with its reasons to run. */
export function restore(
  state: State,
  records: Iterable<{ readonly id: Key; readonly record: GraphRecord }>,
  weightsOf: (record: GraphRecord) => Weights,
  nowMs: number,
): Reduction {
  const loaded = new Draft(state, nowMs);
  const keys: Key[] = [];
  for (const { id, record } of records) {
    const { meta } = record;
    const due = meta.deletedOn !== undefined || meta.renamedFrom ? record.retryDue : record.due;
    const causes: GraphCause[] = [{ type: "restart" }];
    if (record.began) causes.push({ type: "interrupted" });
    if (record.requested) causes.push({ type: "requested" });
    if (due && due.at <= nowMs) causes.push(due.cause);
    if (meta.deletedOn === undefined) keys.push(id);
    else loaded.next.nextTombstone = Math.max(loaded.next.nextTombstone, Number.parseInt(id.slice(1), 10) + 1);
    const scheduling = { weights: weightsOf(record), unsettledRefs: 0, awaits: 0, inLine: false, isParked: false };
    place(loaded, { ...record, ...scheduling, id, status: "pending", causes }, true);
  }
  // Writes from here on expect the loaded versions.
  const draft = new Draft(loaded.finish().state, nowMs);
  draft.operations = loaded.operations;
  for (const id of loaded.todo) draft.todo.push(id);
  for (const key of cyclicAmong(draft, keys)) setCyclic(draft, draft.node(key)!);
  return stepOf(draft, []);
}

function stepOf(draft: Draft, ids: readonly Key[]): Reduction {
  do {
    drain(draft);
    dispatch(draft);
  } while (draft.todo.length > 0 || draft.spread.length > 0);
  return { ...draft.finish(), ids, operations: draft.operations };
}

function applyEdits(draft: Draft, { edits, by }: Extract<Event, { type: "edit" }>): readonly Key[] | EditRefusal {
  if (by !== undefined && draft.run(by)?.cancelled !== false) return runOver(by);
  const places = new Places();
  for (const edit of edits) {
    const before = draft.effects.length;
    const edited = applyEdit(draft, edit, by);
    if ("code" in edited) return edited;
    for (const effect of draft.effects.slice(before)) if (effect.type === "moved") places.move(effect.moves);
    for (const id of edited) places.add(id);
  }
  return places.ids;
}

function runOver(run: number): EditRefusal {
  return { code: "GRAPH_RUN_OVER", message: `run ${run} has been cancelled or has ended` };
}

function fallDue(draft: Draft, id: Key): void {
  const node = draft.node(id);
  const due = node && dueOf(node);
  if (due && due.at <= draft.now && node.run === undefined) addCauses(draft, node, [due.cause]);
}

function finish(draft: Draft, id: number, result: GraphRunResult): void {
  const run = draft.run(id);
  if (!run) return;
  draft.dropRun(run);
  draft.next.used = added(draft.next.used, run.weights, -1);
  if (run.cancelled) draft.next.cancelledInFlight--;
  if (draft.next.busy.get(run.startedAs) === id) draft.setEntry("busy", run.startedAs, undefined);
  for (const key of run.reads) {
    const left = draft.next.readers.get(key)?.filter((other) => other !== id);
    if (left) draft.setEntry("readers", key, left.length > 0 ? left : undefined);
  }
  for (let waiter = run.waiters; waiter; waiter = waiter.next) {
    const node = draft.node(waiter.id);
    if (!node) continue;
    if (node.awaits > 0) draft.patch(node, { awaits: node.awaits - 1 });
    draft.todo.push(node.id);
  }
  const found = run.node === undefined ? undefined : draft.node(run.node);
  if (!found) return;
  const { run: _, ...rest } = found;
  const { causes, startedOn } = run;
  const outcome = run.cancelled ? "cancelled" : result.outcome;
  const { effects = [] } = result;
  const lastRun = { id, phase: run.phase, causes, startedOn, finishedOn: draft.now, outcome, effects } as const;
  const node: Node = { ...rest, lastRun };
  draft.set(node);
  if (node.status !== "cyclic") {
    if (run.cancelled) endCancelled(draft, node);
    else if (run.phase === "delete") endDelete(draft, node, result);
    else if (run.phase === "rename") endRename(draft, node, run, result);
    else endRegular(draft, node, run, result);
  }
  draft.todo.push(node.id, resourceKey(node.meta.name), run.startedAs);
}

/** A cancelled run has returned: repeat it, or not if a user cancelled it. */
function endCancelled(draft: Draft, node: Node): void {
  if (node.causes.length > 0) return;
  const called = calledOff(node);
  draft.set(called);
  draft.store(node.id);
  settle(draft, called, true);
}

function endDelete(draft: Draft, node: Node, result: GraphRunResult): void {
  if (result.outcome === "done") {
    removeTombstone(draft, node);
    tellChildren(draft, node, "deleted");
  } else fail(draft, node, result);
}

/** A removal or a rename that failed stays as it is, says so, and is tried again. */
function fail(draft: Draft, node: Node, { error, due }: GraphRunResult): void {
  const failure = error ?? { message: "it waits" };
  const { retryDue: _, ...rest } = node;
  const failed = { ...rest, failure, attempt: node.attempt + 1, ...(due ? { retryDue: due } : {}) };
  draft.store(node.id);
  if (node.causes.length === 0) settle(draft, failed, true);
  else draft.set({ ...failed, status: "pending" });
}

function endRename(draft: Draft, node: Node, run: Run, result: GraphRunResult): void {
  const from = node.meta.renamedFrom;
  if (!from || (result.outcome !== "done" && result.instead !== "rebuilt")) {
    fail(draft, node, result);
    return;
  }
  const { renamedFrom: _, ...meta } = node.meta;
  const { failure: __, origins: ___, retryDue: ____, ...others } = node;
  const rest: typeof others = result.instead === "removed" ? { ...others, began: true } : others;
  draft.store(node.id);
  for (const origin of originsOf(node)) {
    draft.setEntry("moving", origin, undefined);
    draft.todo.push(origin);
  }
  if (result.instead === "rebuilt") {
    endRegular(draft, { ...rest, attempt: 0, meta }, run, result);
    return;
  }
  if (run.moveTo) {
    draft.setEntry("moving", resourceKey(run.moveTo), node.id);
    draft.set({
      ...rest,
      attempt: 0,
      status: "pending",
      causes: run.causes,
      meta: { ...meta, renamedFrom: run.moveTo },
    });
    return;
  }
  const isDue = node.due !== undefined && node.due.at <= draft.now;
  const reasons = mergeGraphCauses(
    run.causes.filter(({ type }) => type !== "renamed" && type !== "retry"),
    [...node.causes.filter(({ type }) => type !== "renamed"), ...(isDue ? [node.due.cause] : [])],
  );
  // An earlier attempt may have consumed the causes of a regular run.
  const inputs = inputsOf(draft, node);
  const isCurrent =
    node.trace?.specHash === node.specHash && inputs.every((input, at) => input === node.trace?.inputs[at]);
  const isOwed = rest.began || node.requested || reasons.length > 0 || !isCurrent;
  const isDone = draft.next.policies[meta.name.kind]?.whenRefsFinish !== "changed" && !isOwed;
  const causes: readonly GraphCause[] = isDone ? [] : [...reasons, { type: "renamed", from }];
  const renamed: Node = { ...rest, attempt: 0, status: "pending", causes, meta };
  draft.set(renamed);
  // Resources that refer to the new name had nothing there before, even if no regular run follows.
  tellChildren(draft, renamed, "finished");
}

function endRegular(draft: Draft, node: Node, run: Run, result: GraphRunResult): void {
  const { due: _, began: __, failure: ___, requested, ...rest } = node;
  const { outcome, error, warnings = [] } = result;
  const runs = (node.trace?.runs ?? 0) + 1;
  const hasFailed = outcome === "retry" || outcome === "terminal";
  const outputVersion = outcome === "done" ? (result.outputVersion ?? `run ${runs}`) : node.trace?.outputVersion;
  const trace: Trace = {
    specHash: run.specHash,
    inputs: run.inputs,
    outcome,
    warnings,
    runs,
    ...(outputVersion === undefined ? {} : { outputVersion }),
    ...(error ? { error } : {}),
  };
  const isDueNow = result.due !== undefined && result.due.at <= draft.now;
  const causes = isDueNow ? mergeGraphCauses(node.causes, [result.due.cause]) : node.causes;
  const ended: Node = {
    ...rest,
    trace,
    causes,
    attempt: hasFailed ? node.attempt + 1 : 0,
    ...(result.due && !isDueNow ? { due: result.due } : {}),
    ...(requested && causes.some(({ type }) => type === "requested") ? { requested } : {}),
  };
  draft.store(node.id);
  if (causes.length > 0) {
    // Its dependents keep waiting: it runs again at once.
    draft.set({ ...ended, status: "pending" });
    return;
  }
  draft.set(ended);
  settle(draft, ended, true);
}
