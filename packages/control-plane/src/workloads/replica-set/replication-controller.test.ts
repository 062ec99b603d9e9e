import { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import { Pod, ReplicationController } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { labelled, Simulation } from "../simulation.testing.js";

const create = (simulation: Simulation, replicas: number, more: Partial<ReplicationController["spec"]> = {}) =>
  simulation.client.create(ReplicationController, {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas, selector: { app: "web" }, template: labelled("web").template, ...more },
  });

const remove = (simulation: Simulation, propagationPolicy: "Orphan" | "Background" | "Foreground") =>
  simulation.client.delete(ReplicationController, "web", { namespace: "default", propagation: propagationPolicy });

describe("a replication controller", () => {
  it("keeps the requested number of pods, and counts them", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, 3);
    await simulation.advance(5);
    const pods = await simulation.pods("app=web");
    expect(pods).toHaveLength(3);
    expect(pods[0]?.metadata.generateName).toBe("web-");
    expect(pods[0]?.metadata.ownerReferences).toMatchObject([
      { apiVersion: "v1", kind: "ReplicationController", name: "web", controller: true, blockOwnerDeletion: true },
    ]);
    const { status } = await simulation.get(ReplicationController, "web");
    expect(status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    });
    await simulation.client.delete(Pod, pods[0]!.metadata.name, { namespace: "default" });
    await simulation.change(ReplicationController, "web", { spec: { replicas: 2 } });
    await simulation.advance(10);
    expect(await simulation.pods("app=web")).toHaveLength(2);
    expect(await simulation.events("web")).toContainEqual(
      expect.stringMatching(/^SuccessfulCreate: Created pod: web-/),
    );
    expect(simulation.failures).toEqual([]);
  });

  it("adopts orphan pods, and releases those that no longer match", async () => {
    await using simulation = await Simulation.start();
    const orphan = await simulation.createPod("web");
    await create(simulation, 1);
    await simulation.advance(3);
    expect(await simulation.pods("app=web")).toHaveLength(1);
    expect((await simulation.get(Pod, "web")).metadata.uid).toBe(orphan.metadata.uid);
    await simulation.change(Pod, "web", { metadata: { labels: { app: "other" } } });
    await simulation.advance(3);
    expect((await simulation.get(Pod, "web")).metadata.ownerReferences).toBeUndefined();
    expect(await simulation.pods("app=web")).toHaveLength(1);
  });

  it("reports why it cannot create pods, until it can", async () => {
    await using simulation = await Simulation.start({ replicationcontrollers: true });
    const template = {
      ...labelled("web").template,
      spec: { ...labelled("web").template.spec, serviceAccountName: "none" },
    };
    await create(simulation, 1, { template });
    await simulation.advance(3);
    const { status } = await simulation.get(ReplicationController, "web");
    expect(status?.conditions).toMatchObject([
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: expect.stringContaining("none") },
    ]);
    await simulation.change(ReplicationController, "web", { spec: { replicas: 0 } });
    await simulation.advance(3);
    expect((await simulation.get(ReplicationController, "web")).status?.conditions).toBeUndefined();
  });

  it("leaves its pods behind when it is orphaned", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, 2);
    await simulation.advance(5);
    await remove(simulation, "Orphan");
    await simulation.advance(60);
    const pods = await simulation.pods("app=web");
    expect(pods).toHaveLength(2);
    expect(pods.map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined, undefined]);
  });

  it.each(["Background", "Foreground"] as const)("deletes its pods in the %s", async (policy) => {
    await using simulation = await Simulation.start();
    await create(simulation, 2);
    await simulation.advance(5);
    await remove(simulation, policy);
    await simulation.advance(0);
    const isThere = (await simulation.find(ReplicationController, "web")) !== undefined;
    expect(isThere).toBe(policy === "Foreground");
    await simulation.advance(60);
    expect(await simulation.find(ReplicationController, "web")).toBeUndefined();
    expect(await simulation.pods("app=web")).toEqual([]);
  });

  it("is counted by a disruption budget of its pods", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, 3);
    const spec = { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } };
    await simulation.client.create(PodDisruptionBudget, { metadata: { name: "web", namespace: "default" }, spec });
    await simulation.advance(10);
    const { status } = await simulation.get(PodDisruptionBudget, "web");
    expect(status).toMatchObject({ expectedPods: 3, desiredHealthy: 2, disruptionsAllowed: 1 });
  });

  it("restores its status after somebody else has written it", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, 1);
    await simulation.advance(5);
    const { status } = await simulation.get(ReplicationController, "web");
    await simulation.client.patch(
      ReplicationController,
      "web",
      { type: "merge", body: { status: { replicas: 7, readyReplicas: 7 } } },
      { namespace: "default", subresource: "status" },
    );
    await simulation.advance(5);
    expect((await simulation.get(ReplicationController, "web")).status).toEqual(status);
  });

  it("creates and deletes many pods at once without a MaxListeners warning", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    await using simulation = await Simulation.start();
    await create(simulation, 60);
    await simulation.advance(10);
    expect(await simulation.pods("app=web")).toHaveLength(60);
    await remove(simulation, "Background");
    await simulation.advance(60);
    expect(await simulation.pods("app=web")).toHaveLength(0);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });
});
