import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import {
  apps,
  change,
  create,
  labelled,
  living,
  makeReady,
  removePods,
  replicaSets,
  settled,
} from "./settled-workloads.js";

const path = (s: Session): string => `${apps(s, "deployments")}/a`;
const condition = (object: Body, type: string): Body =>
  object.status?.conditions?.find((each: Body) => each.type === type) ?? {};
const isProgressing = (reason: string) => (object: Body) => condition(object, "Progressing").reason === reason;
const isObserved = (object: Body): boolean => object.status?.observedGeneration === object.metadata.generation;

/** Created and complete. */
async function rolledOut(s: Session, replicas: number, spec: object = {}): Promise<void> {
  await create(s, "deployments", { replicas, ...spec });
  await makeReady(s, await living(s, replicas));
  await s.until(
    path(s),
    ({ body }) => body.status?.availableReplicas === replicas && isProgressing("NewReplicaSetAvailable")(body),
  );
  await replicaSets(s, (sets) => sets.length === 1);
}

const ofImage = (image: string) => (pod: Body) => pod.spec.containers[0].image === image;

/** Makes pods of an image ready as they appear, until the rollout is complete. */
async function rollOn(s: Session, image: string): Promise<void> {
  const isComplete = (object: Body): boolean =>
    isObserved(object) &&
    isProgressing("NewReplicaSetAvailable")(object) &&
    object.status.updatedReplicas === object.status.replicas;
  for (let tries = 0; tries < 60; tries++) {
    const { body } = await s.get(`/api/v1/namespaces/${s.namespace}/pods`, { silent: true });
    const waiting = body.items.filter(
      (pod: Body) => ofImage(image)(pod) && pod.status.phase === "Pending" && !pod.metadata.deletionTimestamp,
    );
    await makeReady(s, waiting);
    const { body: deployment } = await s.get(path(s), { silent: true });
    if (isComplete(deployment) && deployment.status.unavailableReplicas === undefined) return;
    await s.until(
      path(s),
      ({ body: now }) => now.metadata.resourceVersion !== deployment.metadata.resourceVersion || isComplete(now),
    );
  }
}

const sizes = (sets: readonly Body[]): unknown =>
  sets.map(({ metadata, spec }) => ({
    annotations: metadata.annotations,
    replicas: spec.replicas,
    minReadySeconds: spec.minReadySeconds,
  }));

export const deploymentCases = area("deployments", {
  "pods that are not ready": async (s) => {
    await create(s, "deployments", { replicas: 2 });
    await living(s, 2);
    await replicaSets(s, (sets) => sets.length === 1);
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 2);
  },
  "all pods ready": async (s) => {
    await rolledOut(s, 2);
    const { metadata } = await settled(s, path(s), "status", ({ status }) => status?.availableReplicas === 2);
    s.note("annotations", metadata.annotations);
  },
  "one pod of two is ready": async (s) => {
    await create(s, "deployments", { replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 1 } } });
    const all = await living(s, 2);
    await replicaSets(s, (sets) => sets.length === 1);
    await makeReady(s, all.slice(0, 1));
    await settled(s, path(s), "status", ({ status }) => status?.availableReplicas === 1);
  },
  "its replica set": async (s) => {
    await rolledOut(s, 1);
    const [set] = await replicaSets(s, ([first]) => first?.status?.availableReplicas === 1);
    const { managedFields: _, resourceVersion: __, ...metadata } = set.metadata;
    s.note("replica set", { metadata, spec: set.spec, status: set.status });
  },
  "scaled up, then down": async (s) => {
    await rolledOut(s, 1);
    await change(s, "deployments", { spec: { replicas: 3 } });
    await makeReady(s, await living(s, 3));
    await settled(s, path(s), "up", (object) => isObserved(object) && object.status.availableReplicas === 3);
    await change(s, "deployments", { spec: { replicas: 1 } });
    await settled(s, path(s), "down", (object) => isObserved(object) && object.status.replicas === 1);
    s.note("sets", sizes(await replicaSets(s, ([set]) => set?.spec.replicas === 1)));
  },
  "scaled to nothing": async (s) => {
    await rolledOut(s, 2);
    await change(s, "deployments", { spec: { replicas: 0 } });
    await settled(s, path(s), "status", (object) => isObserved(object) && !object.status.replicas);
  },
  "a rollout begins": async (s) => {
    await rolledOut(s, 4, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    await change(s, "deployments", { spec: { template: labelled("two").template } });
    await living(s, 2, ofImage("two"));
    s.note("sets", sizes(await replicaSets(s, (sets) => sets.some(({ spec }) => spec.replicas === 3))));
    await settled(
      s,
      path(s),
      "status",
      (object) => isObserved(object) && object.status.updatedReplicas === 2 && object.status.replicas === 5,
    );
  },
  "a rollout completes": async (s) => {
    await rolledOut(s, 3);
    await change(s, "deployments", { spec: { template: labelled("two").template } });
    await rollOn(s, "two");
    s.note("sets", sizes(await replicaSets(s, (sets) => sets.some(({ spec }) => spec.replicas === 0))));
    await settled(
      s,
      path(s),
      "status",
      (object) => object.status.updatedReplicas === 3 && object.status.replicas === 3,
    );
  },
  "a rollout without surge": async (s) => {
    await rolledOut(s, 2, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } });
    await change(s, "deployments", { spec: { template: labelled("two").template } });
    await living(s, 1, ofImage("two"));
    s.note(
      "sets",
      sizes(await replicaSets(s, (sets) => sets.length === 2 && sets.every(({ spec }) => spec.replicas === 1))),
    );
    await rollOn(s, "two");
    await settled(
      s,
      path(s),
      "status",
      (object) => object.status.updatedReplicas === 2 && object.status.replicas === 2,
    );
  },
  "back to an earlier template": async (s) => {
    await rolledOut(s, 1);
    await change(s, "deployments", { spec: { template: labelled("two").template } });
    await rollOn(s, "two");
    await change(s, "deployments", { spec: { template: labelled("one").template } });
    await rollOn(s, "one");
    s.note(
      "sets",
      sizes(
        await replicaSets(
          s,
          (sets) => sets.length === 2 && sets.filter(({ spec }) => spec.replicas === 1).length === 1,
        ),
      ),
    );
    const { metadata } = await settled(
      s,
      path(s),
      "status",
      ({ status }) => status?.availableReplicas === 1 && status.replicas === 1,
    );
    s.note("annotations", metadata.annotations);
  },
  "recreated once the old pods are gone": async (s) => {
    await rolledOut(s, 2, { strategy: { type: "Recreate" } });
    await change(s, "deployments", { spec: { template: labelled("two").template } });
    await makeReady(s, await living(s, 2, ofImage("two")));
    await replicaSets(s, (sets) => sets.length === 2);
    await settled(
      s,
      path(s),
      "status",
      (object) => object.status.availableReplicas === 2 && isProgressing("NewReplicaSetAvailable")(object),
    );
  },
  "paused and resumed": async (s) => {
    await rolledOut(s, 1);
    await change(s, "deployments", { spec: { paused: true, template: labelled("two").template } });
    await settled(s, path(s), "paused", (object) => isObserved(object) && isProgressing("DeploymentPaused")(object));
    await change(s, "deployments", { spec: { paused: false } });
    await rollOn(s, "two");
    await replicaSets(s, (sets) => sets.length === 2);
    await settled(s, path(s), "resumed", ({ status }) => status?.updatedReplicas === 1 && status.replicas === 1);
  },
  "its deadline passes": async (s) => {
    await create(s, "deployments", { replicas: 1, progressDeadlineSeconds: 2 });
    await living(s, 1);
    await replicaSets(s, (sets) => sets.length === 1);
    const isLate = isProgressing("ProgressDeadlineExceeded");
    await settled(s, path(s), "late", (object) => isLate(object) && object.status.replicas === 1);
    await makeReady(s, await living(s, 1));
    await settled(s, path(s), "after all", isProgressing("NewReplicaSetAvailable"));
  },
  "without a deadline": async (s) => {
    await create(s, "deployments", { replicas: 1, progressDeadlineSeconds: 2_147_483_647 });
    await makeReady(s, await living(s, 1));
    await settled(s, path(s), "status", ({ status }) => status?.availableReplicas === 1);
  },
  "pods that must be ready for a while": async (s) => {
    await create(s, "deployments", { replicas: 1, minReadySeconds: 3 });
    await makeReady(s, await living(s, 1));
    await replicaSets(s, (sets) => sets.length === 1);
    await settled(s, path(s), "available", ({ status }) => status?.availableReplicas === 1);
  },
  "annotations are copied to its replica set": async (s) => {
    await rolledOut(s, 1);
    await change(s, "deployments", { metadata: { annotations: { note: "b" } } });
    s.note("sets", sizes(await replicaSets(s, ([set]) => set?.metadata.annotations.note === "b")));
  },
  "a replica set that nobody has": async (s) => {
    await rolledOut(s, 1);
    await s.delete(path(s), { propagationPolicy: "Orphan" }, { silent: true });
    await s.until(path(s), ({ status }) => status === 404);
    await replicaSets(s, ([set]) => set?.metadata.ownerReferences === undefined);
    await create(s, "deployments", { replicas: 1 });
    const [set] = await replicaSets(s, ([first]) => first?.metadata.ownerReferences !== undefined);
    s.note(
      "owners",
      set.metadata.ownerReferences.map(({ kind, name, controller }: Body) => ({ kind, name, controller })),
    );
    await settled(s, path(s), "status", ({ status }) => status?.availableReplicas === 1);
  },
  "history beyond its limit": async (s) => {
    await rolledOut(s, 1, { revisionHistoryLimit: 0 });
    await change(s, "deployments", { spec: { template: labelled("two").template } });
    await rollOn(s, "two");
    s.note("sets", sizes(await replicaSets(s, (sets) => sets.length === 1)));
  },
  "deleted in the foreground": async (s) => {
    await rolledOut(s, 1);
    await s.delete(path(s), { propagationPolicy: "Foreground" }, { silent: true });
    const left = await s.until(`/api/v1/namespaces/${s.namespace}/pods`, ({ body }) => body.items?.length === 0);
    s.note("pods left", left.body.items.length);
    await removePods(s, left.body.items);
    s.note("deployment", (await s.until(path(s), ({ status }) => status === 404)).status);
  },
});
