import fc from "fast-check";
import { holdsForOneUpdate } from "./one-update.testing.js";
import type { ScriptStep } from "./script.testing.js";
import { type Parts, Simulation, Violation } from "./simulation.testing.js";

/** Scripts of at most this many steps. */
export function scripts(maxLength: number): fc.Arbitrary<ScriptStep[]> {
  const step = fc.tuple(fc.nat(15), fc.nat(255), fc.nat(255), fc.nat(255));
  return fc.array(step, { maxLength, size: "max" }); // the default size makes scripts of ten steps
}

/**
 * Plays a script, lets the graph come to rest and restarts it there. Plays it again with a crash before the rest, and
 * with its last events in other orders. Throws at the first violated invariant.
 */
export function holdsAllInvariants(parts: Parts, script: readonly ScriptStep[]): void {
  const simulation = played(parts, script);
  simulation.rest();
  const { outcome, hasCalledOff } = simulation;
  restartAtRest(simulation);
  const again = played(parts, script);
  if (JSON.stringify(again.journal) !== JSON.stringify(simulation.journal.slice(0, again.journal.length))) {
    throw new Violation(14, "the same script gives another journal");
  }
  holdsForOneUpdate(parts, again.state);
  crashBeforeRest(again, script, hasCalledOff ? undefined : outcome);
  permute(parts, script);
}

function played(parts: Parts, script: readonly ScriptStep[]): Simulation {
  const simulation = new Simulation(parts);
  simulation.play(script);
  return simulation;
}

/** Invariant 13: a crash at the end of the script does not change the outcome. */
function crashBeforeRest(simulation: Simulation, script: readonly ScriptStep[], expected: string | undefined): void {
  const [how = 0, which = 0] = script.at(-1) ?? [];
  simulation.crash(how % 3, which);
  simulation.rest();
  if (expected === undefined || simulation.hasCalledOff || simulation.outcome === expected) return;
  throw new Violation(13, `after a crash the outcome is ${simulation.outcome}, without it ${expected}`);
}

/** Invariant 14: the order of simultaneous events does not change the outcome. */
function permute(parts: Parts, script: readonly ScriptStep[]): void {
  const last = script.at(-1) ?? [0, 0, 0, 0];
  const outcomes = ["as given", "reversed", "rotated"].map((order) => {
    const simulation = played(parts, script);
    const events = simulation.simultaneous(last);
    if (order === "reversed") events.reverse();
    if (order === "rotated") events.push(...events.splice(0, 1));
    for (const event of events) event();
    simulation.rest();
    return { order, outcome: simulation.outcome, hasCalledOff: simulation.hasCalledOff };
  });
  if (outcomes.some(({ hasCalledOff }) => hasCalledOff)) return;
  for (const { order, outcome } of outcomes) {
    if (outcome === outcomes[0]!.outcome) continue;
    throw new Violation(14, `${order}, events lead to ${outcome}, and as given to ${outcomes[0]!.outcome}`);
  }
}

/** Invariant 7: on a restart, kinds that run on changes do not run; each of the others runs once. */
function restartAtRest(simulation: Simulation): void {
  const quiet = new Set(
    simulation.nodes
      .filter(({ status, failure, due, trace }) => status === "idle" && !failure && !due && trace?.outcome === "done")
      .map(({ id }) => id),
  );
  const always = simulation.nodes.filter(({ status, meta }) => status === "idle" && meta.name.kind === "Always").length;
  const before = simulation.started.length;
  const idle = simulation.nodes.every(
    ({ status, failure, due, trace, began }) =>
      status === "cyclic" || (status === "idle" && !failure && !due && trace !== undefined && !began),
  );
  simulation.restart();
  simulation.rest();
  const runs = simulation.started.slice(before);
  if (!idle) return;
  const needless = runs.find(({ key }) => quiet.has(key) && key.startsWith("Changed/"));
  if (needless) throw new Violation(7, `${needless.key} ran after a restart with nothing changed`);
  if (runs.length !== always) throw new Violation(7, `${runs.length} runs after a restart, not ${always}`);
}
