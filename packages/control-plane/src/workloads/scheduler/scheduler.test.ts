import { Node, Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

const createNode = (simulation: Simulation, name: string, labels: Record<string, string> = {}) =>
  simulation.client.create(Node, { metadata: { name, labels } });
const nodeOf = async (simulation: Simulation, name: string) => (await simulation.get(Pod, name)).spec.nodeName;
const needing = (cpu: string) => ({ containers: [{ name: "a", image: "b", resources: { requests: { cpu } } }] });

describe("the scheduler", () => {
  it("spreads pods over nodes, and goes by selectors, taints and cordons", async () => {
    await using simulation = await Simulation.start();
    await createNode(simulation, "fast", { disk: "ssd" });
    await simulation.advance(1);
    for (const name of ["a", "b"]) await simulation.createPod(name);
    await simulation.advance(1);
    expect(new Set([await nodeOf(simulation, "a"), await nodeOf(simulation, "b")])).toEqual(
      new Set(["fast", "node-1"]),
    );
    await simulation.createPod("selecting", {}, { nodeSelector: { disk: "ssd" } });
    await simulation.change(Node, "node-1", { spec: { unschedulable: true } });
    await simulation.advance(1);
    await simulation.createPod("elsewhere");
    await simulation.createPod("nowhere", {}, { nodeSelector: { disk: "tape" } });
    await simulation.advance(1);
    expect(await nodeOf(simulation, "selecting")).toBe("fast");
    expect(await nodeOf(simulation, "elsewhere")).toBe("fast");
    const nowhere = await simulation.get(Pod, "nowhere");
    expect(nowhere.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: expect.stringContaining(
          "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector",
        ),
      }),
    );
    await createNode(simulation, "slow", { disk: "tape" });
    await simulation.advance(1);
    expect(await nodeOf(simulation, "nowhere")).toBe("slow");
  });

  it("counts what pods ask for, and places one when another makes room", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("large", {}, needing("20"));
    await simulation.createPod("too-large", {}, needing("20"));
    await simulation.advance(5);
    const waiting = await simulation.get(Pod, "too-large");
    expect(waiting.spec.nodeName).toBeUndefined();
    expect(waiting.status?.conditions?.[0]?.message).toBe("0/1 nodes are available: 1 Insufficient cpu.");
    await simulation.client.delete(Pod, "large", { namespace: "default" });
    await simulation.advance(20);
    expect(await nodeOf(simulation, "too-large")).toBe("node-1");
  });
});
