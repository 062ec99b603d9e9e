import { Deployment, ReplicaSet } from "setpoint/kinds/apps/v1";
import { describe, expect, it } from "vitest";
import { labelled, Simulation } from "../simulation.testing.js";

const REVISION = "deployment.kubernetes.io/revision";
const conditions = (deployment: Deployment): readonly string[] =>
  (deployment.status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort();

describe("a deployment", () => {
  it("becomes available with the status of the real controller", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 3 });
    await simulation.advance(0);
    const started = await simulation.get(Deployment, "web");
    expect(started.metadata.annotations).toEqual({ [REVISION]: "1" });
    expect(conditions(started)).toEqual([
      "Available False MinimumReplicasUnavailable",
      "Progressing True ReplicaSetUpdated",
    ]);
    await simulation.advance(5);
    const { status } = await simulation.get(Deployment, "web");
    expect(status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      terminatingReplicas: 0,
    });
    expect(status).not.toHaveProperty("unavailableReplicas");
    expect(conditions(await simulation.get(Deployment, "web"))).toEqual([
      "Available True MinimumReplicasAvailable",
      "Progressing True NewReplicaSetAvailable",
    ]);
    const [set] = await simulation.list(ReplicaSet);
    expect(await simulation.events("web")).toEqual([
      `ScalingReplicaSet: Scaled up replica set ${set!.metadata.name} from 0 to 3`,
    ]);
    expect(simulation.failures).toEqual([]);
  });

  it("rolls out within surge and unavailability, keeps its history and rolls back", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", {
      replicas: 4,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    });
    await simulation.advance(5);
    await simulation.change(Deployment, "web", { spec: { template: labelled("web", {}, "nginx:2").template } });
    for (let second = 0; second < 20; second++) {
      await simulation.advance(1);
      const { replicas = 0, availableReplicas = 0 } = (await simulation.get(Deployment, "web")).status ?? {};
      expect(replicas).toBeLessThanOrEqual(5);
      expect(availableReplicas).toBeGreaterThanOrEqual(3);
    }
    expect((await simulation.get(Deployment, "web")).metadata.annotations).toEqual({ [REVISION]: "2" });
    const sizes = async () =>
      (await simulation.list(ReplicaSet))
        .map(({ metadata, spec }) => `${metadata.annotations?.[REVISION]}: ${spec.replicas}`)
        .sort();
    expect(await sizes()).toEqual(["1: 0", "2: 4"]);
    await simulation.change(Deployment, "web", { spec: { template: labelled("web", {}, "nginx").template } });
    await simulation.advance(20);
    expect(await sizes()).toEqual(["2: 0", "3: 4"]);
    const back = (await simulation.list(ReplicaSet)).find(({ spec }) => spec.replicas === 4);
    expect(back?.metadata.annotations?.["deployment.kubernetes.io/revision-history"]).toBe("1");
    expect(simulation.failures).toEqual([]);
  });

  it("recreates its pods once the old ones are gone", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2, strategy: { type: "Recreate" } }, { "stop-after": "5s" });
    await simulation.advance(5);
    await simulation.change(Deployment, "web", { spec: { template: labelled("web", {}, "nginx:2").template } });
    await simulation.advance(3);
    expect((await simulation.pods()).map(({ spec }) => spec.containers[0]!.image)).toEqual(["nginx", "nginx"]);
    await simulation.advance(10);
    expect((await simulation.pods()).map(({ spec }) => spec.containers[0]!.image)).toEqual(["nginx:2", "nginx:2"]);
    expect((await simulation.get(Deployment, "web")).status?.availableReplicas).toBe(2);
  });

  it("waits while it is paused, but scales, and continues when it is resumed", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2 });
    await simulation.advance(5);
    const template = labelled("web", {}, "nginx:2").template;
    await simulation.change(Deployment, "web", { spec: { paused: true, replicas: 3, template } });
    await simulation.advance(5);
    const paused = await simulation.get(Deployment, "web");
    expect(paused.status).toMatchObject({ replicas: 3, availableReplicas: 3 });
    expect(conditions(paused)).toContain("Progressing Unknown DeploymentPaused");
    expect(await simulation.list(ReplicaSet)).toHaveLength(1);
    await simulation.change(Deployment, "web", { spec: { paused: false } });
    await simulation.advance(20);
    expect((await simulation.get(Deployment, "web")).status).toMatchObject({ updatedReplicas: 3, replicas: 3 });
    expect(conditions(await simulation.get(Deployment, "web"))).toContain("Progressing True NewReplicaSetAvailable");
  });

  it("exceeds its progress deadline if pods never become ready", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 1, progressDeadlineSeconds: 30 }, { failure: "image-pull" });
    await simulation.advance(25);
    expect(conditions(await simulation.get(Deployment, "web"))).toContain("Progressing True ReplicaSetUpdated");
    await simulation.advance(10);
    const late = await simulation.get(Deployment, "web");
    const condition = late.status?.conditions?.find(({ type }) => type === "Progressing");
    expect(condition).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
    expect(condition?.message).toMatch(/^ReplicaSet "web-\w+" has timed out progressing\.$/);
  });

  it("keeps no more old replica sets than its history allows", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 1, revisionHistoryLimit: 1 });
    for (const version of [2, 3, 4]) {
      await simulation.advance(20);
      await simulation.change(Deployment, "web", {
        spec: { template: labelled("web", {}, `nginx:${version}`).template },
      });
    }
    await simulation.advance(20);
    const revisions = (await simulation.list(ReplicaSet)).map(({ metadata }) => metadata.annotations?.[REVISION]);
    expect(revisions.sort()).toEqual(["3", "4"]);
  });

  it("uses another name if a replica set with its hash has another owner", async () => {
    await using simulation = await Simulation.start({ deployments: true });
    const { metadata } = await simulation.createDeployment("web", { replicas: 1 });
    await simulation.advance(1);
    const [set] = await simulation.list(ReplicaSet);
    await simulation.client.delete(Deployment, metadata.name, { namespace: "default", propagation: "Background" });
    await simulation.advance(1);
    const { name } = set!.metadata;
    const other = labelled("other");
    await simulation.client.create(ReplicaSet, { metadata: { name, namespace: "default" }, spec: other });
    await simulation.createDeployment("web", { replicas: 1 });
    await simulation.advance(10);
    const again = await simulation.get(Deployment, "web");
    expect(again.status?.collisionCount).toBe(1);
    expect((await simulation.list(ReplicaSet)).length).toBe(2);
  });

  it("increments a revision beyond JavaScript's safe integers", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(ReplicaSet, {
      metadata: {
        name: "old",
        namespace: "default",
        labels: { app: "web" },
        annotations: { "deployment.kubernetes.io/revision": "3546343826724305832" },
      },
      spec: { replicas: 1, ...labelled("web", {}, "old") },
    });
    await simulation.createDeployment("web", { replicas: 1 });
    await simulation.advance(10);
    const { metadata } = await simulation.get(Deployment, "web");
    expect(metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3546343826724305833");
  });
});
