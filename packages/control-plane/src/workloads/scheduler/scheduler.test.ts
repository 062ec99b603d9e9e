import { Deployment } from "setpoint/kinds/apps/v1";
import { Node, Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

const createNode = (simulation: Simulation, name: string, labels: Record<string, string> = {}) =>
  simulation.client.create(Node, { metadata: { name, labels } });
const nodeOf = async (simulation: Simulation, name: string) => (await simulation.get(Pod, name)).spec.nodeName;
const needing = (cpu: string) => ({ containers: [{ name: "a", image: "b", resources: { requests: { cpu } } }] });

describe("the scheduler", () => {
  it("spreads pods over nodes, and respects selectors, taints and cordons", async () => {
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

  it("counts the requests of pods, and schedules one when another makes room", async () => {
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

  it("respects affinity and anti-affinity, whichever pod came first", async () => {
    await using simulation = await Simulation.start();
    const zone = (name: string) => ({ zone: name, "kubernetes.io/hostname": name });
    for (const name of ["east", "west"]) await createNode(simulation, name, zone(name));
    await simulation.change(Node, "node-1", { spec: { unschedulable: true } });
    await simulation.advance(1);
    const term = (app: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey: "zone" });
    const apart = (app: string) => ({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(app)] } },
    });
    const beside = (app: string) => ({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(app)] } },
    });
    await simulation.createPod("db", {}, apart("web"));
    await simulation.advance(1);
    const east = await nodeOf(simulation, "db");
    await simulation.createPod("web");
    await simulation.advance(1);
    expect(await nodeOf(simulation, "web")).not.toBe(east);
    await simulation.createPod("cache", {}, beside("db"));
    await simulation.createPod("peer", {}, beside("peer"));
    await simulation.createPod("lonely", {}, beside("nobody"));
    await simulation.createPod(
      "shy",
      {},
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("db"), term("web")] } } },
    );
    await simulation.advance(2);
    expect(await nodeOf(simulation, "cache")).toBe(east);
    expect(await nodeOf(simulation, "peer")).toBeDefined();
    const messageOf = async (name: string) => (await simulation.get(Pod, name)).status?.conditions?.[0]?.message;
    expect(await messageOf("lonely")).toBe(
      "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod affinity rules.",
    );
    expect(await messageOf("shy")).toBe(
      "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod anti-affinity rules.",
    );
  });

  it("spreads the pods of a Deployment over zones as required", async () => {
    await using simulation = await Simulation.start();
    await simulation.change(Node, "node-1", { spec: { unschedulable: true } });
    for (const [name, zone] of [
      ["a", "east"],
      ["b", "east"],
      ["c", "west"],
    ] as const)
      await createNode(simulation, name, { zone });
    await simulation.advance(1);
    const selector = { matchLabels: { app: "web" } };
    const template = {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [{ name: "main", image: "web" }],
        topologySpreadConstraints: [
          { topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: selector } as const,
        ],
      },
    };
    await simulation.createDeployment("web", { replicas: 6, template });
    await simulation.advance(5);
    const places = (await simulation.pods("app=web")).map(({ spec }) => (spec.nodeName === "c" ? "west" : "east"));
    expect(places.sort()).toEqual(["east", "east", "east", "west", "west", "west"]);
    await simulation.change(Node, "c", { spec: { unschedulable: true } });
    await simulation.change(Deployment, "web", { spec: { replicas: 9 } });
    await simulation.advance(5);
    const waiting = (await simulation.pods("app=web")).filter(({ spec }) => !spec.nodeName);
    expect(waiting).toHaveLength(2);
    expect(waiting[0]?.status?.conditions?.[0]?.message).toContain(
      "node(s) didn't match pod topology spread constraints",
    );
  });
});
