import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { ownNodes, readyNode } from "./ready-node.js";
import { apps, change, create, labelled, living, makeReady, place, removePods, settled } from "./settled-workloads.js";

const path = (s: Session): string => `${apps(s, "daemonsets")}/a`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;
const isObserved = (object: Body): boolean => object.status?.observedGeneration === object.metadata.generation;
const ofImage = (image: string) => (pod: Body) => pod.spec.containers[0].image === image;
/** The node that its affinity requires. */
const nodeOf = ({ spec }: Body): string | undefined =>
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.[0]?.matchFields?.[0]
    ?.values?.[0];

/** A template for the nodes of this case. */
const template = (s: Session, image = "one", spec: object = {}) => {
  const { metadata, spec: pod } = labelled(image).template;
  return { metadata, spec: { ...pod, nodeSelector: ownNodes(s), ...spec } };
};

const daemons = (s: Session, spec: object = {}): Promise<Body> =>
  create(s, "daemonsets", { template: template(s), ...spec });

/** The revisions of a set; hashes differ between servers. */
async function revisions(s: Session, count: number): Promise<readonly Body[]> {
  const { body } = await s.until(apps(s, "controllerrevisions"), (reply) => reply.body.items?.length === count);
  const sorted = [...body.items].sort((left: Body, right: Body) => left.revision - right.revision);
  for (const { metadata } of sorted) s.generated(metadata.labels["controller-revision-hash"]);
  return sorted;
}

async function started(s: Session, nodes: number, spec: object = {}): Promise<readonly Body[]> {
  await daemons(s, spec);
  const all = await living(s, nodes);
  await makeReady(s, all);
  await s.until(path(s), ({ body }) => body.status?.numberAvailable === nodes);
  await revisions(s, 1);
  return all;
}

/** The terminating pods, once there are any: on a node, they wait for its kubelet. */
async function leaving(s: Session): Promise<readonly Body[]> {
  const going = (items: readonly Body[] = []): readonly Body[] =>
    items.filter(({ metadata }) => metadata.deletionTimestamp);
  const { body } = await s.until(pods(s), (reply) => going(reply.body.items).length > 0);
  return going(body.items);
}

/** The real controller does not reconcile for every change of a node; for one of the set it does. */
const lookAgain = (s: Session): Promise<void> =>
  change(s, "daemonsets", { metadata: { annotations: { look: "again" } } });

const patchNode = (s: Session, name: string, body: object) =>
  s.patch("merge", `/api/v1/nodes/${name}`, body, { silent: true });

export const daemonSetCases = area("daemon sets", {
  "a pod from its creation until it is available": async (s) => {
    await using _ = await readyNode(s);
    await daemons(s);
    const all = await living(s, 1);
    await settled(s, path(s), "made", ({ status }) => status?.updatedNumberScheduled === 1);
    await makeReady(s, all);
    await settled(s, path(s), "available", ({ status }) => status?.numberAvailable === 1);
  },
  "the pod that it makes": async (s) => {
    await using _ = await readyNode(s);
    await daemons(s, { template: template(s, "one", { tolerations: [{ key: "own", operator: "Exists" }] }) });
    const [pod] = await living(s, 1);
    await revisions(s, 1);
    const { labels, generateName, ownerReferences } = pod.metadata;
    const { affinity, tolerations, nodeSelector } = pod.spec;
    s.note("pod", { labels, generateName, ownerReferences, affinity, tolerations, nodeSelector });
  },
  "the pod of a network of its host's": async (s) => {
    await using _ = await readyNode(s);
    await daemons(s, { template: template(s, "one", { hostNetwork: true }) });
    const [pod] = await living(s, 1);
    s.note("tolerations", pod.spec.tolerations);
  },
  "an affinity of its own": async (s) => {
    await using _ = await readyNode(s, "n", {}, { disk: "fast" });
    await using __ = await readyNode(s, "slow", {}, { disk: "slow" });
    const terms = [{ matchExpressions: [{ key: "disk", operator: "In", values: ["fast"] }] }];
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    await daemons(s, { template: template(s, "one", { affinity: { nodeAffinity: required } }) });
    s.note(
      "affinity",
      (await living(s, 1)).map(({ spec }) => spec.affinity),
    );
    await settled(s, path(s), "status", ({ status }) => status?.currentNumberScheduled === 1);
  },
  "its revision": async (s) => {
    await using _ = await readyNode(s);
    await daemons(s);
    await living(s, 1);
    const [{ metadata, data, revision }] = await revisions(s, 1);
    const { name, labels, annotations, ownerReferences } = metadata;
    s.note("revision", { name, labels, annotations, ownerReferences, data, revision });
  },
  "no node for it": async (s) => {
    await daemons(s);
    await settled(s, path(s), "status", isObserved);
  },
  "a node that comes, and one that goes": async (s) => {
    await using first = await readyNode(s, "n1");
    await started(s, 1);
    await using _ = await readyNode(s, "n2");
    const all = await living(s, 2);
    s.note("nodes", all.map(nodeOf).sort());
    await makeReady(s, all);
    await settled(s, path(s), "two", ({ status }) => status?.numberAvailable === 2);
    await s.delete(`/api/v1/nodes/${first.name}`, undefined, { silent: true });
    await lookAgain(s);
    s.note("nodes", (await living(s, 1)).map(nodeOf));
    await settled(s, path(s), "one", ({ status }) => status?.desiredNumberScheduled === 1 && status.numberReady === 1);
  },
  "a node that is no longer chosen": async (s) => {
    await using node = await readyNode(s);
    await place(s, await started(s, 1), () => node.name);
    await patchNode(s, node.name, { metadata: { labels: { case: null } } });
    await removePods(s, await leaving(s));
    await settled(
      s,
      path(s),
      "status",
      ({ status }) => status?.desiredNumberScheduled === 0 && status.numberMisscheduled === 0,
    );
  },
  "a taint that keeps new pods away": async (s) => {
    await using node = await readyNode(s);
    await place(s, await started(s, 1), () => node.name);
    await patchNode(s, node.name, { spec: { taints: [{ key: "own", effect: "NoSchedule" }] } });
    await lookAgain(s);
    await settled(s, path(s), "status", ({ status }) => status?.desiredNumberScheduled === 0);
    s.note("pods", (await living(s, 1)).length);
  },
  "a taint that puts pods out": async (s) => {
    await using node = await readyNode(s);
    await place(s, await started(s, 1), () => node.name);
    await patchNode(s, node.name, { spec: { taints: [{ key: "own", effect: "NoExecute" }] } });
    await removePods(s, await leaving(s));
    await settled(
      s,
      path(s),
      "status",
      ({ status }) => status?.desiredNumberScheduled === 0 && status.numberMisscheduled === 0,
    );
  },
  "a taint that it bears": async (s) => {
    await using _ = await readyNode(s, "n", { taints: [{ key: "own", effect: "NoSchedule" }] });
    await daemons(s, { template: template(s, "one", { tolerations: [{ operator: "Exists" }] }) });
    s.note(
      "tolerations",
      (await living(s, 1)).map(({ spec }) => spec.tolerations),
    );
    await settled(s, path(s), "status", ({ status }) => status?.currentNumberScheduled === 1);
  },
  "a cordoned node": async (s) => {
    await using _ = await readyNode(s, "n", { unschedulable: true });
    await daemons(s);
    await living(s, 1);
    await settled(s, path(s), "status", ({ status }) => status?.currentNumberScheduled === 1);
  },
  "an update, one node after the other": async (s) => {
    await using _ = await readyNode(s, "n1");
    await using __ = await readyNode(s, "n2");
    await started(s, 2);
    await change(s, "daemonsets", { spec: { template: template(s, "two") } });
    const first = await living(s, 1, ofImage("two"));
    await revisions(s, 2);
    await settled(
      s,
      path(s),
      "begun",
      (object) => isObserved(object) && object.status.updatedNumberScheduled === 1 && object.status.numberReady === 1,
    );
    await makeReady(s, first);
    await makeReady(s, await living(s, 2, ofImage("two")));
    await settled(
      s,
      path(s),
      "done",
      ({ status }) => status.updatedNumberScheduled === 2 && status.numberAvailable === 2,
    );
  },
  "an update of all nodes at once": async (s) => {
    await using _ = await readyNode(s, "n1");
    await using __ = await readyNode(s, "n2");
    await started(s, 2, { updateStrategy: { rollingUpdate: { maxUnavailable: "100%" } } });
    await change(s, "daemonsets", { spec: { template: template(s, "two") } });
    await living(s, 2, ofImage("two"));
    await settled(s, path(s), "status", (object) => isObserved(object) && object.status.updatedNumberScheduled === 2);
  },
  "an update beside the old pods": async (s) => {
    await using _ = await readyNode(s);
    await started(s, 1, { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await change(s, "daemonsets", { spec: { template: template(s, "two") } });
    const next = await living(s, 1, ofImage("two"));
    s.note("beside", (await living(s, 1, ofImage("one"))).length);
    await makeReady(s, next);
    await living(s, 0, ofImage("one"));
    await settled(
      s,
      path(s),
      "status",
      (object) =>
        isObserved(object) && object.status.updatedNumberScheduled === 1 && object.status.numberAvailable === 1,
    );
  },
  "an update on delete": async (s) => {
    await using _ = await readyNode(s);
    const [pod] = await started(s, 1, { updateStrategy: { type: "OnDelete" } });
    await change(s, "daemonsets", { spec: { template: template(s, "two") } });
    await settled(s, path(s), "waiting", (object) => isObserved(object) && !object.status.updatedNumberScheduled);
    await s.delete(`${pods(s)}/${pod.metadata.name}`, { gracePeriodSeconds: 0 }, { silent: true });
    await living(s, 1, ofImage("two"));
    await settled(s, path(s), "replaced", ({ status }) => status.updatedNumberScheduled === 1 && !status.numberReady);
  },
  "back to an earlier template": async (s) => {
    await using _ = await readyNode(s);
    await started(s, 1);
    await change(s, "daemonsets", { spec: { template: template(s, "two") } });
    await makeReady(s, await living(s, 1, ofImage("two")));
    await revisions(s, 2);
    await change(s, "daemonsets", { spec: { template: template(s, "one") } });
    await makeReady(s, await living(s, 1, ofImage("one")));
    await settled(
      s,
      path(s),
      "status",
      (object) =>
        isObserved(object) && object.status.numberAvailable === 1 && object.status.updatedNumberScheduled === 1,
    );
    const { body } = await s.until(apps(s, "controllerrevisions"), (reply) =>
      reply.body.items?.some(({ revision }: Body) => revision === 3),
    );
    s.note("revisions", body.items.map(({ revision }: Body) => revision).sort());
  },
  "history beyond its limit": async (s) => {
    await using _ = await readyNode(s);
    await started(s, 1, { revisionHistoryLimit: 0 });
    await change(s, "daemonsets", { spec: { template: template(s, "two") } });
    await makeReady(s, await living(s, 1, ofImage("two")));
    const { body } = await s.until(
      apps(s, "controllerrevisions"),
      ({ body: { items = [] } }) => items.length === 1 && items[0].revision === 2,
    );
    s.note(
      "revisions",
      body.items.map(({ revision }: Body) => revision),
    );
  },
  "pods that must be ready for a while": async (s) => {
    await using _ = await readyNode(s);
    await daemons(s, { minReadySeconds: 2 });
    await makeReady(s, await living(s, 1));
    await settled(s, path(s), "available", ({ status }) => status?.numberAvailable === 1);
  },
  "a pod that failed is replaced": async (s) => {
    await using _ = await readyNode(s);
    const [{ metadata }] = await started(s, 1);
    await s.patch("merge", `${pods(s)}/${metadata.name}/status`, { status: { phase: "Failed" } }, { silent: true });
    const [next] = await living(s, 1, (pod) => pod.metadata.name !== metadata.name);
    s.note("phase", next.status.phase);
    await settled(s, path(s), "status", ({ status }) => status.currentNumberScheduled === 1 && !status.numberReady);
  },
  "deleted, and its pods kept": async (s) => {
    await using _ = await readyNode(s);
    await started(s, 1);
    await s.delete(path(s), { propagationPolicy: "Orphan" }, { silent: true });
    await s.until(path(s), ({ status }) => status === 404);
    const [pod] = await living(s, 1, ({ metadata }) => !metadata.ownerReferences);
    await daemons(s);
    const [same] = await living(s, 1, ({ metadata }) => metadata.ownerReferences);
    s.note("taken over", same.metadata.uid === pod.metadata.uid);
    await settled(s, path(s), "status", ({ status }) => status?.numberAvailable === 1);
  },
});
