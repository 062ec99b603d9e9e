import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { apps, create, labelled, living, makeReady, replicaSets, settled } from "./settled-workloads.js";

const core = (s: Session, path: string): string => `/api/v1/namespaces/${s.namespace}/${path}`;
const merge = (s: Session, path: string, body: object) => s.patch("merge", path, body, { silent: true });
const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/** Overwrites a status, and records how it is restored. */
const repaired = async (s: Session, path: string, wrong: object, isRight: (status: Body) => boolean): Promise<void> => {
  await settled(s, path, "before", ({ status = {} }) => isRight(status));
  const { status } = await merge(s, `${path}/status`, { status: wrong });
  s.note("overwritten", status);
  await settled(s, path, "after", (object) => isRight(object.status ?? {}));
};

/** Deletes a child of a controller, and records that it is recreated. */
const another = async (s: Session, path: string): Promise<void> => {
  const before = await s.until(path, ({ status }) => status === 200);
  await s.delete(path, undefined, { silent: true });
  const { uid } = before.body.metadata;
  const { body } = await s.until(path, (reply) => reply.status === 200 && reply.body.metadata.uid !== uid);
  s.note("another", body.metadata.uid !== uid);
};

const withoutTimes = ({ conditions, ...status }: Body): Body => ({
  ...status,
  conditions: (conditions ?? []).map(({ type, status: state, reason, message }: Body) => ({
    type,
    state,
    reason,
    message,
  })),
});

export const driftCases = area("drift", {
  "the status of a deployment": async (s) => {
    await create(s, "deployments", { replicas: 1 });
    await makeReady(s, await living(s, 1));
    await replicaSets(s, (sets) => sets.length === 1);
    const path = `${apps(s, "deployments")}/a`;
    await repaired(
      s,
      path,
      { replicas: 7 },
      ({ replicas, availableReplicas }) => replicas === 1 && availableReplicas === 1,
    );
  },
  "the status of a replica set": async (s) => {
    await create(s, "replicasets", { replicas: 1 });
    await makeReady(s, await living(s, 1));
    const path = `${apps(s, "replicasets")}/a`;
    await repaired(
      s,
      path,
      { replicas: 7 },
      ({ replicas, availableReplicas }) => replicas === 1 && availableReplicas === 1,
    );
  },
  "the status of a stateful set": async (s) => {
    await create(s, "statefulsets", { replicas: 1, serviceName: "a" });
    await makeReady(s, await living(s, 1));
    const path = `${apps(s, "statefulsets")}/a`;
    await repaired(
      s,
      path,
      { replicas: 7 },
      ({ replicas, availableReplicas }) => replicas === 1 && availableReplicas === 1,
    );
  },
  "the status of a daemon set": async (s) => {
    await create(s, "daemonsets", {
      template: { ...labelled().template, spec: { ...labelled().template.spec, nodeSelector: { no: "such" } } },
    });
    await repaired(
      s,
      `${apps(s, "daemonsets")}/a`,
      { desiredNumberScheduled: 7, currentNumberScheduled: 7 },
      ({ desiredNumberScheduled, observedGeneration }) => desiredNumberScheduled === 0 && observedGeneration === 1,
    );
  },
  "the status of a job": async (s) => {
    const { template } = labelled();
    const jobs = `/apis/batch/v1/namespaces/${s.namespace}/jobs`;
    const spec = { template: { spec: { ...template.spec, restartPolicy: "Never" } } };
    await s.post(jobs, { metadata: { name: "a" }, spec }, { silent: true });
    await living(s, 1);
    await repaired(s, `${jobs}/a`, { active: 5 }, ({ active, ready }) => active === 1 && ready === 0);
  },
  "the status of a budget": async (s) => {
    await create(s, "replicasets", { replicas: 1 });
    await makeReady(s, await living(s, 1));
    const budgets = `/apis/policy/v1/namespaces/${s.namespace}/poddisruptionbudgets`;
    const spec = { minAvailable: 0, selector: { matchLabels: { app: "a" } } };
    await s.post(budgets, { metadata: { name: "a" }, spec }, { silent: true });
    await repaired(
      s,
      `${budgets}/a`,
      { currentHealthy: 7, disruptionsAllowed: 7 },
      ({ currentHealthy }) => currentHealthy === 1,
    );
  },
  "the status of a quota": async (s) => {
    const quotas = core(s, "resourcequotas");
    await s.post(quotas, { metadata: { name: "a" }, spec: { hard: { configmaps: "5" } } }, { silent: true });
    await repaired(
      s,
      `${quotas}/a`,
      { hard: { configmaps: "9" }, used: { configmaps: "8" } },
      ({ hard, used }) => hard?.configmaps === "5" && used?.configmaps === "1",
    );
  },
  "the status of a CRD": async (s) => {
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const schema = { openAPIV3Schema: { type: "object" } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const names = { plural: "foos", kind: "Foo" };
    await s.crd({ metadata: { name: `foos.${s.group}` }, spec: { group: s.group, scope: "Cluster", names, versions } });
    const path = `${crds}/foos.${s.group}`;
    await merge(s, `${path}/status`, { status: { acceptedNames: { plural: "wrong", kind: "Wrong" } } });
    const { body } = await s.until(path, (reply) => reply.body.status?.acceptedNames?.plural === "foos");
    s.note("status", withoutTimes(body.status));
    const service = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${s.group}`;
    await s.until(service, ({ status }) => status === 200);
    await merge(s, service, { spec: { groupPriorityMinimum: 7 } });
    const put = await s.until(service, (reply) => reply.body.spec?.groupPriorityMinimum === 1000);
    s.note("service", put.body.spec);
    await s.delete(path, undefined, { silent: true });
  },
  "the protection of a claim": async (s) => {
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "none",
      resources: { requests: { storage: "1Gi" } },
    };
    await s.post(core(s, "persistentvolumeclaims"), { metadata: { name: "a" }, spec }, { silent: true });
    const path = core(s, "persistentvolumeclaims/a");
    await merge(s, path, { metadata: { finalizers: null } });
    const { body } = await s.until(path, (reply) => reply.body.metadata?.finalizers?.length === 1);
    s.note("finalizers", body.metadata.finalizers);
  },
  "the protection of a volume": async (s) => {
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: `none-${s.namespace}`,
      capacity: { storage: "1Gi" },
      hostPath: { path: "/a" },
    };
    const path = `/api/v1/persistentvolumes/${s.namespace}`;
    await s.post("/api/v1/persistentvolumes", { metadata: { name: s.namespace }, spec }, { silent: true });
    await merge(s, path, { metadata: { finalizers: null } });
    const { body } = await s.until(path, (reply) => reply.body.metadata?.finalizers?.length === 1);
    s.note("finalizers", body.metadata.finalizers);
    await s.delete(path, undefined, { silent: true });
  },
  "what every namespace has": async (s) => {
    await another(s, core(s, "serviceaccounts/default"));
    await another(s, core(s, "configmaps/kube-root-ca.crt"));
    const path = core(s, "configmaps/kube-root-ca.crt");
    await merge(s, path, { data: { "ca.crt": "wrong", more: "1" } });
    const { body } = await s.until(path, (reply) => reply.body.data?.["ca.crt"] !== "wrong");
    s.note("keys", Object.keys(body.data));
  },
  "the endpoints of a service": async (s) => {
    const spec = { selector: { app: "a" }, ports: [{ port: 80 }] };
    await s.post(core(s, "services"), { metadata: { name: "a" }, spec }, { silent: true });
    await another(s, core(s, "endpoints/a"));
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${s.namespace}/endpointslices`;
    const { body } = await s.until(slices, (reply) => reply.body.items?.length === 1);
    const { name, uid } = body.items[0].metadata;
    await s.delete(`${slices}/${name}`, undefined, { silent: true });
    const next = await s.until(
      slices,
      (reply) => reply.body.items?.length === 1 && reply.body.items[0].metadata.uid !== uid,
    );
    s.note("slices", next.body.items.length);
  },
  "the rules of an aggregated role": async (s) => {
    const [part, whole] = [`${s.namespace}-part`, `${s.namespace}-whole`];
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
    await s.post(ROLES, { metadata: { name: part, labels: { [part]: "true" } }, rules }, { silent: true });
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [part]: "true" } }] };
    await s.post(ROLES, { metadata: { name: whole }, aggregationRule, rules: [] }, { silent: true });
    await s.until(`${ROLES}/${whole}`, (reply) => reply.body.rules?.length === 1);
    await merge(s, `${ROLES}/${whole}`, { rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] });
    const { body } = await s.until(`${ROLES}/${whole}`, (reply) => reply.body.rules?.[0]?.verbs[0] === "get");
    s.note("rules", body.rules);
    for (const name of [part, whole]) await s.delete(`${ROLES}/${name}`, undefined, { silent: true });
  },
});
