import { ControllerRevision, StatefulSet } from "setpoint/kinds/apps/v1";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { revisionData, revisionHash } from "../controller-revision.js";
import { labelled, Simulation } from "../simulation.testing.js";

const create = (simulation: Simulation, spec: Partial<StatefulSet["spec"]> = {}, script: Record<string, string> = {}) =>
  simulation.client.create(StatefulSet, {
    metadata: { name: "db", namespace: "default" },
    spec: { serviceName: "db", ...labelled("db", script), ...spec },
  });
const names = async (simulation: Simulation): Promise<readonly string[]> =>
  (await simulation.pods()).map(({ metadata }) => metadata.name);
const images = async (simulation: Simulation): Promise<readonly string[]> =>
  (await simulation.pods()).map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]!.image}`);
const claimTemplate = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
} as const;
const image = (version: string) => ({ spec: { template: labelled("db", {}, version).template } });

describe("a stateful set", () => {
  it("names its revisions as the real controller does", () => {
    const spec = {
      containers: [
        {
          image: "nginx",
          imagePullPolicy: "Always",
          name: "main",
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ],
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    } as const;
    expect(revisionHash(revisionData({ metadata: { labels: { app: "db" } }, spec }), 0)).toBe("67b454c9b6");
  });

  it("starts its pods in order, each with its claims, and reports its status", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, { replicas: 3, volumeClaimTemplates: [claimTemplate as never] });
    await simulation.advance(0);
    expect(await names(simulation)).toEqual(["db-0"]);
    await simulation.advance(2);
    expect(await names(simulation)).toEqual(["db-0", "db-1", "db-2"]);
    await simulation.advance(5);
    const set = await simulation.get(StatefulSet, "db");
    const [revision] = await simulation.list(ControllerRevision);
    expect(set.status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: revision!.metadata.name,
      updateRevision: revision!.metadata.name,
      collisionCount: 0,
    });
    const claims = await simulation.list(PersistentVolumeClaim);
    expect(claims.map(({ metadata }) => [metadata.name, metadata.labels])).toEqual(
      [0, 1, 2].map((ordinal) => [`data-db-${ordinal}`, { app: "db" }]),
    );
    const pod = await simulation.get(Pod, "db-1");
    expect(pod.metadata.labels).toEqual({
      app: "db",
      "apps.kubernetes.io/pod-index": "1",
      "controller-revision-hash": revision!.metadata.name,
      "statefulset.kubernetes.io/pod-name": "db-1",
    });
    expect(pod.spec).toMatchObject({ hostname: "db-1", subdomain: "db" });
    expect(pod.spec.volumes).toContainEqual({ name: "data", persistentVolumeClaim: { claimName: "data-db-1" } });
    expect(simulation.failures).toEqual([]);
  });

  it("starts all pods at once if allowed, and shrinks from the last one", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, { replicas: 3, podManagementPolicy: "Parallel" }, { "ready-after": "1h" });
    await simulation.advance(0);
    expect(await names(simulation)).toEqual(["db-0", "db-1", "db-2"]);
    await using ordered = await Simulation.start();
    await create(ordered, { replicas: 3 }, { "stop-after": "2s" });
    await ordered.advance(10);
    await ordered.change(StatefulSet, "db", { spec: { replicas: 1 } });
    await ordered.advance(1);
    const going = (await ordered.pods()).filter(({ metadata }) => metadata.deletionTimestamp);
    expect(going.map(({ metadata }) => metadata.name)).toEqual(["db-2"]);
    await ordered.advance(10);
    expect(await names(ordered)).toEqual(["db-0"]);
  });

  it("updates from the last pod down to its partition, and completes when that is removed", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } });
    await simulation.advance(10);
    await simulation.change(StatefulSet, "db", image("nginx:2"));
    await simulation.advance(10);
    expect(await images(simulation)).toEqual(["db-0 nginx", "db-1 nginx", "db-2 nginx:2"]);
    const { status } = await simulation.get(StatefulSet, "db");
    expect(status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
    expect(status?.currentRevision).not.toBe(status?.updateRevision);
    await simulation.client.delete(Pod, "db-0", { namespace: "default" });
    await simulation.advance(5);
    expect((await images(simulation))[0]).toBe("db-0 nginx");
    await simulation.change(StatefulSet, "db", { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
    await simulation.advance(20);
    expect(await images(simulation)).toEqual(["db-0 nginx:2", "db-1 nginx:2", "db-2 nginx:2"]);
    const done = (await simulation.get(StatefulSet, "db")).status;
    expect(done).toMatchObject({ currentReplicas: 3, updatedReplicas: 3, currentRevision: done!.updateRevision });
    await simulation.change(StatefulSet, "db", image("nginx"));
    await simulation.advance(20);
    expect((await simulation.list(ControllerRevision)).map(({ revision }) => revision).sort()).toEqual([2, 3]);
  });

  it("leaves updates to whoever deletes pods with OnDelete", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, { replicas: 2, updateStrategy: { type: "OnDelete" } });
    await simulation.advance(10);
    await simulation.change(StatefulSet, "db", image("nginx:2"));
    await simulation.advance(10);
    expect(await images(simulation)).toEqual(["db-0 nginx", "db-1 nginx"]);
    await simulation.client.delete(Pod, "db-1", { namespace: "default" });
    await simulation.advance(10);
    expect(await images(simulation)).toEqual(["db-0 nginx", "db-1 nginx:2"]);
  });

  it("deletes claims with the pods of a smaller size, and with itself, by its retention policy", async () => {
    await using simulation = await Simulation.start();
    await create(simulation, {
      replicas: 2,
      volumeClaimTemplates: [claimTemplate as never],
      persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" },
    });
    await simulation.advance(10);
    const owners = async () =>
      (await simulation.list(PersistentVolumeClaim)).map(
        ({ metadata }) => `${metadata.name} ${metadata.ownerReferences?.map(({ kind }) => kind).join() ?? ""}`,
      );
    expect(await owners()).toEqual(["data-db-0 StatefulSet", "data-db-1 StatefulSet"]);
    await simulation.change(StatefulSet, "db", { spec: { replicas: 1 } });
    await simulation.advance(20);
    expect(await owners()).toEqual(["data-db-0 StatefulSet"]);
    await simulation.client.delete(StatefulSet, "db", { namespace: "default", propagation: "Background" });
    await simulation.advance(60);
    expect(await owners()).toEqual([]);
  });
});
