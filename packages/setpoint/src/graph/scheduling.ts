import { type Draft, dueOf, isUnsettled, originsOf, phaseOf } from "./draft.js";
import { type GraphCause, isSoft, mergeGraphCauses } from "./graph-cause.js";
import { type Key, nameText, resourceKey } from "./resource.js";
import type { Node } from "./state.js";

/** Adds causes to a node without a run in flight. */
export function addCauses(draft: Draft, node: Node, causes: readonly GraphCause[]): void {
  const status = node.status === "idle" || node.status === "waiting" ? "pending" : node.status;
  draft.patch(node, { status, causes: mergeGraphCauses(node.causes, causes) });
  draft.todo.push(node.id);
}

/**
 * Cancels the run of a node. The run counts until it returns; with `again` the node then runs once more, for the old
 * causes and new ones.
 */
export function cancelRun(draft: Draft, node: Node, how: "again" | "stop", reason: string): Node {
  const run = node.run === undefined ? undefined : draft.run(node.run);
  if (!run) return node;
  if (!run.cancelled) {
    draft.next.cancelledInFlight++;
    draft.effects.push({ type: "abort", run: run.id, reason });
  }
  draft.setRun({ ...run, cancelled: how });
  const causes =
    how === "again" ? mergeGraphCauses(run.causes, [...node.causes, { type: "interrupted" }]) : node.causes;
  return draft.patch(node, { status: node.status === "running" ? "pending" : node.status, causes });
}

/** Processes the consequences of the event until no node is left to look at. */
export function drain(draft: Draft): void {
  const { todo, spread } = draft;
  let [todoAt, spreadAt] = [0, 0];
  while (todoAt < todo.length || spreadAt < spread.length) {
    if (spreadAt < spread.length) unsettle(draft, spread[spreadAt++]!);
    else consider(draft, todo[todoAt++]!);
  }
  todo.length = 0;
  spread.length = 0;
}

/** A parent has work, so this node has too. Cancels its run, because its input is about to change. */
function unsettle(draft: Draft, id: Key): void {
  const node = draft.node(id);
  if (!node || node.meta.deletedOn !== undefined || node.unsettledRefs === 0) return;
  if (node.status === "idle" || node.status === "waiting") {
    draft.patch(node, { status: "pending", isParked: isFailedRename(node) });
  } else if (node.status === "running" && readsRefs(draft, node)) {
    cancelRun(draft, node, "again", `a resource that ${nameText(node.meta.name)} refers to has changed`);
  }
}

function readsRefs({ next }: Draft, { meta, run }: Node): boolean {
  const phase = next.runs.get(String(run))?.phase;
  return phase === "reconcile" || (phase === "rename" && next.policies[meta.name.kind]?.rebuilds === true);
}

/** Decides whether a pending node can run: it then joins the line, or is settled without a run. */
function consider(draft: Draft, id: Key): void {
  const found = draft.node(id);
  if (found?.status !== "pending" || found.run !== undefined) return;
  const holder = nameHolder(draft, found);
  const isUnderFailure = holder !== undefined && (!isUnsettled(holder) || holder.isParked);
  const isParked = isUnderFailure || isFailedRename(found);
  const node = found.isParked === isParked ? found : draft.patch(found, { isParked });
  if (isFailedRename(node)) {
    if (node.unsettledRefs === 0) settle(draft, node, false);
    return;
  }
  if (node.inLine || node.awaits > 0 || holder) return;
  if (phaseOf(node) === "reconcile") {
    if (node.unsettledRefs > 0) return;
    if (isUnchanged(draft, node)) {
      settle(draft, node, false);
      return;
    }
  }
  draft.patch(node, { inLine: true });
  const phase = phaseOf(node);
  const line = draft.next.lines[phase];
  draft.next.lines = { ...draft.next.lines, [phase]: { ...line, back: { id, next: line.back } } };
}

/** A rename that failed and has no new cause. It is retried at its time. */
export function isFailedRename(node: Node): boolean {
  return phaseOf(node) === "rename" && node.causes.length === 0 && node.run === undefined;
}

/** Another node that must release this one's name first: a deleted one, or one that is moving away from it. */
export function nameHolder(draft: Draft, node: Node): Node | undefined {
  if (node.meta.deletedOn !== undefined) return undefined;
  const key = resourceKey(node.meta.name);
  const [tombstone] = draft.next.tombstones.get(key) ?? [];
  if (tombstone !== undefined) return draft.node(tombstone);
  const mover = draft.next.moving.get(key);
  if (mover === undefined || mover === node.id || breaksRing(draft, node)) return undefined;
  return draft.node(mover);
}

/**
 * Whether this resource and others swap their names in a ring, and it is the one to step aside: it moves to a free
 * name, the others move, and then it moves to its final name.
 */
export function breaksRing(draft: Draft, node: Node): boolean {
  if (!node.meta.renamedFrom || originsOf(node).includes(node.id)) return false;
  const ring = new Set<Key>();
  for (let id = draft.next.moving.get(node.id); id !== node.id; id = draft.next.moving.get(id)) {
    draft.operations++;
    if (id === undefined || ring.has(id)) return false;
    ring.add(id);
  }
  return [...ring].every((id) => node.id < id);
}

/** Whether a run would find nothing new: no caller requested one, and spec and inputs are those of the last run. */
export function isUnchanged(draft: Draft, node: Node): boolean {
  if (node.causes.length === 0) return true;
  const { trace } = node;
  if (draft.next.policies[node.meta.name.kind]?.whenRefsFinish !== "changed" || !trace) return false;
  if (node.began || node.requested || trace.outcome === "waitFor" || !node.causes.every(isSoft)) return false;
  if (node.due && node.due.at <= draft.now) return false;
  const inputs = inputsOf(draft, node);
  return trace.specHash === node.specHash && inputs.every((input, at) => input === trace.inputs[at]);
}

/** What each ref offers: its output version, and whether it failed. Equal offers are equal inputs. */
export function inputsOf(draft: Draft, node: Node): readonly string[] {
  return node.meta.refs.map((ref) => {
    const parent = draft.node(resourceKey(ref));
    if (!parent) return "absent";
    return `${hasFailed(parent) ? "failed" : "ok"} ${parent.trace?.outputVersion ?? ""}`;
  });
}

export function hasFailed({ status, failure, trace }: Node): boolean {
  return status === "cyclic" || failure !== undefined || trace?.error !== undefined;
}

/**
 * Brings a node to rest. `ran`: by a run, of which its dependents are told. A cancelled run or a failed rename may end
 * while a ref is unsettled: the node then stays pending, because a dependent that started now would run at the same
 * time as its own ancestor.
 */
export function settle(draft: Draft, node: Node, ran: boolean): void {
  const isWaiting = node.trace?.outcome === "waitFor" && !node.failure;
  const isBelowWork = node.unsettledRefs > 0 && node.meta.deletedOn === undefined;
  const status = isBelowWork ? "pending" : isWaiting ? "waiting" : "idle";
  const isParked = isBelowWork && phaseOf(node) === "rename";
  draft.patch(node, { status, causes: [], isParked, ...(ran ? {} : { settledOn: draft.now }) });
  const due = dueOf(node);
  if (due) draft.effects.push({ type: "timer", id: node.id, at: due.at });
  if (ran && !isWaiting) tellChildren(draft, node, "finished");
}

/** Tells dependents that a ref has finished a run, or is gone. */
export function tellChildren(draft: Draft, { meta }: Node, change: "finished" | "deleted"): void {
  for (const id of draft.childrenOf(resourceKey(meta.name)).keys()) {
    let child = draft.node(id)!;
    if (child.meta.deletedOn !== undefined) continue;
    if (child.status === "running") {
      child = cancelRun(
        draft,
        child,
        "again",
        `${nameText(meta.name)} has changed, and ${nameText(child.meta.name)} refers to it`,
      );
    }
    addCauses(draft, child, [{ type: "ref", name: meta.name, change }]);
  }
}
