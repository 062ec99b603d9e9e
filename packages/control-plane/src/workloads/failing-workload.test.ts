import { Deployment } from "setpoint/kinds/apps/v1";
import { Event, Namespace, ResourceQuota } from "setpoint/kinds/v1";
import { expect, it } from "vitest";
import { labelled, Simulation } from "./simulation.testing.js";

it("a workload that always fails causes an event and a metric, while others are served", async () => {
  await using simulation = await Simulation.start();
  const { client } = simulation;
  await client.create(Namespace, { metadata: { name: "full" } });
  await client.create(ResourceQuota, { metadata: { name: "none", namespace: "full" }, spec: { hard: { pods: "0" } } });
  const spec = { replicas: 2, ...labelled("web") };
  await client.create(Deployment, { metadata: { name: "web", namespace: "full" }, spec });
  await simulation.advance(60);
  await simulation.createDeployment("web", { replicas: 2 });
  await simulation.advance(60);
  expect((await simulation.get(Deployment, "web")).status?.availableReplicas).toBe(2);
  const events = (await client.list(Event, { namespace: "full" })).items;
  const told = events.filter(({ reason }) => reason === "ReconcileFailed");
  expect(told.map(({ involvedObject }) => involvedObject.kind)).toEqual(["ReplicaSet"]);
  expect(told[0]?.message).toMatch(/runs in a row failed; retrying with back-off: .*exceeded quota/);
  const metrics = await simulation.metrics();
  expect(metrics).toMatch(/^controller_runtime_reconcile_errors_total\{controller="replicasets"\} [1-9]/m);
  expect(metrics).toMatch(/^controller_runtime_reconcile_errors_total\{controller="deployments"\} 0$/m);
});
