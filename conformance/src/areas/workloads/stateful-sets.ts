import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { apps, change, create, labelled, living, makeReady, settled } from "./settled-workloads.js";

const path = (s: Session): string => `${apps(s, "statefulsets")}/a`;
const pod = (s: Session, ordinal: number): string => `/api/v1/namespaces/${s.namespace}/pods/a-${ordinal}`;
const claim = {
  metadata: { name: "data", labels: { own: "yes" } },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const isObserved = (object: Body): boolean => object.status?.observedGeneration === object.metadata.generation;
const described = ({ metadata, spec }: Body): unknown => ({
  labels: metadata.labels,
  owners: metadata.ownerReferences,
  hostname: spec.hostname,
  subdomain: spec.subdomain,
  claims: spec.volumes?.filter((volume: Body) => volume.persistentVolumeClaim),
});
const names = (all: readonly Body[]): readonly string[] => all.map(({ metadata }) => metadata.name);

async function started(s: Session, replicas: number, spec: object = {}): Promise<void> {
  await create(s, "statefulsets", { serviceName: "a", replicas, podManagementPolicy: "Parallel", ...spec });
  for (let count = 1; count <= replicas; count++) {
    const all = await living(s, spec && "podManagementPolicy" in spec ? count : replicas);
    await makeReady(s, all);
  }
  await s.until(
    path(s),
    ({ body }) => body.status?.availableReplicas === replicas && body.status.currentReplicas === replicas,
  );
}

export const statefulSetCases = area("stateful sets", {
  "the first pod alone, until it is ready": async (s) => {
    await create(s, "statefulsets", { serviceName: "a", replicas: 2 });
    const first = await living(s, 1);
    s.note("pods", first.map(described));
    await settled(s, path(s), "one", ({ status }) => status?.replicas === 1);
    await makeReady(s, first);
    s.note("pods", names(await living(s, 2)));
    await settled(s, path(s), "two", ({ status }) => status?.replicas === 2 && status.readyReplicas === 1);
  },
  "all pods at once": async (s) => {
    await create(s, "statefulsets", { serviceName: "a", replicas: 3, podManagementPolicy: "Parallel" });
    const all = await living(s, 3);
    s.note("pods", all.map(described));
    await settled(s, path(s), "waiting", ({ status }) => status?.replicas === 3);
    await makeReady(s, all);
    await settled(s, path(s), "ready", ({ status }) => status?.availableReplicas === 3);
  },
  "its revision": async (s) => {
    await create(s, "statefulsets", { serviceName: "a", replicas: 1 });
    await living(s, 1);
    const { body } = await s.until(apps(s, "controllerrevisions"), (reply) => reply.body.items?.length === 1);
    const [{ metadata, data, revision }] = body.items;
    s.note("revision", {
      name: metadata.name,
      labels: metadata.labels,
      owners: metadata.ownerReferences,
      data,
      revision,
    });
  },
  "claims with the labels of the selector": async (s) => {
    await create(s, "statefulsets", { serviceName: "a", replicas: 1, volumeClaimTemplates: [claim] });
    s.note("pods", (await living(s, 1)).map(described));
    const { body } = await s.get(`/api/v1/namespaces/${s.namespace}/persistentvolumeclaims`, { silent: true });
    s.note(
      "claims",
      body.items.map(({ metadata, spec }: Body) => ({
        name: metadata.name,
        labels: metadata.labels,
        owners: metadata.ownerReferences,
        spec,
      })),
    );
  },
  "claims that go with the set": async (s) => {
    const policy = { whenDeleted: "Delete", whenScaled: "Delete" };
    await started(s, 2, { volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy: policy });
    const claims = `/api/v1/namespaces/${s.namespace}/persistentvolumeclaims`;
    const { body } = await s.until(claims, (reply) =>
      reply.body.items?.every(({ metadata }: Body) => metadata.ownerReferences),
    );
    s.note(
      "owners",
      body.items.map(({ metadata }: Body) =>
        metadata.ownerReferences?.map(({ kind, name, controller }: Body) => ({ kind, name, controller })),
      ),
    );
    await change(s, "statefulsets", { spec: { replicas: 1 } });
    const left = await s.until(
      claims,
      (reply) => reply.body.items?.filter(({ metadata }: Body) => !metadata.deletionTimestamp).length === 1,
    );
    s.note("left", names(left.body.items.filter(({ metadata }: Body) => !metadata.deletionTimestamp)));
  },
  "an update goes from the last pod on": async (s) => {
    await started(s, 2);
    await change(s, "statefulsets", { spec: { template: labelled("two").template } });
    const replaced = await living(s, 1, ({ spec }) => spec.containers[0].image === "two");
    s.note("replaced", names(replaced));
    await settled(s, path(s), "begun", (object) => isObserved(object) && object.status.updatedReplicas === 1);
    await makeReady(s, replaced);
    await makeReady(s, await living(s, 2, ({ spec }) => spec.containers[0].image === "two"));
    await settled(
      s,
      path(s),
      "done",
      ({ status }) => status.currentRevision === status.updateRevision && status.updatedReplicas === 2,
    );
  },
  "an update down to a partition": async (s) => {
    await started(s, 3, { updateStrategy: { rollingUpdate: { partition: 2 } } });
    await change(s, "statefulsets", { spec: { template: labelled("two").template } });
    const replaced = await living(s, 1, ({ spec }) => spec.containers[0].image === "two");
    await makeReady(s, replaced);
    await settled(s, path(s), "status", ({ status }) => status.updatedReplicas === 1 && status.readyReplicas === 3);
  },
  "an update on delete": async (s) => {
    await started(s, 1, { updateStrategy: { type: "OnDelete" } });
    await change(s, "statefulsets", { spec: { template: labelled("two").template } });
    await settled(
      s,
      path(s),
      "waiting",
      (object) => isObserved(object) && object.status.currentRevision !== object.status.updateRevision,
    );
    await s.delete(pod(s, 0), { gracePeriodSeconds: 0 }, { silent: true });
    await makeReady(s, await living(s, 1, ({ spec }) => spec.containers[0].image === "two"));
    await settled(s, path(s), "replaced", ({ status }) => status.updatedReplicas === 1 && status.readyReplicas === 1);
  },
  "scaled down from the last pod on": async (s) => {
    await started(s, 3);
    await change(s, "statefulsets", { spec: { replicas: 1 } });
    s.note("left", names(await living(s, 1)));
    await settled(s, path(s), "status", (object) => isObserved(object) && object.status.replicas === 1);
  },
  "ordinals that begin later": async (s) => {
    await create(s, "statefulsets", {
      serviceName: "a",
      replicas: 2,
      podManagementPolicy: "Parallel",
      ordinals: { start: 5 },
    });
    s.note("pods", names(await living(s, 2)));
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 2);
  },
  "a failed pod is replaced": async (s) => {
    await started(s, 1);
    const before = (await s.get(pod(s, 0), { silent: true })).body.metadata.uid;
    await s.patch("merge", `${pod(s, 0)}/status`, { status: { phase: "Failed" } }, { silent: true });
    const { body } = await s.until(pod(s, 0), (reply) => reply.status === 200 && reply.body.metadata.uid !== before);
    s.note("phase", body.status.phase);
    await settled(s, path(s), "status", ({ status }) => status.replicas === 1 && !status.readyReplicas);
  },
  "pods that must be ready for a while": async (s) => {
    await create(s, "statefulsets", { serviceName: "a", replicas: 1, minReadySeconds: 3 });
    await makeReady(s, await living(s, 1));
    await settled(s, path(s), "available", ({ status }) => status?.availableReplicas === 1);
  },
});
