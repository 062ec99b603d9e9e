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

/** Runs the cases one by one, each with its own objects; rejects with the first that fails before the signal. */
export async function coreCases(admin: Client, signal: AbortSignal): Promise<void> {
  const world = new World(admin, signal);
  await world.untilServed();
  for (const [name, run] of Object.entries(CASES)) {
    world.step = name;
    await run(world);
  }
}

const CASES: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "assigned, with an event [R1]": async (world) => {
    await world.project("p-one", "One");
    await world.namespace("one", { appOwner: "One" });
    await world.untilAssigned("one", ["p-one", "local", "local:p-one"]);
    await world.untilEvent("one", "ProjectAssigned");
  },
  "the display name matches in any case [R2]": async (world) => {
    await world.namespace("two", { appOwner: "oNE" });
    await world.untilAssigned("two", ["p-one", "local", "local:p-one"]);
  },
  "no owner, an empty one, an ignored key, an excluded namespace: untouched [R3, R14, R18]": async (world) => {
    await world.project("p-fourteen", "Other", "local", { team: "Fourteen" });
    await world.namespace("three", {});
    await world.namespace("three-empty", { appOwner: "" });
    await world.namespace("cattle-eighteen", { appOwner: "One" });
    await world.namespace("fourteen", { appOwner: "Fourteen" });
    await world.untilEvent("fourteen", "ProjectNotFound");
    for (const name of ["three", "three-empty", "cattle-eighteen", "fourteen"]) await world.expectUntouched(name);
  },
  "deleted before it is reconciled [R4]": async (world) => {
    await world.namespace("four", { appOwner: "One" });
    await world.remove(Namespace, "four");
  },
  "a second reconcile writes nothing [R5]": async (world) => {
    await world.label("two", { other: "label" });
    const before = await world.revision("two");
    await world.namespace("five", { appOwner: "One" });
    await world.untilAssigned("five", ["p-one", "local", "local:p-one"]);
    world.expect((await world.revision("two")) === before);
  },
  "a foreign assignment stays, with an event [R6]": async (world) => {
    await world.namespace("six", { appOwner: "One", [PROJECT_KEY]: "p-else" });
    await world.untilEvent("six", "AssignedByOthers");
    await world.expectUntouched("six");
  },
  "a changed owner moves an own assignment [R7]": async (world) => {
    await world.project("p-seven", "Seven");
    await world.label("one", { appOwner: "Seven" });
    await world.untilAssigned("one", ["p-seven", "local", "local:p-seven"]);
  },
  "a project that appears later [R8]": async (world) => {
    await world.namespace("eight", { appOwner: "Eight" });
    await world.untilEvent("eight", "ProjectNotFound");
    await world.project("p-eight", "Eight");
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
  "a project of another cluster [R11]": async (world) => {
    await world.project("p-eleven", "Eleven", "c-abc123");
    await world.namespace("eleven", { appOwner: "Eleven" });
    await world.untilAssigned("eleven", ["p-eleven", "c-abc123", "c-abc123:p-eleven"]);
  },
  "a project of the own cluster comes first [R13]": async (world) => {
    await world.project("p-thirteen-there", "Thirteen", "c-abc123");
    await world.project("p-thirteen", "Thirteen");
    await world.namespace("thirteen", { appOwner: "Thirteen" });
    await world.untilAssigned("thirteen", ["p-thirteen", "local", "local:p-thirteen"]);
  },
  "the display name beats a label in another case; one that is no string is skipped [R15, R20]": async (world) => {
    await world.project("p-fifteen-label", "Whatever", "local", { "cattle.io/projectName": "fifteen" });
    await world.project("p-fifteen", "Fifteen");
    await world.project("p-twenty", 20);
    await world.namespace("fifteen", { appOwner: "Fifteen" });
    await world.untilAssigned("fifteen", ["p-fifteen", "local", "local:p-fifteen"]);
  },
  "two projects of one name [R16]": async (world) => {
    await world.project("p-sixteen", "Sixteen");
    await world.project("p-sixteen-too", "sixteen");
    await world.namespace("sixteen", { appOwner: "Sixteen" });
    await world.untilEvent("sixteen", "ProjectAmbiguous");
    await world.untilAssigned("sixteen", [undefined, undefined, undefined]);
  },
  "drift is corrected [R17]": async (world) => {
    await world.label("eight", { [PROJECT_KEY]: null });
    await world.untilAssigned("eight", ["p-eight", "local", "local:p-eight"]);
  },
  "without its label a namespace stays [R19]": async (world) => {
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
 * Runs the cases without one rule until it was missed, and `patienceMs` longer: a refused request is refused again, so
 * a case must have failed by then. With all rules the cases take a fraction of that time.
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
