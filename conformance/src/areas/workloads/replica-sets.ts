import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { readyNode } from "./ready-node.js";
import { apps, change, create, labelled, living, makeReady, place, settled } from "./settled-workloads.js";
import { readyStatus, statusesOf } from "./transitions.js";

const path = (s: Session): string => `${apps(s, "replicasets")}/a`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;
const isObserved = (object: Body): boolean => object.status?.observedGeneration === object.metadata.generation;

/** A pod without an owner. */
async function bare(s: Session, name: string, spec: object = {}, metadata: object = {}): Promise<void> {
  const { template } = labelled();
  const body = { metadata: { name, ...template.metadata, ...metadata }, spec: { ...template.spec, ...spec } };
  const reply = await s.post(pods(s), body, { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
}

const patchPod = (s: Session, name: string, body: object, subresource = "") =>
  s.patch("merge", `${pods(s)}/${name}${subresource}`, body, { silent: true });

const owners = ({ metadata }: Body): unknown =>
  (metadata.ownerReferences ?? []).map(({ kind, name, controller, blockOwnerDeletion }: Body) => ({
    kind,
    name,
    controller,
    blockOwnerDeletion,
  }));

const names = (all: readonly Body[]): readonly string[] => all.map(({ metadata }) => metadata.name);

/** Lets a set adopt the existing pods, then scales it to one. */
async function lastOf(s: Session, count: number): Promise<void> {
  await create(s, "replicasets", { replicas: count });
  await s.until(path(s), ({ body }) => isObserved(body) && body.status.replicas === count);
  s.note("adopted", names(await living(s, count)));
  await change(s, "replicasets", { spec: { replicas: 1 } });
  s.note("left", names(await living(s, 1)));
}

export const replicaSetCases = area("replica sets", {
  "a pod from its creation until it is available": async (s) => {
    await using seen = await statusesOf(s, apps(s, "replicasets"), "a");
    await create(s, "replicasets", { replicas: 1 });
    const all = await living(s, 1);
    await seen.until(({ status }) => status?.replicas === 1);
    await makeReady(s, all);
    await seen.until(({ status }) => status?.availableReplicas === 1);
  },
  "the pod that it makes": async (s) => {
    const { template } = labelled();
    const metadata = { ...template.metadata, annotations: { note: "b" }, finalizers: ["example.com/kept"] };
    await create(s, "replicasets", { replicas: 1, template: { ...template, metadata } });
    const [pod] = await living(s, 1);
    const { labels, annotations, finalizers, generateName } = pod.metadata;
    s.note("pod", { labels, annotations, finalizers, generateName, owners: owners(pod) });
    await patchPod(s, pod.metadata.name, { metadata: { finalizers: null } });
  },
  "one pod of three is ready": async (s) => {
    await create(s, "replicasets", { replicas: 3 });
    const all = await living(s, 3);
    await makeReady(s, all.slice(0, 1));
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 3 && status.availableReplicas === 1);
  },
  "a pod that is no longer ready": async (s) => {
    await using seen = await statusesOf(s, apps(s, "replicasets"), "a");
    await create(s, "replicasets", { replicas: 1 });
    const [pod] = await living(s, 1);
    await seen.until(({ status }) => status?.replicas === 1);
    await makeReady(s, [pod]);
    await seen.until(({ status }) => status?.availableReplicas === 1);
    const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, "");
    const conditions = [{ type: "Ready", status: "False", lastTransitionTime }];
    await patchPod(s, pod.metadata.name, { status: { conditions } }, "/status");
    await seen.until(({ status }) => status?.replicas === 1 && !status.readyReplicas);
  },
  "scaled up, then to nothing": async (s) => {
    await create(s, "replicasets", { replicas: 1 });
    await makeReady(s, await living(s, 1));
    await change(s, "replicasets", { spec: { replicas: 3 } });
    await makeReady(s, await living(s, 3));
    await settled(s, path(s), "up", (object) => isObserved(object) && object.status.availableReplicas === 3);
    await change(s, "replicasets", { spec: { replicas: 0 } });
    await living(s, 0);
    await settled(s, path(s), "down", (object) => isObserved(object) && object.status.replicas === 0);
  },
  "pods that were there before": async (s) => {
    await bare(s, "first");
    await bare(s, "other", {}, { labels: { app: "b" } });
    await create(s, "replicasets", { replicas: 2 });
    const all = await living(s, 2, ({ metadata }) => metadata.labels.app === "a");
    s.note("owners", all.map(owners));
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 2);
    s.note("other", owners((await s.get(`${pods(s)}/other`, { silent: true })).body));
  },
  "pods that another owns": async (s) => {
    const { body } = await s.get(`/api/v1/namespaces/${s.namespace}`, { silent: true });
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: body.metadata.uid, controller: true };
    const map = await s.post(
      `/api/v1/namespaces/${s.namespace}/configmaps`,
      { metadata: { name: "c" } },
      { silent: true },
    );
    await bare(s, "taken", {}, { ownerReferences: [{ ...owner, uid: map.body.metadata.uid }] });
    await create(s, "replicasets", { replicas: 1 });
    await living(s, 2);
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 1);
    s.note("taken", owners((await s.get(`${pods(s)}/taken`, { silent: true })).body));
  },
  "more pods than it wants": async (s) => {
    for (const name of ["p-1", "p-2", "p-3"]) await bare(s, name);
    await create(s, "replicasets", { replicas: 2 });
    await living(s, 2);
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 2);
  },
  "a pod whose labels change": async (s) => {
    await create(s, "replicasets", { replicas: 1 });
    const [{ metadata }] = await living(s, 1);
    await patchPod(s, metadata.name, { metadata: { labels: { app: "b" } } });
    const [left] = await living(s, 1, (pod) => pod.metadata.labels.app === "b" && !pod.metadata.ownerReferences);
    s.note("released", { labels: left.metadata.labels, owners: owners(left) });
    await living(s, 1, (pod) => pod.metadata.labels.app === "a");
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 1);
  },
  "a pod without all labels of the template": async (s) => {
    await bare(s, "plain");
    const { template } = labelled();
    const metadata = { labels: { app: "a", more: "yes" } };
    await create(s, "replicasets", { replicas: 2, template: { ...template, metadata } });
    await living(s, 2);
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 2);
  },
  "a pod that failed is replaced": async (s) => {
    await create(s, "replicasets", { replicas: 1 });
    const [{ metadata }] = await living(s, 1);
    await patchPod(s, metadata.name, { status: { phase: "Failed" } }, "/status");
    const [next] = await living(s, 1, ({ status }) => status.phase === "Pending");
    s.note("another", next.metadata.name !== metadata.name);
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 1);
  },
  "pods that must be ready for a while": async (s) => {
    await create(s, "replicasets", { replicas: 1, minReadySeconds: 3 });
    await makeReady(s, await living(s, 1));
    await settled(s, path(s), "available", ({ status }) => status?.availableReplicas === 1);
  },
  "pods that it may not make": async (s) => {
    const quotas = `/api/v1/namespaces/${s.namespace}/resourcequotas`;
    await s.post(quotas, { metadata: { name: "q" }, spec: { hard: { pods: "0" } } }, { silent: true });
    await s.until(`${quotas}/q`, ({ body }) => body.status?.hard !== undefined);
    await create(s, "replicasets", { replicas: 1 });
    const { body } = await s.until(path(s), (reply) => reply.body.status?.conditions !== undefined);
    const [condition] = body.status.conditions;
    const message = condition.message.replace(/"a-[^"]+"/, '"a-…"');
    s.note("status", { ...body.status, conditions: [{ ...condition, message }] });
    await s.delete(`${quotas}/q`, undefined, { silent: true });
    await living(s, 1);
    await settled(s, path(s), "after all", ({ status }) => status?.replicas === 1 && !status.conditions);
  },
  "a pod that takes its time to end": async (s) => {
    await using node = await readyNode(s);
    const { template } = labelled();
    const spec = { ...template.spec, nodeName: node.name, terminationGracePeriodSeconds: 30 };
    await create(s, "replicasets", { replicas: 1, template: { ...template, spec } });
    const [pod] = await living(s, 1);
    await makeReady(s, [pod]);
    await s.delete(`${pods(s)}/${pod.metadata.name}`, undefined, { silent: true });
    await living(s, 1, ({ metadata }) => metadata.name !== pod.metadata.name);
    await settled(s, path(s), "status", ({ status }) => status?.replicas === 1 && status.terminatingReplicas === 1);
    await s.delete(`${pods(s)}/${pod.metadata.name}`, { gracePeriodSeconds: 0 }, { silent: true });
    await settled(s, path(s), "ended", ({ status }) => status?.terminatingReplicas === 0);
  },
  "fewer: those without a node go first": async (s) => {
    await using node = await readyNode(s);
    await bare(s, "p-1");
    await bare(s, "p-2", { nodeName: node.name });
    await bare(s, "p-3");
    await lastOf(s, 3);
  },
  "fewer: those that wait go first": async (s) => {
    await using node = await readyNode(s);
    for (const name of ["p-1", "p-2", "p-3"]) await bare(s, name, { nodeName: node.name });
    await patchPod(s, "p-2", { status: { phase: "Running" } }, "/status");
    await lastOf(s, 3);
  },
  "fewer: those that are not ready go first": async (s) => {
    await using node = await readyNode(s);
    for (const name of ["p-1", "p-2", "p-3"]) {
      await bare(s, name, { nodeName: node.name });
      await patchPod(s, name, { status: { phase: "Running" } }, "/status");
    }
    await patchPod(s, "p-3", readyStatus("10.1.1.3"), "/status");
    await lastOf(s, 3);
  },
  "fewer: those that cost little go first": async (s) => {
    const cost = "controller.kubernetes.io/pod-deletion-cost";
    for (const [name, value] of [
      ["p-1", "-5"],
      ["p-2", "7"],
      ["p-3", "3"],
    ]) {
      await bare(s, name!, {}, { annotations: { [cost]: value } });
    }
    await lastOf(s, 3);
  },
  "fewer: those beside many go first, in a deployment": async (s) => {
    await using crowded = await readyNode(s, "crowded");
    await using quiet = await readyNode(s, "quiet");
    await create(s, "deployments", { replicas: 3 });
    const all = await living(s, 3);
    await place(s, all, (_, index) => (index === 1 ? quiet.name : crowded.name));
    await makeReady(s, all);
    await s.until(`${apps(s, "deployments")}/a`, ({ body }) => body.status?.availableReplicas === 3);
    await change(s, "deployments", { spec: { replicas: 1 } });
    const [left] = await living(s, 1);
    s.note("left", left.spec.nodeName);
  },
  "fewer: those that restarted often go first": async (s) => {
    await using node = await readyNode(s);
    for (const [name, restartCount] of [
      ["p-1", 4],
      ["p-2", 9],
      ["p-3", 1],
    ] as const) {
      await bare(s, name, { nodeName: node.name });
      const main = { name: "main", ready: true, restartCount, image: "one", imageID: "" };
      await patchPod(s, name, { status: { phase: "Running", containerStatuses: [main] } }, "/status");
    }
    await lastOf(s, 3);
  },
  "deleted, and its pods kept": async (s) => {
    await create(s, "replicasets", { replicas: 2 });
    await living(s, 2);
    await s.delete(path(s), { propagationPolicy: "Orphan" }, { silent: true });
    s.note("set", (await s.until(path(s), ({ status }) => status === 404)).status);
    s.note("owners", (await living(s, 2)).map(owners));
  },
});
