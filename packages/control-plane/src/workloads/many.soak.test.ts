import { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import { describe, expect, it } from "vitest";
import { labelled, Simulation } from "./simulation.testing.js";

describe("many workloads", () => {
  it("become ready in virtual time: 500 deployments and 100 stateful sets", { timeout: 300_000 }, async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    for (let index = 0; index < 500; index++) await simulation.createDeployment(`web-${index}`);
    for (let index = 0; index < 100; index++) {
      const metadata = { name: `db-${index}`, namespace: "default" };
      await client.create(StatefulSet, { metadata, spec: { ...labelled(`db-${index}`) } });
    }
    await simulation.advance(30);
    const deployments = await simulation.list(Deployment);
    const sets = await simulation.list(StatefulSet);
    expect(deployments.filter(({ status }) => status?.availableReplicas === 1)).toHaveLength(500);
    expect(sets.filter(({ status }) => status?.availableReplicas === 1)).toHaveLength(100);
    expect(simulation.failures).toEqual([]);
  });
});
