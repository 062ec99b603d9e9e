import { controlPlane } from "@setpoint/control-plane";
import { systemClock, timeoutSignal } from "setpoint";
import { describe, expect, it } from "vitest";
import { coreCases, expectNeeded, printedRules, RestrictedOperator, ruleName } from "./access.suite.js";

describe("the rules that setpoint rbac prints", () => {
  it("are enough", { timeout: 60_000 }, async () => {
    await using plane = await controlPlane({ listen: {} });
    await using operator = await RestrictedOperator.start(plane.kubeconfig!, printedRules);
    using deadline = timeoutSignal(systemClock, 50_000);
    await coreCases(operator.admin, deadline.signal);
    expect(operator.refused).toEqual([]);
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
