import { DaemonSet } from "setpoint/kinds/apps/v1";
import { Node } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { labelled, Simulation } from "../simulation.testing.js";

const places = async (simulation: Simulation): Promise<readonly string[]> =>
  (await simulation.pods()).map(({ spec }) => `${spec.nodeName} ${spec.containers[0]!.image}`).sort();

async function withNodes(...names: readonly string[]): Promise<Simulation> {
  const simulation = await Simulation.start();
  for (const name of names) await simulation.client.create(Node, { metadata: { name, labels: { name } } });
  await simulation.advance(1);
  return simulation;
}

const create = (simulation: Simulation, more: Partial<DaemonSet["spec"]> = {}, template = labelled("agent")) =>
  simulation.client.create(DaemonSet, {
    metadata: { name: "agent", namespace: "default" },
    spec: { ...template, ...more },
  });

describe("a daemon set", () => {
  it("has a pod on each matching node, including new ones, and reports its status", async () => {
    await using simulation = await withNodes("a", "b");
    await simulation.change(Node, "b", { spec: { taints: [{ key: "only", value: "x", effect: "NoSchedule" }] } });
    await create(simulation);
    await simulation.advance(5);
    expect(await places(simulation)).toEqual(["a nginx", "node-1 nginx"]);
    expect((await simulation.get(DaemonSet, "agent")).status).toEqual({
      currentNumberScheduled: 2,
      numberMisscheduled: 0,
      desiredNumberScheduled: 2,
      numberReady: 2,
      observedGeneration: 1,
      updatedNumberScheduled: 2,
      numberAvailable: 2,
    });
    await simulation.client.create(Node, { metadata: { name: "c" } });
    await simulation.change(Node, "a", { spec: { taints: [{ key: "only", value: "x", effect: "NoExecute" }] } });
    await simulation.advance(10);
    expect(await places(simulation)).toEqual(["c nginx", "node-1 nginx"]);
    expect(simulation.failures).toEqual([]);
  });

  it("ignores a cordon", async () => {
    await using simulation = await withNodes();
    await simulation.change(Node, "node-1", { spec: { unschedulable: true } });
    await create(simulation);
    await simulation.advance(5);
    expect(await places(simulation)).toEqual(["node-1 nginx"]);
  });

  it("updates node by node, or with a surge pod", async () => {
    for (const rollingUpdate of [{ maxUnavailable: 1 }, { maxSurge: 1, maxUnavailable: 0 }]) {
      await using simulation = await withNodes("a", "b");
      await create(simulation, { updateStrategy: { type: "RollingUpdate", rollingUpdate } });
      await simulation.advance(5);
      await simulation.change(DaemonSet, "agent", { spec: { template: labelled("agent", {}, "nginx:2").template } });
      for (let second = 0; second < 20; second++) {
        await simulation.advance(1);
        const { numberAvailable = 0 } = (await simulation.get(DaemonSet, "agent")).status ?? {};
        expect(numberAvailable).toBeGreaterThanOrEqual(2);
      }
      expect(await places(simulation)).toEqual(["a nginx:2", "b nginx:2", "node-1 nginx:2"]);
    }
  });

  it("stays on a node that is not ready, even if its template tolerates that only for a while", async () => {
    await using simulation = await withNodes();
    const wait = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
    const { selector, template } = labelled("agent");
    const spec = { ...template.spec, tolerations: [wait] };
    await create(simulation, {}, { selector, template: { ...template, spec } } as never);
    await simulation.advance(5);
    const [pod] = await simulation.pods();
    const { tolerationSeconds: _seconds, ...without } = wait;
    expect(pod!.spec.tolerations?.filter(({ key }) => key === wait.key)).toEqual([without]);
  });
});
