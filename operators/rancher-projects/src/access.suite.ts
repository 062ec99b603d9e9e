import type { Client } from "setpoint";
import { systemClock } from "setpoint/clock";
import type { RbacRule } from "setpoint/controller";
import { Namespace } from "setpoint/kinds/v1";
import { expect } from "vitest";
import { Project } from "./project.js";
import { printedRules, RestrictedOperator } from "./restricted-operator.testing.js";
import { PROJECT_KEY, World } from "./world.testing.js";

export function ruleName({ resources, verbs }: RbacRule): string {
  return `${resources.join()}: ${verbs.join(" ")}`;
}

/** Case by case, each with objects of its own; rejects with the first that does not come true before the signal. */
export async function coreCases(admin: Client, signal: AbortSignal): Promise<void> {
  const world = new World(admin, signal);
  await world.untilServed();
  for (const [name, run] of Object.entries(CASES)) {
    world.step = name;
    await run(world);
  }
}

const CASES: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "R1: assigned, and an event says so": async (world) => {
    await world.project("p-one", "One");
    await world.namespace("one", { appOwner: "One" });
    await world.untilAssigned("one", ["p-one", "local", "local:p-one"]);
    await world.untilEvent("one", "ProjectAssigned");
  },
  "R2: the display name counts whatever its case": async (world) => {
    await world.namespace("two", { appOwner: "oNE" });
    await world.untilAssigned("two", ["p-one", "local", "local:p-one"]);
  },
  "R3, R14, R18: no owner, an empty one, a key that does not count, an excluded namespace: untouched": async (
    world,
  ) => {
    await world.project("p-fourteen", "Other", "local", { team: "Fourteen" });
    await world.namespace("three", {});
    await world.namespace("three-empty", { appOwner: "" });
    await world.namespace("cattle-eighteen", { appOwner: "One" });
    await world.namespace("fourteen", { appOwner: "Fourteen" });
    await world.untilEvent("fourteen", "ProjectNotFound");
    for (const name of ["three", "three-empty", "cattle-eighteen", "fourteen"]) await world.expectUntouched(name);
  },
  "R4: gone before it is looked at": async (world) => {
    await world.namespace("four", { appOwner: "One" });
    await world.remove(Namespace, "four");
  },
  "R5: a second look writes nothing": async (world) => {
    await world.label("two", { other: "label" });
    const before = await world.revision("two");
    await world.namespace("five", { appOwner: "One" });
    await world.untilAssigned("five", ["p-one", "local", "local:p-one"]);
    world.expect((await world.revision("two")) === before);
  },
  "R6: what others put elsewhere stays, with an event": async (world) => {
    await world.namespace("six", { appOwner: "One", [PROJECT_KEY]: "p-else" });
    await world.untilEvent("six", "AssignedByOthers");
    await world.expectUntouched("six");
  },
  "R7: a changed owner moves what was assigned": async (world) => {
    await world.project("p-seven", "Seven");
    await world.label("one", { appOwner: "Seven" });
    await world.untilAssigned("one", ["p-seven", "local", "local:p-seven"]);
  },
  "R8: a project that appears later": async (world) => {
    await world.namespace("eight", { appOwner: "Eight" });
    await world.untilEvent("eight", "ProjectNotFound");
    await world.project("p-eight", "Eight");
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
  "R11: a project of another cluster": async (world) => {
    await world.project("p-eleven", "Eleven", "c-abc123");
    await world.namespace("eleven", { appOwner: "Eleven" });
    await world.untilAssigned("eleven", ["p-eleven", "c-abc123", "c-abc123:p-eleven"]);
  },
  "R13: a project of the own cluster comes first": async (world) => {
    await world.project("p-thirteen-there", "Thirteen", "c-abc123");
    await world.project("p-thirteen", "Thirteen");
    await world.namespace("thirteen", { appOwner: "Thirteen" });
    await world.untilAssigned("thirteen", ["p-thirteen", "local", "local:p-thirteen"]);
  },
  "R15, R20: the display name beats a label in another case; one that is no text is passed over": async (world) => {
    await world.project("p-fifteen-label", "Whatever", "local", { "cattle.io/projectName": "fifteen" });
    await world.project("p-fifteen", "Fifteen");
    await world.project("p-twenty", 20);
    await world.namespace("fifteen", { appOwner: "Fifteen" });
    await world.untilAssigned("fifteen", ["p-fifteen", "local", "local:p-fifteen"]);
  },
  "R16: two projects of one name": async (world) => {
    await world.project("p-sixteen", "Sixteen");
    await world.project("p-sixteen-too", "sixteen");
    await world.namespace("sixteen", { appOwner: "Sixteen" });
    await world.untilEvent("sixteen", "ProjectAmbiguous");
    await world.untilAssigned("sixteen", [undefined, undefined, undefined]);
  },
  "R17: drift is put right": async (world) => {
    await world.label("eight", { [PROJECT_KEY]: null });
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
  "R19: without its label a namespace stays": async (world) => {
    await world.label("five", { appOwner: null });
    await world.namespace("nineteen", { appOwner: "One" });
    await world.untilAssigned("nineteen", ["p-one", "local", "local:p-one"]);
    await world.untilAssigned("five", ["p-one", "local", "local:p-one"]);
  },
  "a project that goes away leaves its namespaces, with an event": async (world) => {
    await world.remove(Project, "p-eight", "local");
    await world.untilEvent("eight", "ProjectGone");
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
};

/**
 * Runs the cases without one rule until it was missed, and `patienceMs` longer: what is refused once is refused again, so
 * a case must have failed by then. With all rules the cases take a fraction of that.
 */
export async function expectNeeded(kubeconfig: string, rule: RbacRule, patienceMs: number): Promise<void> {
  const rules = printedRules.filter((each) => each !== rule);
  await using operator = await RestrictedOperator.start(kubeconfig, { rules });
  const ending = new AbortController();
  const failing = expect(coreCases(operator.admin, ending.signal)).rejects.toThrow("did not come true");
  const isRefused = (): boolean => operator.refused.some((path) => path.includes(`/${rule.resources[0]}`));
  while (!isRefused()) await systemClock.sleep(20);
  await systemClock.sleep(patienceMs);
  ending.abort();
  await failing;
}
