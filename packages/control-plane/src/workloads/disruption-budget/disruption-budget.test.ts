import { isTooManyRequests } from "setpoint/client";
import { Deployment } from "setpoint/kinds/apps/v1";
import { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import { Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

const budget = (simulation: Simulation, spec: Partial<PodDisruptionBudget["spec"] & object>) =>
  simulation.client.create(PodDisruptionBudget, {
    metadata: { name: "web", namespace: "default" },
    spec: { selector: { matchLabels: { app: "web" } }, ...spec },
  });
const evict = (simulation: Simulation, name: string) =>
  simulation.client.createSubresource(Pod, name, {
    subresource: "eviction",
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } },
    namespace: "default",
  });

describe("a disruption budget", () => {
  it("counts healthy pods, allows what is left over and refuses more with 429", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 3 });
    await budget(simulation, { maxUnavailable: 1 });
    await simulation.advance(5);
    const { status } = await simulation.get(PodDisruptionBudget, "web");
    expect(status).toMatchObject({
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      observedGeneration: 1,
      conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods", message: "" }],
    });
    const [first, second] = await simulation.pods("app=web");
    await evict(simulation, first!.metadata.name);
    expect((await simulation.get(Pod, first!.metadata.name)).status?.conditions).toContainEqual({
      type: "DisruptionTarget",
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: expect.any(String),
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
    });
    const refused = await evict(simulation, second!.metadata.name).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isTooManyRequests(refused)).toBe(true);
    expect(String(refused)).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    await simulation.advance(10);
    expect((await simulation.get(PodDisruptionBudget, "web")).status).toMatchObject({ disruptionsAllowed: 1 });
    expect((await simulation.get(PodDisruptionBudget, "web")).status).not.toHaveProperty("disruptedPods");
    await evict(simulation, second!.metadata.name);
    expect(await simulation.find(Deployment, "web")).toBeDefined();
  });

  it("allows nothing while pods are not ready, and reports it", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2 }, { failure: "never-ready" });
    await budget(simulation, { minAvailable: "50%" });
    await simulation.advance(5);
    expect((await simulation.get(PodDisruptionBudget, "web")).status).toMatchObject({
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 1,
      expectedPods: 2,
      conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" }],
    });
  });

  it("counts no pods without a controller if it depends on their scale", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("web");
    await budget(simulation, { maxUnavailable: 1 });
    await simulation.advance(5);
    expect((await simulation.get(PodDisruptionBudget, "web")).status).toMatchObject({
      disruptionsAllowed: 0,
      expectedPods: 0,
      conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" }],
    });
    expect((await simulation.events("web")).join()).toContain(
      "UnmanagedPods: Pods selected by this PodDisruptionBudget",
    );
  });
});
