import { type Parts, Violation } from "./simulation.testing.js";
import type { Edit, Event, Run, State } from "./state.js";

/**
 * Invariant 9, for each live run of a state: a foreign update of its resource causes exactly one more run, its own
 * update none; and a cancelled run may write its state, but its result is not published. A state is immutable, so all
 * cases start from the same one.
 */
export function holdsForOneUpdate(parts: Parts, state: State): void {
  for (const run of state.runs.values()) {
    const node = state.nodes.get(run.node ?? "");
    if (run.cancelled !== false || run.phase !== "reconcile" || !node || state.locks > 0) continue;
    const spec = { value: "new" };
    const edits: readonly Edit[] = [{ type: "update", name: node.meta.name, change: { spec, specHash: "new" } }];
    const outside = played(parts, state, run, { type: "edit", edits, nowMs: NOW_MS });
    if (outside.runs !== 1) throw new Violation(9, `${outside.runs} more runs of ${node.id} after an update`);
    const own = played(parts, state, run, { type: "edit", edits, by: run.id, nowMs: NOW_MS });
    if (own.runs !== 0) throw new Violation(9, `${own.runs} more runs of ${node.id} after a self-update`);
    cancelled(parts, state, run, edits);
  }
}

/** Later than all times of the simulation: every timer is due already. */
const NOW_MS = 1_000_000;

/** Lets all runs return until none is left. Counts the started runs of the resource of `run`. */
function played(parts: Parts, before: State, run: Run, first: Event): { readonly runs: number } {
  let state = before;
  let runs = 0;
  const events: Event[] = [first];
  for (const { id } of before.runs.values()) events.push(returnOf(id));
  for (const event of events) {
    const step = parts.reduce(state, event);
    if (step.refusal) throw new Violation(9, step.refusal.message);
    state = step.state;
    for (const effect of step.effects) {
      if (effect.type !== "start") continue;
      if (effect.id === run.node) runs++;
      events.push(returnOf(effect.run));
    }
  }
  return { runs };
}

function returnOf(run: number): Event {
  return { type: "finished", run, result: { outcome: "done", outputVersion: "returned" }, nowMs: NOW_MS };
}

function cancelled(parts: Parts, before: State, run: Run, edits: readonly Edit[]): void {
  const updated = parts.reduce(before, { type: "edit", edits, nowMs: NOW_MS }).state;
  const written = parts.reduce(updated, { type: "state", run: run.id, state: "last words", nowMs: NOW_MS });
  if (written.state.nodes.get(run.node!)?.state !== "last words") {
    throw new Violation(9, "a cancelled run cannot write its state");
  }
  const { trace } = parts.reduce(written.state, returnOf(run.id)).state.nodes.get(run.node!)!;
  const published = before.nodes.get(run.node!)!.trace?.outputVersion;
  if (trace?.outputVersion !== published) throw new Violation(9, "a cancelled run has published its output");
}
