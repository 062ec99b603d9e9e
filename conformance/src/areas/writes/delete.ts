import { area } from "../../case.js";
import type { Session } from "../../session.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const make = (
  s: Session,
  name: string,
  metadata: object = {},
): Promise<{ body: { metadata: { uid: string; resourceVersion: string } } }> =>
  s.post(path(s), { metadata: { name, ...metadata } }, { silent: true });
const gone = (reply: { status: number }): boolean => reply.status === 404;

export const deleteCases = area("delete", {
  "an object": async (s) => {
    await make(s, "a");
    await s.delete(`${path(s)}/a`);
    await s.get(`${path(s)}/a`);
    await s.delete(`${path(s)}/a`);
  },
  "with preconditions": async (s) => {
    const { body } = await make(s, "a");
    await s.delete(`${path(s)}/a`, { preconditions: { uid: "5f0f34b4-0000-4000-8000-000000000000" } });
    await s.delete(`${path(s)}/a`, { preconditions: { resourceVersion: "1" } });
    await s.delete(`${path(s)}/a`, {
      preconditions: { uid: body.metadata.uid, resourceVersion: body.metadata.resourceVersion },
    });
  },
  "with a finalizer": async (s) => {
    await make(s, "a", { finalizers: ["x.io/keep"] });
    await s.delete(`${path(s)}/a`);
    await s.delete(`${path(s)}/a`);
    await s.patch("merge", `${path(s)}/a`, { data: { k: "v" } });
    await s.patch("merge", `${path(s)}/a`, { metadata: { finalizers: ["x.io/keep", "x.io/more"] } });
    await s.patch("merge", `${path(s)}/a`, { metadata: { finalizers: null } });
    await s.get(`${path(s)}/a`);
  },
  "removing the last finalizer by update": async (s) => {
    await make(s, "a", { finalizers: ["x.io/keep"] });
    const { body } = await s.delete(`${path(s)}/a`);
    await s.put(`${path(s)}/a`, { ...body, metadata: { ...body.metadata, finalizers: [] } });
    await s.get(`${path(s)}/a`);
  },
  "as a dry run": async (s) => {
    await make(s, "a");
    await s.delete(`${path(s)}/a?dryRun=All`);
    await s.delete(`${path(s)}/a`, { dryRun: ["All"] });
    await s.get(`${path(s)}/a`);
  },
  "with options that are wrong": async (s) => {
    await make(s, "a");
    await s.delete(`${path(s)}/a`, { propagationPolicy: "Sideways" });
    await s.delete(`${path(s)}/a`, { propagationPolicy: "Orphan", orphanDependents: true });
    await s.delete(`${path(s)}/a`, "{");
    await s.delete(`${path(s)}/a?propagationPolicy=Sideways`);
    await s.delete(`${path(s)}/a`, { gracePeriodSeconds: -1 });
  },
  "a collection": async (s) => {
    for (const name of ["a", "b", "c"]) await make(s, name, { labels: { mine: "", keep: String(name === "c") } });
    await s.delete(`${path(s)}?labelSelector=${encodeURIComponent("mine,keep=false")}`);
    await s.get(`${path(s)}?labelSelector=mine`);
  },
  "a collection as a dry run": async (s) => {
    await make(s, "a", { labels: { mine: "" } });
    await s.delete(`${path(s)}?labelSelector=mine&dryRun=All`);
    await s.get(`${path(s)}?labelSelector=mine`);
  },
  "a collection with finalizers": async (s) => {
    await make(s, "a", { labels: { mine: "" }, finalizers: ["x.io/keep"] });
    await s.delete(`${path(s)}?labelSelector=mine`);
    await s.get(`${path(s)}?labelSelector=mine`);
    await s.patch("merge", `${path(s)}/a`, { metadata: { finalizers: null } });
  },
  "a service answers with the object": async (s) => {
    const services = `/api/v1/namespaces/${s.namespace}/services`;
    await s.post(services, { metadata: { name: "a" }, spec: { clusterIP: "None", ports: [{ port: 80 }] } });
    await s.delete(`${services}/a`);
  },
  "a pod without a node goes at once": async (s) => {
    const pods = `/api/v1/namespaces/${s.namespace}/pods`;
    await s.post(
      pods,
      { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } },
      { silent: true },
    );
    const reply = await s.delete(`${pods}/a`, undefined, { silent: true });
    s.note("answer", [reply.status, reply.body.kind, reply.body.metadata.deletionGracePeriodSeconds]);
    await s.get(`${pods}/a`);
  },
  "a pod on a node has a grace period": async (s) => {
    const pods = `/api/v1/namespaces/${s.namespace}/pods`;
    const spec = { nodeName: "n", terminationGracePeriodSeconds: 7, containers: [{ name: "c", image: "i" }] };
    await s.post(pods, { metadata: { name: "a" }, spec }, { silent: true });
    for (const body of [undefined, { gracePeriodSeconds: 5 }, { gracePeriodSeconds: 9 }, { gracePeriodSeconds: 0 }]) {
      const reply = await s.delete(`${pods}/a`, body, { silent: true });
      s.note("answer", [reply.status, reply.body.kind, reply.body.metadata?.deletionGracePeriodSeconds]);
    }
    await s.get(`${pods}/a`);
  },
});

export const garbageCases = area("garbage collection", {
  "the background takes dependents": async (s) => {
    const { body } = await make(s, "owner");
    await make(s, "child", {
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: body.metadata.uid }],
    });
    await s.delete(`${path(s)}/owner`, { propagationPolicy: "Background" });
    await s.eventually(`${path(s)}/child`, gone);
  },
  "without a policy it is the background": async (s) => {
    const { body } = await make(s, "owner");
    await make(s, "child", {
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: body.metadata.uid }],
    });
    await s.delete(`${path(s)}/owner`);
    await s.eventually(`${path(s)}/child`, gone);
  },
  "orphans keep living": async (s) => {
    const { body } = await make(s, "owner");
    await make(s, "child", {
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: body.metadata.uid }],
    });
    await s.delete(`${path(s)}/owner`, { propagationPolicy: "Orphan" });
    await s.eventually(`${path(s)}/owner`, gone);
    await s.eventually(`${path(s)}/child`, (reply) => reply.body.metadata?.ownerReferences === undefined);
  },
  "the foreground waits for dependents": async (s) => {
    const { body } = await make(s, "owner");
    const reference = {
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "owner",
      uid: body.metadata.uid,
      blockOwnerDeletion: true,
    };
    await make(s, "child", { ownerReferences: [reference], finalizers: ["x.io/keep"] });
    await s.delete(`${path(s)}/owner`, { propagationPolicy: "Foreground" });
    await s.eventually(`${path(s)}/child`, (reply) => reply.body.metadata?.deletionTimestamp !== undefined);
    await s.get(`${path(s)}/owner`);
    await s.patch("merge", `${path(s)}/child`, { metadata: { finalizers: null } });
    await s.eventually(`${path(s)}/owner`, gone);
  },
  "a child of two owners stays with the other": async (s) => {
    const one = await make(s, "one");
    const two = await make(s, "two");
    const reference = (name: string, uid: string): object => ({ apiVersion: "v1", kind: "ConfigMap", name, uid });
    await make(s, "child", {
      ownerReferences: [reference("one", one.body.metadata.uid), reference("two", two.body.metadata.uid)],
    });
    await s.delete(`${path(s)}/one`);
    await s.eventually(`${path(s)}/child`, (reply) => reply.body.metadata?.ownerReferences?.length === 1);
    await s.delete(`${path(s)}/two`);
    await s.eventually(`${path(s)}/child`, gone);
  },
  "an owner that never was": async (s) => {
    const uid = "5f0f34b4-0000-4000-8000-000000000001";
    await make(s, "child", { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid }] });
    await s.eventually(`${path(s)}/child`, gone);
  },
  "an owner made again under its old name": async (s) => {
    const { body } = await make(s, "owner");
    await s.delete(`${path(s)}/owner`, { propagationPolicy: "Background" }, { silent: true });
    await make(s, "owner");
    await make(s, "child", {
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: body.metadata.uid }],
    });
    await s.eventually(`${path(s)}/child`, gone);
    await s.get(`${path(s)}/owner`);
  },
  "a chain of three": async (s) => {
    const a = await make(s, "a");
    const b = await make(s, "b", {
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: a.body.metadata.uid }],
    });
    await make(s, "c", {
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "b", uid: b.body.metadata.uid }],
    });
    await s.delete(`${path(s)}/a`);
    await s.eventually(`${path(s)}/c`, gone);
    await s.eventually(`${path(s)}/b`, gone);
  },
  "custom owners take built-in children": async (s) => {
    const crds = { group: s.group, scope: "Namespaced", names: { plural: "owners", kind: "Owner" } };
    const schema = { openAPIV3Schema: { type: "object" } };
    await s.crd({
      metadata: { name: `owners.${s.group}` },
      spec: { ...crds, versions: [{ name: "v1", served: true, storage: true, schema }] },
    });
    const owners = `/apis/${s.group}/v1/namespaces/${s.namespace}/owners`;
    const { body } = await s.post(owners, { apiVersion: `${s.group}/v1`, kind: "Owner", metadata: { name: "o" } });
    await make(s, "child", {
      ownerReferences: [{ apiVersion: `${s.group}/v1`, kind: "Owner", name: "o", uid: body.metadata.uid }],
    });
    await s.delete(`${owners}/o`);
    await s.eventually(`${path(s)}/child`, gone);
  },
  "the foreground without dependents": async (s) => {
    await make(s, "a");
    await s.delete(`${path(s)}/a`, { propagationPolicy: "Foreground" });
    await s.eventually(`${path(s)}/a`, gone);
  },
});

export const namespaceCases = area("namespaces", {
  "a new one": async (s) => {
    await s.post("/api/v1/namespaces", { metadata: { name: `${s.namespace}-x`, labels: { a: "b" } } });
    await s.delete(`/api/v1/namespaces/${s.namespace}-x`);
  },
  "gets a service account and the root certificate": async (s) => {
    await s.eventually(`/api/v1/namespaces/${s.namespace}/serviceaccounts/default`, (reply) => reply.status === 200);
    const reply = await s.eventually(`/api/v1/namespaces/${s.namespace}/configmaps/none`, gone);
    s.note("status", reply.status);
    const root = await s.get(`/api/v1/namespaces/${s.namespace}/configmaps/kube-root-ca.crt`, { silent: true });
    s.note("root", [root.status, Object.keys(root.body.data ?? {}), root.body.metadata?.annotations]);
  },
  "with an invalid name": async (s) => {
    for (const name of ["a.b", "A", "a".repeat(64), "-"]) await s.post("/api/v1/namespaces", { metadata: { name } });
  },
  "takes its objects with it": {
    early: true,
    run: async (s) => {
      const name = `${s.namespace}-x`;
      await s.post("/api/v1/namespaces", { metadata: { name } }, { silent: true });
      await s.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: "a" } }, { silent: true });
      await s.delete(`/api/v1/namespaces/${name}`, undefined, { silent: true });
      await s.eventually(`/api/v1/namespaces/${name}`, gone);
      await s.get(`/api/v1/namespaces/${name}/configmaps/a`);
    },
  },
  "waits for finalizers": {
    early: true,
    run: async (s) => {
      const name = `${s.namespace}-x`;
      await s.post("/api/v1/namespaces", { metadata: { name } }, { silent: true });
      await s.post(
        `/api/v1/namespaces/${name}/configmaps`,
        { metadata: { name: "a", finalizers: ["x.io/keep"] } },
        { silent: true },
      );
      const deleted = await s.delete(`/api/v1/namespaces/${name}`, undefined, { silent: true });
      s.note("phase", [deleted.status, deleted.body.status?.phase, deleted.body.spec]);
      await s.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: "b" } });
      const waiting = await s.eventually(
        `/api/v1/namespaces/${name}/configmaps/a`,
        (reply) => reply.body.metadata?.deletionTimestamp !== undefined,
      );
      s.note("waiting", waiting.status);
      await s.patch("merge", `/api/v1/namespaces/${name}/configmaps/a`, { metadata: { finalizers: null } });
      await s.eventually(`/api/v1/namespaces/${name}`, gone);
    },
  },
  "some cannot be deleted": async (s) => {
    for (const name of ["default", "kube-system", "kube-public"]) await s.delete(`/api/v1/namespaces/${name}`);
  },
  "are cluster-scoped": async (s) => {
    await s.get(`/api/v1/namespaces/${s.namespace}/namespaces`);
    await s.get("/api/v1/namespaces/none");
  },
  finalize: async (s) => {
    const { body } = await s.get(`/api/v1/namespaces/${s.namespace}`, { silent: true });
    await s.put(`/api/v1/namespaces/${s.namespace}/finalize`, {
      ...body,
      spec: { finalizers: ["kubernetes", "x.io/mine"] },
    });
    await s.put(`/api/v1/namespaces/${s.namespace}/finalize`, {
      ...body,
      metadata: { name: s.namespace },
      spec: { finalizers: ["kubernetes"] },
    });
  },
  "by label": async (s) => {
    await s.get(`/api/v1/namespaces?labelSelector=kubernetes.io%2Fmetadata.name%3D${s.namespace}`);
    await s.get(`/api/v1/namespaces?fieldSelector=metadata.name%3D${s.namespace}`);
    await s.get(`/api/v1/namespaces?fieldSelector=status.phase%3DTerminating,metadata.name%3D${s.namespace}`);
  },
  "the name label cannot be taken away": async (s) => {
    await s.patch("merge", `/api/v1/namespaces/${s.namespace}`, {
      metadata: { labels: { "kubernetes.io/metadata.name": null } },
    });
    await s.patch("merge", `/api/v1/namespaces/${s.namespace}`, {
      metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
    });
  },
});
