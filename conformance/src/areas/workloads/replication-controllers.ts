import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { labelled, living, makeReady, settled } from "./settled-workloads.js";

const core = (s: Session, path: string): string => `/api/v1/namespaces/${s.namespace}/${path}`;
const one = (s: Session, name = "a"): string => core(s, `replicationcontrollers/${name}`);

const template = (more: object = {}) => ({ ...labelled().template, ...more });

const create = async (s: Session, spec: object, name = "a"): Promise<Body> => {
  const whole = { selector: { app: "a" }, template: template(), ...spec };
  const reply = await s.post(core(s, "replicationcontrollers"), { metadata: { name }, spec: whole }, { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
  return reply.body;
};

const change = (s: Session, body: object) => s.patch("merge", one(s), body, { silent: true });

const status = (s: Session, what: string, isDone: (status: Body) => boolean): Promise<Body> =>
  settled(s, one(s), what, (object) => isDone(object.status ?? {}));

const owners = ({ metadata }: Body): unknown =>
  (metadata.ownerReferences ?? []).map(({ apiVersion, kind, name, controller, blockOwnerDeletion }: Body) => ({
    ...{ apiVersion, kind, name, controller, blockOwnerDeletion },
  }));

const gone = async (s: Session, what: string, path: string): Promise<void> =>
  s.note(what, (await s.until(path, (reply) => reply.status === 404)).status);

const left = async (s: Session, count: number): Promise<void> => {
  const { body } = await s.until(core(s, "pods"), (reply) => reply.body.items?.length === count);
  s.note("pods", body.items.length);
};

const remove = (s: Session, options?: object) => s.delete(one(s), options, { silent: true });

export const replicationControllerCases = area("replication controllers", {
  "makes pods and counts them": async (s) => {
    await create(s, { replicas: 2 });
    const pods = await living(s, 2);
    s.note("owners", pods.map(owners));
    s.note(
      "labels",
      pods.map(({ metadata }) => metadata.labels),
    );
    await status(s, "made", ({ replicas }) => replicas === 2);
    await makeReady(s, pods);
    await status(s, "ready", ({ availableReplicas }) => availableReplicas === 2);
  },
  "grows and shrinks": async (s) => {
    await create(s, { replicas: 1 });
    await living(s, 1);
    await change(s, { spec: { replicas: 3 } });
    await living(s, 3);
    await status(s, "three", ({ replicas, observedGeneration }) => replicas === 3 && observedGeneration === 2);
    await change(s, { spec: { replicas: 0 } });
    await status(s, "none", ({ replicas, observedGeneration }) => replicas === 0 && observedGeneration === 3);
  },
  "is scaled by its subresource": async (s) => {
    await create(s, { replicas: 1 });
    await living(s, 1);
    const { body } = await s.get(`${one(s)}/scale`, { silent: true });
    s.note("scale", { spec: body.spec, selector: body.status.selector });
    await s.put(`${one(s)}/scale`, { ...body, spec: { replicas: 2 } }, { silent: true });
    await living(s, 2);
    await status(s, "two", ({ replicas }) => replicas === 2);
  },
  "takes in what nobody has": async (s) => {
    const pod = { metadata: { name: "orphan", labels: { app: "a" } }, spec: template().spec };
    await s.post(core(s, "pods"), pod, { silent: true });
    await create(s, { replicas: 1 });
    const { body } = await s.until(core(s, "pods/orphan"), (reply) => reply.body.metadata?.ownerReferences);
    s.note("owners", owners(body));
    await status(s, "status", ({ replicas }) => replicas === 1);
  },
  "lets go of what no longer matches": async (s) => {
    await create(s, { replicas: 1 });
    const [pod] = await living(s, 1);
    const path = core(s, `pods/${pod.metadata.name}`);
    await s.patch("merge", path, { metadata: { labels: { app: "b" } } }, { silent: true });
    await living(s, 1, ({ metadata }) => metadata.labels.app === "a");
    const { body } = await s.until(path, (reply) => !reply.body.metadata.ownerReferences);
    s.note("owners", owners(body));
  },
  "replaces a pod that is deleted": async (s) => {
    await create(s, { replicas: 1 });
    const [pod] = await living(s, 1);
    await s.delete(core(s, `pods/${pod.metadata.name}`), { gracePeriodSeconds: 0 }, { silent: true });
    const [next] = await living(s, 1, ({ metadata }) => metadata.uid !== pod.metadata.uid);
    s.note("owners", owners(next));
  },
  "goes in the background with its pods": async (s) => {
    await create(s, { replicas: 2 });
    await living(s, 2);
    await remove(s, { propagationPolicy: "Background" });
    await gone(s, "controller", one(s));
    await left(s, 0);
  },
  "leaves its pods behind where it is told so": async (s) => {
    await create(s, { replicas: 2 });
    await living(s, 2);
    await remove(s, { propagationPolicy: "Orphan" });
    await gone(s, "controller", one(s));
    const pods = await living(s, 2, ({ metadata }) => !metadata.ownerReferences);
    s.note("owners", pods.map(owners));
  },
  "leaves its pods behind unless told otherwise": async (s) => {
    await create(s, { replicas: 1 });
    await living(s, 1);
    await remove(s);
    await gone(s, "controller", one(s));
    const pods = await living(s, 1, ({ metadata }) => !metadata.ownerReferences);
    s.note("owners", pods.map(owners));
  },
  "waits in the foreground for a pod that is held": async (s) => {
    const metadata = { ...template().metadata, finalizers: ["example.com/kept"] };
    await create(s, { replicas: 1, template: template({ metadata }) });
    const [pod] = await living(s, 1);
    await remove(s, { propagationPolicy: "Foreground" });
    await s.until(core(s, "pods"), ({ body }) => body.items?.[0]?.metadata.deletionTimestamp);
    const { body } = await s.get(one(s), { silent: true });
    s.note("waiting", [body.metadata.finalizers, body.metadata.deletionTimestamp !== undefined]);
    const path = core(s, `pods/${pod.metadata.name}`);
    await s.patch("merge", path, { metadata: { finalizers: null } }, { silent: true });
    await gone(s, "controller", one(s));
  },
  "says why it cannot make pods": async (s) => {
    const spec = { ...template().spec, serviceAccountName: "none" };
    await create(s, { replicas: 1, template: template({ spec }) });
    const { body } = await s.until(one(s), (reply) => reply.body.status?.conditions?.length === 1);
    // The real server refuses the pod before it has generated its name.
    const [condition] = body.status.conditions;
    s.note("refused", { ...condition, message: condition.message.replace(/"a-\w*"/, '"a-"') });
    await change(s, { spec: { replicas: 0 } });
    await status(s, "well", ({ conditions, observedGeneration }) => !conditions && observedGeneration === 2);
  },
  "counts as available after a while": async (s) => {
    await create(s, { replicas: 1, minReadySeconds: 3 });
    await makeReady(s, await living(s, 1));
    await status(s, "ready", ({ readyReplicas }) => readyReplicas === 1);
    await status(s, "available", ({ availableReplicas }) => availableReplicas === 1);
  },
  "makes new pods of a new template, and leaves the old": async (s) => {
    await create(s, { replicas: 1 });
    await living(s, 1);
    await change(s, { spec: { replicas: 2, template: { metadata: { labels: { app: "a", tier: "new" } } } } });
    const pods = await living(s, 2);
    s.note("tiers", pods.map(({ metadata }) => metadata.labels.tier ?? "none").sort());
    await status(s, "labels", ({ replicas, fullyLabeledReplicas }) => replicas === 2 && fullyLabeledReplicas === 1);
  },
  "a status that somebody has written": async (s) => {
    await create(s, { replicas: 1 });
    await makeReady(s, await living(s, 1));
    await status(s, "before", ({ availableReplicas }) => availableReplicas === 1);
    await s.patch("merge", `${one(s)}/status`, { status: { replicas: 7 } }, { silent: true });
    await status(s, "after", ({ replicas }) => replicas === 1);
  },
});
