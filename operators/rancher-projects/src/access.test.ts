import { controlPlane } from "@setpoint/control-plane";
import { systemClock, timeoutSignal } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import { coreCases, expectNeeded, ruleName } from "./access.suite.js";
import { printedRules, RestrictedOperator } from "./restricted-operator.testing.js";
import { expectRetried, retryCases } from "./retries.suite.js";

describe("the rules that setpoint rbac prints", () => {
  it("suffice", { timeout: 60_000 }, async () => {
    await using plane = await controlPlane({ listen: {} });
    await using operator = await RestrictedOperator.start(plane.kubeconfig!);
    using deadline = timeoutSignal(systemClock, 50_000);
    await coreCases(operator.admin, deadline.signal);
    expect(operator.refused).toEqual([]);
  });

  it.concurrent.each(retryCases)("suffice for retries: $title", { timeout: 60_000 }, async (retry) => {
    await using plane = await controlPlane({ listen: {} });
    await expectRetried(plane.kubeconfig!, retry, 50_000);
  });

  it.concurrent.each(printedRules.map((rule) => ({ rule, name: ruleName(rule) })))(
    "are each needed: without $name a case fails",
    { timeout: 60_000 },
    async ({ rule }) => {
      await using plane = await controlPlane({ listen: {} });
      await expectNeeded(plane.kubeconfig!, rule, 3_000);
    },
  );
});
