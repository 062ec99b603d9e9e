import { ReplicaSet } from "setpoint/kinds/apps/v1";
import { Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { labelled, Simulation } from "../simulation.testing.js";

const create = (simulation: Simulation, replicas: number, more: Partial<ReplicaSet["spec"]> = {}) =>
  simulation.client.create(ReplicaSet, {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas, ...labelled("web"), ...more },
  });

describe("a replica set", () => {
  it("adopts orphan pods, releases those that no longer match, and replaces them", async () => {
    await using simulation = await Simulation.start();
    const orphan = await simulation.createPod("web");
    await simulation.advance(3);
    await create(simulation, 2);
    await simulation.advance(3);
    expect(await simulation.pods("app=web")).toHaveLength(2);
    const adopted = await simulation.get(Pod, "web");
    expect(adopted.metadata.uid).toBe(orphan.metadata.uid);
    expect(adopted.metadata.ownerReferences?.[0]).toMatchObject({ kind: "ReplicaSet", name: "web", controller: true });
    await simulation.change(Pod, "web", { metadata: { labels: { app: "other" } } });
    await simulation.advance(3);
    expect((await simulation.get(Pod, "web")).metadata.ownerReferences).toBeUndefined();
    expect(await simulation.pods("app=web")).toHaveLength(2);
  });

  it("deletes the cheapest of equal pods, and replaces failed ones", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, 3);
    await simulation.advance(3);
    const [cheap] = (await simulation.pods("app=web")).slice(1);
    const cost = { "controller.kubernetes.io/pod-deletion-cost": "-5" };
    await simulation.change(Pod, cheap!.metadata.name, { metadata: { annotations: cost } });
    await simulation.change(ReplicaSet, "web", { spec: { replicas: 2 } });
    await simulation.advance(5);
    const left = await simulation.pods("app=web");
    expect(left.map(({ metadata }) => metadata.name)).not.toContain(cheap!.metadata.name);
    expect(left).toHaveLength(2);
    expect((await simulation.get(ReplicaSet, "web")).status).toMatchObject({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      terminatingReplicas: 0,
      observedGeneration: 2,
    });
  });

  it("counts pods as available only after minReadySeconds", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, 2, { minReadySeconds: 30 });
    await simulation.advance(10);
    const { status } = await simulation.get(ReplicaSet, "web");
    expect(status).toMatchObject({ readyReplicas: 2 });
    expect(status).not.toHaveProperty("availableReplicas");
    await simulation.advance(30);
    expect((await simulation.get(ReplicaSet, "web")).status?.availableReplicas).toBe(2);
  });
});
