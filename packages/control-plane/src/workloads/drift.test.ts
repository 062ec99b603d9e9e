import { isNotFound, type Kind, type KubeObject } from "setpoint";
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from "setpoint/kinds/apps/v1";
import { HorizontalPodAutoscaler } from "setpoint/kinds/autoscaling/v2";
import { CronJob, Job } from "setpoint/kinds/batch/v1";
import { EndpointSlice } from "setpoint/kinds/discovery.k8s.io/v1";
import { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import {
  Endpoints,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  Service,
} from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { labelled, Simulation } from "./simulation.testing.js";

const metadata = { name: "web", namespace: "default" };
/** Longer than any controller's own period. */
const LONG_SECONDS = 60;

/** Overwrites the status of an object, and expects that it is restored. */
async function expectRepair<T extends KubeObject & { readonly status?: object }>(
  simulation: Simulation,
  kind: Kind<T>,
  status: object,
  name = "web",
): Promise<void> {
  await simulation.advance(LONG_SECONDS);
  const before = (await simulation.get(kind, name)).status;
  const scope = kind.scope === "Cluster" ? {} : { namespace: "default" };
  const changed = await simulation.client.patch(
    kind,
    name,
    { type: "merge", body: { status } as never },
    { ...scope, subresource: "status" },
  );
  expect(changed.status).not.toEqual(before);
  await simulation.advance(LONG_SECONDS);
  expect((await simulation.get(kind, name)).status).toEqual(before);
}

/** Deletes a child of a controller, and expects that it is recreated. */
async function expectAnother<T extends KubeObject>(
  simulation: Simulation,
  kind: Kind<T>,
  labelSelector?: string,
): Promise<void> {
  await simulation.advance(LONG_SECONDS);
  const before = await simulation.list(kind, labelSelector);
  expect(before).not.toEqual([]);
  const [victim] = before;
  await simulation.client.delete(kind, victim!.metadata.name, { namespace: "default" });
  await simulation.advance(LONG_SECONDS);
  const after = await simulation.list(kind, labelSelector);
  expect(after).toHaveLength(before.length);
  expect(after.map(({ metadata: { uid } }) => uid)).not.toContain(victim!.metadata.uid);
}

const workload = { replicas: 2, ...labelled("web") };

describe("a status that somebody else has written is restored", () => {
  it("of a Deployment and of its ReplicaSet", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2 });
    await expectRepair(simulation, Deployment, { replicas: 9, readyReplicas: 9, availableReplicas: 9 });
    const [set] = await simulation.list(ReplicaSet);
    await expectRepair(simulation, ReplicaSet, { replicas: 7, fullyLabeledReplicas: 1 }, set!.metadata.name);
  });

  it("of a ReplicationController", async () => {
    await using simulation = await Simulation.start();
    const spec = { replicas: 1, selector: { app: "web" }, template: labelled("web").template };
    await simulation.client.create(ReplicationController, { metadata, spec });
    await expectRepair(simulation, ReplicationController, { replicas: 7 });
  });

  it("of a StatefulSet", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(StatefulSet, { metadata, spec: { ...workload, serviceName: "web" } });
    await expectRepair(simulation, StatefulSet, { replicas: 9, readyReplicas: 9, currentRevision: "none" });
  });

  it("of a DaemonSet", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(DaemonSet, { metadata, spec: labelled("web") });
    await expectRepair(simulation, DaemonSet, { numberReady: 9, desiredNumberScheduled: 9 });
  });

  it("of a running Job", async () => {
    await using simulation = await Simulation.start();
    const { template } = labelled("web", { "run-for": "10m" });
    const spec = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" as const } } };
    await simulation.client.create(Job, { metadata, spec });
    await expectRepair(simulation, Job, { active: 5, ready: 4 });
  });

  it("of a CronJob", async () => {
    await using simulation = await Simulation.start();
    const { template } = labelled("web", { "run-for": "30m" });
    const jobTemplate = {
      spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" as const } } },
    };
    await simulation.client.create(CronJob, {
      metadata,
      spec: { schedule: "* * * * *", concurrencyPolicy: "Forbid", jobTemplate },
    });
    await simulation.advance(120);
    const before = (await simulation.get(CronJob, "web")).status?.active;
    expect(before).toHaveLength(1);
    const ghost = { apiVersion: "batch/v1", kind: "Job", name: "ghost", namespace: "default", uid: "none" };
    await simulation.client.patch(
      CronJob,
      "web",
      { type: "merge", body: { status: { active: [ghost] } } },
      { namespace: "default", subresource: "status" },
    );
    await simulation.advance(LONG_SECONDS);
    expect((await simulation.get(CronJob, "web")).status?.active).not.toContainEqual(ghost);
  });

  it("of a PodDisruptionBudget", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2 });
    const spec = { minAvailable: 1, selector: labelled("web").selector };
    await simulation.client.create(PodDisruptionBudget, { metadata, spec });
    await expectRepair(simulation, PodDisruptionBudget, { disruptionsAllowed: 9, currentHealthy: 9 });
  });

  it("of a HorizontalPodAutoscaler", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2 });
    await simulation.client.create(HorizontalPodAutoscaler, {
      metadata: { ...metadata, annotations: { "simulation.setpoint.dev/metric.cpu": "50" } },
      spec: {
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
        ],
      },
    });
    await expectRepair(simulation, HorizontalPodAutoscaler, { currentReplicas: 9, desiredReplicas: 9 });
  });

  it("of a claim and its volume", async () => {
    await using simulation = await Simulation.start();
    const spec = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } };
    await simulation.client.create(PersistentVolumeClaim, { metadata, spec });
    await expectRepair(simulation, PersistentVolumeClaim, { phase: "Pending", capacity: null, accessModes: null });
    const { spec: bound } = await simulation.get(PersistentVolumeClaim, "web");
    const volume = bound!.volumeName!;
    await simulation.client.patch(
      PersistentVolume,
      volume,
      { type: "merge", body: { status: { phase: "Available" } } },
      { subresource: "status" },
    );
    await simulation.advance(LONG_SECONDS);
    expect((await simulation.get(PersistentVolume, volume)).status?.phase).toBe("Bound");
  });

  it("of a Pod and of a Node", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("web");
    await expectRepair(simulation, Pod, { phase: "Pending", podIP: null, podIPs: null });
    const states = async () =>
      (await simulation.get(Node, "node-1")).status?.conditions?.map(({ type, status }) => `${type}=${status}`);
    const before = await states();
    await simulation.client.patch(
      Node,
      "node-1",
      { type: "merge", body: { status: { conditions: [] } } },
      { subresource: "status" },
    );
    expect(await states()).not.toEqual(before);
    await simulation.advance(LONG_SECONDS);
    expect(await states()).toEqual(before);
  });
});

describe("a child that somebody else has deleted is recreated", () => {
  it("the ReplicaSet of a Deployment, and its pods", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2 });
    await expectAnother(simulation, ReplicaSet);
    await expectAnother(simulation, Pod, "app=web");
  });

  it("the pods and revisions of a StatefulSet", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(StatefulSet, { metadata, spec: { ...workload, serviceName: "web" } });
    await expectAnother(simulation, Pod, "app=web");
    await expectAnother(simulation, ControllerRevision);
  });

  it("the pods and revisions of a DaemonSet", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(DaemonSet, { metadata, spec: labelled("web") });
    await expectAnother(simulation, Pod, "app=web");
    await expectAnother(simulation, ControllerRevision);
  });

  it("the pod of a Job", async () => {
    await using simulation = await Simulation.start();
    const { template } = labelled("web", { "run-for": "30m" });
    const spec = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" as const } } };
    await simulation.client.create(Job, { metadata, spec });
    await expectAnother(simulation, Pod);
  });

  it("the slices and Endpoints of a Service", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("web");
    await simulation.client.create(Service, { metadata, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
    await expectAnother(simulation, EndpointSlice);
    await expectAnother(simulation, Endpoints);
  });
});

describe("a child that somebody else has changed is restored", () => {
  it("the size of a Deployment's ReplicaSet", async () => {
    await using simulation = await Simulation.start();
    await simulation.createDeployment("web", { replicas: 2 });
    await simulation.advance(LONG_SECONDS);
    const [set] = await simulation.list(ReplicaSet);
    await simulation.change(ReplicaSet, set!.metadata.name, { spec: { replicas: 5 } });
    await simulation.advance(LONG_SECONDS);
    expect((await simulation.get(ReplicaSet, set!.metadata.name)).spec.replicas).toBe(2);
    expect(await simulation.pods("app=web")).toHaveLength(2);
  });

  it("the slices and Endpoints of a Service", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("web");
    await simulation.client.create(Service, { metadata, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
    await simulation.advance(LONG_SECONDS);
    const [slice] = await simulation.list(EndpointSlice);
    const endpoints = await simulation.get(Endpoints, "web");
    await simulation.change(EndpointSlice, slice!.metadata.name, { endpoints: [], ports: [] });
    await simulation.change(Endpoints, "web", { subsets: null });
    await simulation.advance(LONG_SECONDS);
    const after = await simulation.get(EndpointSlice, slice!.metadata.name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const now = after ?? (await simulation.list(EndpointSlice))[0];
    expect(now).toMatchObject({ endpoints: slice!.endpoints, ports: slice!.ports });
    expect((await simulation.get(Endpoints, "web")).subsets).toEqual(endpoints.subsets);
  });

  it("the protection of a claim and of its volume", async () => {
    await using simulation = await Simulation.start();
    const spec = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } };
    await simulation.client.create(PersistentVolumeClaim, { metadata, spec });
    await simulation.advance(LONG_SECONDS);
    const { spec: bound } = await simulation.get(PersistentVolumeClaim, "web");
    await simulation.change(PersistentVolumeClaim, "web", { metadata: { finalizers: null } });
    await simulation.change(PersistentVolume, bound!.volumeName!, { metadata: { finalizers: null } });
    await simulation.advance(LONG_SECONDS);
    const claim = await simulation.get(PersistentVolumeClaim, "web");
    const volume = await simulation.get(PersistentVolume, bound!.volumeName!);
    expect(claim.metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]);
    expect(volume.metadata.finalizers).toEqual(["kubernetes.io/pv-protection"]);
  });
});

describe("a terminating namespace", () => {
  it("deletes all workloads, without errors of their controllers", async () => {
    await using simulation = await Simulation.start();
    const home = { name: "web", namespace: "team" };
    await simulation.client.create(Namespace, { metadata: { name: "team" } });
    await simulation.advance(1);
    const { client } = simulation;
    await client.create(Deployment, { metadata: home, spec: workload });
    await client.create(StatefulSet, { metadata: home, spec: { ...workload, serviceName: "web" } });
    await client.create(DaemonSet, { metadata: home, spec: labelled("web") });
    const { template } = labelled("web", { "run-for": "30m" });
    const spec = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" as const } } };
    await client.create(Job, { metadata: home, spec });
    await client.create(Service, { metadata: home, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
    await simulation.advance(LONG_SECONDS);
    expect(await simulation.pods()).toHaveLength(6);
    await client.delete(Namespace, "team");
    await simulation.advance(120);
    expect(await simulation.find(Namespace, "team")).toBeUndefined();
    expect(simulation.failures).toEqual([]);
  });
});
