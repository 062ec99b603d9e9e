import { readFileSync } from "node:fs";
import { systemClock, timeoutSignal } from "setpoint/clock";
import { expect, it } from "vitest";
import { startKubernetes } from "../../../tools/kubernetes/start.mjs";
import { coreCases, expectNeeded, ruleName } from "./access.suite.js";
import { printedRules, RestrictedOperator } from "./restricted-operator.testing.js";
import { expectRetried, retryCases } from "./retries.suite.js";

it("the assignment cases pass on a real server with the rules that setpoint rbac prints [R1 to R8, R11, R13 to R20]", {
  timeout: 120_000,
}, async () => {
  await using cluster = await startKubernetes({});
  await using operator = await RestrictedOperator.start(readFileSync(cluster.kubeconfig, "utf8"));
  using deadline = timeoutSignal(systemClock, 60_000);
  await coreCases(operator.admin, deadline.signal);
  expect(operator.refused).toEqual([]);
});

it("each failure is retried separately, with these rules too [R9, R10, R21]", {
  timeout: 300_000,
}, async () => {
  await using cluster = await startKubernetes({});
  for (const retry of retryCases) await expectRetried(readFileSync(cluster.kubeconfig, "utf8"), retry, 40_000);
});

it.each(printedRules.map((rule) => ({ rule, name: ruleName(rule) })))(
  "without $name a case fails on a real server",
  { timeout: 120_000 },
  async ({ rule }) => {
    await using cluster = await startKubernetes({});
    await expectNeeded(readFileSync(cluster.kubeconfig, "utf8"), rule, 15_000);
  },
);
