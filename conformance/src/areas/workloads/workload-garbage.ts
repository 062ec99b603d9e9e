import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { apps, change, create, labelled, living, makeReady } from "./settled-workloads.js";

const NAMESPACES = "/api/v1/namespaces";
const core = (s: Session, plural: string): string => `${NAMESPACES}/${s.namespace}/${plural}`;
const batch = (s: Session, plural: string): string => `/apis/batch/v1/namespaces/${s.namespace}/${plural}`;

const gone = async (s: Session, what: string, path: string): Promise<void> =>
  s.note(what, (await s.until(path, ({ status }) => status === 404)).status);

const left = async (s: Session, what: string, path: string, count: number): Promise<readonly Body[]> => {
  const { body } = await s.until(path, (reply) => (reply.body.items ?? []).length === count);
  s.note(what, body.items.length);
  return body.items;
};

const owners = ({ metadata }: Body): unknown =>
  (metadata.ownerReferences ?? []).map(({ kind, controller }: Body) => ({ kind, controller }));

const started = async (s: Session, plural: string, spec: object): Promise<readonly Body[]> => {
  await create(s, plural, spec);
  const all = await living(s, 1);
  await makeReady(s, all);
  return all;
};

const remove = (s: Session, path: string, propagationPolicy: string) =>
  s.delete(path, { propagationPolicy }, { silent: true });

/** The namespace controller is slow while other cases leave their namespaces behind. */
const early = (run: (s: Session) => Promise<void>) => ({ run, early: true });

export const workloadGarbageCases = area("workloads that go", {
  "a deployment in the background": async (s) => {
    await started(s, "deployments", { replicas: 1 });
    await remove(s, `${apps(s, "deployments")}/a`, "Background");
    await gone(s, "deployment", `${apps(s, "deployments")}/a`);
    await left(s, "sets", apps(s, "replicasets"), 0);
    await left(s, "pods", core(s, "pods"), 0);
  },
  "a deployment, and its pods kept": async (s) => {
    await started(s, "deployments", { replicas: 1 });
    await remove(s, `${apps(s, "deployments")}/a`, "Orphan");
    await gone(s, "deployment", `${apps(s, "deployments")}/a`);
    const sets = await left(s, "sets", apps(s, "replicasets"), 1);
    s.note("owners", sets.map(owners));
    s.note("owners", (await living(s, 1)).map(owners));
  },
  "a replica set of a deployment comes again": async (s) => {
    await started(s, "deployments", { replicas: 1 });
    const [set] = await left(s, "sets", apps(s, "replicasets"), 1);
    await remove(s, `${apps(s, "replicasets")}/${set.metadata.name}`, "Background");
    const { body } = await s.until(
      apps(s, "replicasets"),
      (reply) => reply.body.items?.length === 1 && reply.body.items[0].metadata.uid !== set.metadata.uid,
    );
    s.note("same name", body.items[0]?.metadata.name === set.metadata.name);
    await living(s, 1, ({ metadata }) => metadata.ownerReferences[0].uid !== set.metadata.uid);
  },
  "a replica set in the foreground, with a pod that waits": async (s) => {
    const { template } = labelled();
    const metadata = { ...template.metadata, finalizers: ["example.com/kept"] };
    await create(s, "replicasets", { replicas: 1, template: { ...template, metadata } });
    const [pod] = await living(s, 1);
    const path = `${apps(s, "replicasets")}/a`;
    await remove(s, path, "Foreground");
    await s.until(core(s, "pods"), ({ body }) => body.items?.[0]?.metadata.deletionTimestamp);
    const { body } = await s.get(path, { silent: true });
    s.note("waiting", {
      finalizers: body.metadata.finalizers,
      isDeleted: body.metadata.deletionTimestamp !== undefined,
    });
    await s.patch(
      "merge",
      `${core(s, "pods")}/${pod.metadata.name}`,
      { metadata: { finalizers: null } },
      { silent: true },
    );
    await gone(s, "set", path);
  },
  "a stateful set and its claims": async (s) => {
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "none", resources: { requests: { storage: "1Gi" } } },
    };
    await started(s, "statefulsets", { serviceName: "a", replicas: 1, volumeClaimTemplates: [claim] });
    await remove(s, `${apps(s, "statefulsets")}/a`, "Background");
    await left(s, "pods", core(s, "pods"), 0);
    await left(s, "revisions", apps(s, "controllerrevisions"), 0);
    await left(s, "claims", core(s, "persistentvolumeclaims"), 1);
  },
  "a stateful set and the claims that go with it": async (s) => {
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "none", resources: { requests: { storage: "1Gi" } } },
    };
    const policy = { whenDeleted: "Delete", whenScaled: "Retain" };
    await started(s, "statefulsets", {
      serviceName: "a",
      replicas: 1,
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: policy,
    });
    const { body } = await s.until(
      `${core(s, "persistentvolumeclaims")}/data-a-0`,
      (reply) => reply.body.metadata?.ownerReferences,
    );
    s.note("owners", owners(body));
    await remove(s, `${apps(s, "statefulsets")}/a`, "Background");
    await left(s, "claims", core(s, "persistentvolumeclaims"), 0);
  },
  "a job, its pods and their finalizers": async (s) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work" }] } };
    await s.post(batch(s, "jobs"), { metadata: { name: "a" }, spec: { template } }, { silent: true });
    const [pod] = await living(s, 1);
    s.note("finalizers", pod.metadata.finalizers);
    await remove(s, `${batch(s, "jobs")}/a`, "Background");
    await gone(s, "job", `${batch(s, "jobs")}/a`);
    await left(s, "pods", core(s, "pods"), 0);
  },
  "a job, and its pods kept": async (s) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work" }] } };
    await s.post(batch(s, "jobs"), { metadata: { name: "a" }, spec: { template } }, { silent: true });
    await living(s, 1);
    await remove(s, `${batch(s, "jobs")}/a`, "Orphan");
    await gone(s, "job", `${batch(s, "jobs")}/a`);
    const [pod] = await living(s, 1, ({ metadata }) => !metadata.ownerReferences && !metadata.finalizers);
    s.note("pod", { owners: owners(pod), finalizers: pod.metadata.finalizers });
  },
  "a namespace full of workloads": early(async (s) => {
    await create(s, "deployments", { replicas: 2 });
    await create(
      s,
      "statefulsets",
      { serviceName: "b", replicas: 1, selector: { matchLabels: { app: "b" } }, template: inLabels("b") },
      "b",
    );
    await s.post(
      core(s, "services"),
      { metadata: { name: "b" }, spec: { clusterIP: "None", selector: { app: "b" } } },
      { silent: true },
    );
    await living(s, 3);
    await s.delete(`${NAMESPACES}/${s.namespace}`, undefined, { silent: true });
    await gone(s, "namespace", `${NAMESPACES}/${s.namespace}`);
  }),
  "a namespace that waits for a finalizer": early(async (s) => {
    await create(s, "replicasets", { replicas: 1 });
    await living(s, 1);
    const set = `${apps(s, "replicasets")}/a`;
    await s.patch("merge", set, { metadata: { finalizers: ["example.com/kept"] } }, { silent: true });
    await s.delete(`${NAMESPACES}/${s.namespace}`, undefined, { silent: true });
    const isWaiting = ({ body }: { body: Body }): boolean =>
      body.status?.conditions?.some(
        ({ type, status }: Body) => type === "NamespaceFinalizersRemaining" && status === "True",
      );
    const { body } = await s.until(`${NAMESPACES}/${s.namespace}`, isWaiting);
    s.note(
      "conditions",
      [...(body.status?.conditions ?? [])].sort((a: Body, b: Body) => (a.type < b.type ? -1 : 1)),
    );
    await s.patch("merge", set, { metadata: { finalizers: null } }, { silent: true });
    await gone(s, "namespace", `${NAMESPACES}/${s.namespace}`);
  }),
  "nothing new in a namespace that goes": early(async (s) => {
    await s.post(
      core(s, "configmaps"),
      { metadata: { name: "kept", finalizers: ["example.com/kept"] } },
      { silent: true },
    );
    await s.delete(`${NAMESPACES}/${s.namespace}`, undefined, { silent: true });
    await s.until(`${NAMESPACES}/${s.namespace}`, ({ body }) => body.status?.phase === "Terminating");
    await s.seen(
      `${apps(s, "deployments")}?dryRun=All`,
      { metadata: { name: "a" }, spec: labelled() },
      ({ status }) => status === 403,
    );
    await s.post(apps(s, "deployments"), { metadata: { name: "a" }, spec: labelled() });
    await s.patch("merge", `${core(s, "configmaps")}/kept`, { metadata: { finalizers: null } }, { silent: true });
    await gone(s, "namespace", `${NAMESPACES}/${s.namespace}`);
  }),
  "an owner that never was": async (s) => {
    const uid = "00000000-0000-4000-8000-000000000000";
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name: "none", uid }];
    const { template, selector } = labelled();
    const body = { metadata: { name: "a", ownerReferences }, spec: { replicas: 0, selector, template } };
    await s.post(apps(s, "replicasets"), body, { silent: true });
    await gone(s, "set", `${apps(s, "replicasets")}/a`);
  },
  "a pod that two own": async (s) => {
    const all = await started(s, "replicasets", { replicas: 1 });
    const map = await s.post(core(s, "configmaps"), { metadata: { name: "c" } }, { silent: true });
    const second = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: map.body.metadata.uid };
    const ownerReferences = [...all[0].metadata.ownerReferences, second];
    const pod = `${core(s, "pods")}/${all[0].metadata.name}`;
    await s.patch("merge", pod, { metadata: { ownerReferences } }, { silent: true });
    await remove(s, `${apps(s, "replicasets")}/a`, "Background");
    const { body } = await s.until(pod, (reply) => reply.body.metadata?.ownerReferences?.length === 1);
    s.note("owners", owners(body));
    await s.delete(`${core(s, "configmaps")}/c`, undefined, { silent: true });
    await gone(s, "pod", pod);
  },
  "scaled to nothing before it goes": async (s) => {
    await started(s, "replicasets", { replicas: 1 });
    await change(s, "replicasets", { spec: { replicas: 0 } });
    await left(s, "pods", core(s, "pods"), 0);
    await remove(s, `${apps(s, "replicasets")}/a`, "Foreground");
    await gone(s, "set", `${apps(s, "replicasets")}/a`);
  },
});

function inLabels(app: string): object {
  return { ...labelled().template, metadata: { labels: { app } } };
}
