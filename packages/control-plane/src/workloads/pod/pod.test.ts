import { Node, Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

const container = (pod: Pod) => pod.status?.containerStatuses?.[0];
const conditions = (pod: Pod): Readonly<Record<string, string>> =>
  Object.fromEntries((pod.status?.conditions ?? []).map(({ type, status }) => [type, status]));

describe("a simulated pod", () => {
  it("is scheduled, created, started and ready, each after its delay", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { "start-after": "5s", "ready-after": "10s" });
    await simulation.advance(1);
    const created = await simulation.get(Pod, "a");
    expect(created.spec.nodeName).toBe("node-1");
    expect(created.status).toMatchObject({ phase: "Pending" });
    expect(container(created)?.state).toEqual({ waiting: { reason: "ContainerCreating" } });
    await simulation.advance(5);
    const running = await simulation.get(Pod, "a");
    expect(running.status).toMatchObject({ phase: "Running", podIP: expect.stringMatching(/^10\./) });
    expect(conditions(running)).toMatchObject({ Initialized: "True", Ready: "False", ContainersReady: "False" });
    expect(running.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      reason: "ContainersNotReady",
      message: "containers with unready status: [main]",
    });
    await simulation.advance(10);
    expect(conditions(await simulation.get(Pod, "a"))).toMatchObject({ Ready: "True", ContainersReady: "True" });
    expect(await simulation.events("a")).toContain("Scheduled: Successfully assigned default/a to node-1");
  });

  it("runs its init containers one after the other", async () => {
    await using simulation = await Simulation.start();
    const inits = ["one", "two"].map((name) => ({ name, image: "init" }));
    await simulation.createPod("a", { "init-for": "10s" }, { initContainers: inits });
    await simulation.advance(5);
    const first = await simulation.get(Pod, "a");
    expect(first.status?.phase).toBe("Pending");
    expect(first.status?.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})[0])).toEqual([
      "running",
      "waiting",
    ]);
    expect(conditions(first).Initialized).toBe("False");
    await simulation.advance(30);
    const ready = await simulation.get(Pod, "a");
    expect(ready.status?.initContainerStatuses?.map(({ state }) => state?.terminated?.reason)).toEqual([
      "Completed",
      "Completed",
    ]);
    expect(conditions(ready)).toMatchObject({ Initialized: "True", Ready: "True" });
  });

  it("crashes repeatedly with the kubelet's back-off, and recovers after the given number of failures", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { failure: "crash-loop", failures: "3" });
    await simulation.advance(8);
    const paused = await simulation.get(Pod, "a");
    expect(paused.status?.phase).toBe("Running");
    expect(container(paused)).toMatchObject({
      ready: false,
      restartCount: 1,
      state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container=main" } },
      lastState: { terminated: { exitCode: 1, reason: "Error" } },
    });
    await simulation.advance(90);
    const well = await simulation.get(Pod, "a");
    expect(container(well)).toMatchObject({ ready: true, restartCount: 3 });
    expect(conditions(well).Ready).toBe("True");
  });

  it("runs out of memory", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { failure: "out-of-memory", "run-for": "5s" });
    await simulation.advance(60);
    const killed = container(await simulation.get(Pod, "a"))?.lastState?.terminated;
    expect(killed).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
  });

  it("fails to pull its image, until it succeeds", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { failure: "image-pull", failures: "2" });
    await simulation.advance(2);
    expect(container(await simulation.get(Pod, "a"))?.state?.waiting?.reason).toBe("ErrImagePull");
    await simulation.advance(15);
    const waiting = await simulation.get(Pod, "a");
    expect(waiting.status?.phase).toBe("Pending");
    expect(container(waiting)?.state?.waiting?.reason).toBe("ImagePullBackOff");
    await simulation.advance(30);
    expect(conditions(await simulation.get(Pod, "a")).Ready).toBe("True");
  });

  it("is evicted by its node", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { failure: "eviction", "run-for": "20s" });
    await simulation.advance(10);
    expect(conditions(await simulation.get(Pod, "a")).Ready).toBe("True");
    await simulation.advance(20);
    const { status } = await simulation.get(Pod, "a");
    expect(status).toMatchObject({ phase: "Failed", reason: "Evicted" });
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "DisruptionTarget", status: "True" }));
  });

  it("ends according to its restart policy", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("good", { "run-for": "2s" }, { restartPolicy: "Never" });
    await simulation.createPod("bad", { "run-for": "2s", "exit-code": "3" }, { restartPolicy: "Never" });
    await simulation.createPod("again", { "run-for": "2s", "exit-code": "3" }, { restartPolicy: "OnFailure" });
    await simulation.advance(20);
    expect((await simulation.get(Pod, "good")).status?.phase).toBe("Succeeded");
    const bad = await simulation.get(Pod, "bad");
    expect(bad.status?.phase).toBe("Failed");
    expect(container(bad)?.state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
    expect(container(await simulation.get(Pod, "again"))?.restartCount).toBeGreaterThan(0);
  });

  it("takes its time to stop, at most its grace period", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("slow", { "stop-after": "1h" }, { terminationGracePeriodSeconds: 20 });
    await simulation.advance(5);
    await simulation.client.delete(Pod, "slow", { namespace: "default" });
    await simulation.advance(15);
    expect((await simulation.get(Pod, "slow")).metadata.deletionTimestamp).toBeDefined();
    await simulation.advance(10);
    expect(await simulation.find(Pod, "slow")).toBeUndefined();
  });

  it("is evicted from a lost node after its toleration, and deleted when the node is back", async () => {
    await using simulation = await Simulation.start();
    const tolerations = [
      { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 },
    ] as const;
    await simulation.createPod("a", {}, { tolerations });
    await simulation.advance(5);
    const lost = "simulation.setpoint.dev/node";
    await simulation.change(Node, "node-1", { metadata: { annotations: { [lost]: "lost" } } });
    await simulation.advance(5);
    const node = await simulation.get(Node, "node-1");
    expect(node.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
    });
    expect(conditions(await simulation.get(Pod, "a")).Ready).toBe("False");
    await simulation.createPod("b");
    await simulation.advance(30);
    expect((await simulation.get(Pod, "b")).spec.nodeName).toBeUndefined();
    expect((await simulation.get(Pod, "a")).metadata.deletionTimestamp).toBeUndefined();
    await simulation.advance(60);
    expect((await simulation.get(Pod, "a")).metadata.deletionTimestamp).toBeDefined();
    await simulation.change(Node, "node-1", { metadata: { annotations: { [lost]: null } } });
    await simulation.advance(60);
    expect(await simulation.find(Pod, "a")).toBeUndefined();
    expect(conditions(await simulation.get(Pod, "b")).Ready).toBe("True");
    expect(simulation.failures).toEqual([]);
  });
});
