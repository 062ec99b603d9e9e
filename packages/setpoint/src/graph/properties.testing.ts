import fc from "fast-check";
import { type Parts, type ScriptStep, Simulation, Violation } from "./simulation.testing.js";

/** Scripts of up to so many steps. */
export function scripts(maxLength: number): fc.Arbitrary<ScriptStep[]> {
  const step = fc.tuple(fc.nat(15), fc.nat(255), fc.nat(255), fc.nat(255));
  return fc.array(step, { maxLength, size: "max" }); // by itself it makes scripts of ten steps
}

/** Plays a script, lets the graph come to rest, restarts it there: throws at the first invariant that does not hold. */
export function holdsAllInvariants(parts: Parts, script: readonly ScriptStep[]): void {
  const simulation = new Simulation(parts);
  simulation.play(script);
  simulation.rest();
  restartAtRest(simulation);
  const again = new Simulation(parts);
  again.play(script);
  if (JSON.stringify(again.journal) !== JSON.stringify(simulation.journal.slice(0, again.journal.length))) {
    throw new Violation(14, "the same script gives another journal");
  }
}

/** Invariant 7: kinds that run when something changed do not run; of the others each runs once. */
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
