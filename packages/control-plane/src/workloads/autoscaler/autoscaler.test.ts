import { Deployment } from "setpoint/kinds/apps/v1";
import { HorizontalPodAutoscaler } from "setpoint/kinds/autoscaling/v2";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };

async function scaledWorld(spec: object = {}): Promise<Simulation> {
  const simulation = await Simulation.start();
  await simulation.createDeployment("web", { replicas: 2 });
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  await simulation.client.create(HorizontalPodAutoscaler, {
    metadata: { name: "web", namespace: "default" },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 8, metrics: [cpu], ...spec },
  } as never);
  await simulation.advance(1);
  return simulation;
}

const load = (simulation: Simulation, percent: number) =>
  simulation.change(HorizontalPodAutoscaler, "web", {
    metadata: { annotations: { "simulation.setpoint.dev/metric.cpu": String(percent) } },
  });
const replicas = async (simulation: Simulation) => (await simulation.get(Deployment, "web")).spec?.replicas;
const conditions = async (simulation: Simulation) => {
  const { status } = await simulation.get(HorizontalPodAutoscaler, "web");
  return status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
};

describe("an autoscaler", () => {
  it("does nothing without its metric, and reports it", async () => {
    await using simulation = await scaledWorld();
    expect(await conditions(simulation)).toEqual([
      "AbleToScale=True SucceededGetScale",
      "ScalingActive=False FailedGetResourceMetric",
    ]);
    expect(await replicas(simulation)).toBe(2);
  });

  it("scales with its metric, at most to double or by four at once, within its bounds", async () => {
    await using simulation = await scaledWorld();
    await load(simulation, 100);
    await simulation.advance(1);
    expect(await replicas(simulation)).toBe(4);
    await load(simulation, 500);
    await simulation.advance(16);
    expect(await replicas(simulation)).toBe(8);
    await simulation.advance(16);
    expect(await conditions(simulation)).toContain("ScalingLimited=True TooManyReplicas");
    const { status } = await simulation.get(HorizontalPodAutoscaler, "web");
    expect(status).toMatchObject({ currentReplicas: 8, desiredReplicas: 8 });
    expect(status?.currentMetrics?.[0]?.resource?.current.averageUtilization).toBe(500);
  });

  it("does nothing if its metric is near its target", async () => {
    await using simulation = await scaledWorld();
    await load(simulation, 54);
    await simulation.advance(60);
    expect(await replicas(simulation)).toBe(2);
    expect(await conditions(simulation)).toContain("AbleToScale=True ReadyForNewScale");
  });

  it("scales down only after five minutes of lower recommendations", async () => {
    await using simulation = await scaledWorld();
    await load(simulation, 100);
    await simulation.advance(1);
    await load(simulation, 10);
    await simulation.advance(200);
    expect(await replicas(simulation)).toBe(4);
    expect(await conditions(simulation)).toContain("AbleToScale=True ScaleDownStabilized");
    await simulation.advance(130);
    expect(await replicas(simulation)).toBe(1);
  });

  it("respects the rates of its behaviour", async () => {
    const policies = [{ type: "Pods", value: 1, periodSeconds: 60 }];
    await using simulation = await scaledWorld({ behavior: { scaleUp: { policies, selectPolicy: "Max" } } });
    await load(simulation, 200);
    await simulation.advance(16);
    expect(await replicas(simulation)).toBe(3);
    await simulation.advance(31);
    expect(await replicas(simulation)).toBe(3);
    expect(await conditions(simulation)).toContain("ScalingLimited=True ScaleUpLimit");
    await simulation.advance(31);
    expect(await replicas(simulation)).toBe(4);
  });
});
