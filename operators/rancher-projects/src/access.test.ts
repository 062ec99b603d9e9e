import { controlPlane } from "@setpoint/control-plane";
import { systemClock, timeoutSignal } from "setpoint";
import { describe, expect, it } from "vitest";
import { coreCases, printedRules, RestrictedOperator, ruleName } from "./access.suite.js";

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
      const rules = printedRules.filter((each) => each !== rule);
      await using operator = await RestrictedOperator.start(plane.kubeconfig!, rules);
      const ending = new AbortController();
      const cases = coreCases(operator.admin, ending.signal);
      const failing = expect(cases).rejects.toThrow("did not come true");
      // What is refused once is refused again; with all rules the cases take a fraction of the time given here.
      const isRefused = (): boolean => operator.refused.some((path) => path.includes(`/${rule.resources[0]}`));
      while (!isRefused()) await systemClock.sleep(20);
      await systemClock.sleep(3_000);
      ending.abort();
      await failing;
    },
  );
});
