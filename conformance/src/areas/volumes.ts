import { area } from "../case.js";
import type { Body, Session } from "../session.js";
import { toldEvents } from "./protocol/told-events.js";
import { readyNode } from "./workloads/ready-node.js";

const VOLUMES = "/api/v1/persistentvolumes";
const CLASSES = "/apis/storage.k8s.io/v1/storageclasses";
const core = (s: Session, plural: string): string => `/api/v1/namespaces/${s.namespace}/${plural}`;
const claims = (s: Session): string => core(s, "persistentvolumeclaims");

/** Volumes are cluster-wide: the case's own class keeps those of other cases away. */
const own = (s: Session): string => s.namespace;
const volumeName = (s: Session, suffix = "v"): string => `${s.namespace}-${suffix}`;

async function volume(s: Session, spec: object = {}, suffix = "v", labels: object = {}): Promise<AsyncDisposable> {
  const name = volumeName(s, suffix);
  const body = {
    metadata: { name, labels },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: own(s),
      persistentVolumeReclaimPolicy: "Retain",
      hostPath: { path: `/tmp/${name}` },
      ...spec,
    },
  };
  const reply = await s.post(VOLUMES, body, { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
  // A claim created before the controller knows the volume would report that there is none.
  else await s.until(`${VOLUMES}/${name}`, (seen) => seen.body.status?.phase !== "Pending");
  return {
    async [Symbol.asyncDispose]() {
      await s.delete(`${VOLUMES}/${name}`, undefined, { silent: true });
      await s.patch("merge", `${VOLUMES}/${name}`, { metadata: { finalizers: null } }, { silent: true });
    },
  };
}

const claimed = (s: Session, spec: object = {}, name = "c") => ({
  metadata: { name },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: own(s),
    resources: { requests: { storage: "1Gi" } },
    ...spec,
  },
});

async function claim(s: Session, spec: object = {}, name = "c"): Promise<void> {
  const reply = await s.post(claims(s), claimed(s, spec, name), { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
}

/** A class whose volumes are provisioned by hand. */
async function storageClass(s: Session, more: object = {}): Promise<AsyncDisposable> {
  const body = { metadata: { name: own(s) }, provisioner: "kubernetes.io/no-provisioner", ...more };
  await s.post(CLASSES, body, { silent: true });
  return {
    [Symbol.asyncDispose]: async () => void (await s.delete(`${CLASSES}/${own(s)}`, undefined, { silent: true })),
  };
}

const claimIs = async (s: Session, phase: string, name = "c"): Promise<Body> => {
  const { body } = await s.until(`${claims(s)}/${name}`, (reply) => reply.body.status?.phase === phase);
  const { annotations, finalizers } = body.metadata ?? {};
  s.note(`claim ${name}`, { annotations, finalizers, spec: body.spec, status: body.status });
  return body;
};

const volumeIs = async (s: Session, phase: string, suffix = "v"): Promise<Body> => {
  const { body } = await s.until(`${VOLUMES}/${volumeName(s, suffix)}`, (reply) => reply.body.status?.phase === phase);
  const { annotations, finalizers } = body.metadata ?? {};
  const { claimRef: { resourceVersion: _, ...claimRef } = {} as Body, ...spec } = body.spec ?? {};
  s.note(`volume ${suffix}`, { annotations, finalizers, spec: { ...spec, claimRef }, status: body.status });
  return body;
};

const bound = async (s: Session, spec: object = {}): Promise<void> => {
  await claim(s, spec);
  await s.until(`${claims(s)}/c`, ({ body }) => body.status?.phase === "Bound");
};

const patchClaim = (s: Session, body: object) => s.patch("merge", `${claims(s)}/c`, body);

export const volumeCases = area("volumes", {
  "a volume that nobody wants yet": async (s) => {
    await using _ = await volume(s);
    await volumeIs(s, "Available");
  },
  "a claim and its volume": async (s) => {
    await using _ = await volume(s);
    await claim(s);
    await claimIs(s, "Bound");
    await volumeIs(s, "Bound");
  },
  "a claim that was there first": async (s) => {
    await claim(s);
    await claimIs(s, "Pending");
    await using _ = await volume(s);
    await claimIs(s, "Bound");
  },
  "a claim that names a volume waits for that one": async (s) => {
    await using _ = await volume(s, {}, "other");
    await s.until(`${VOLUMES}/${volumeName(s, "other")}`, ({ body }) => body.status?.phase === "Available");
    for (const [name, storageClassName] of [
      ["c", own(s)],
      ["d", ""],
    ] as const) {
      await claim(s, { volumeName: volumeName(s), storageClassName }, name);
      await claimIs(s, "Pending", name);
      await toldEvents(s, "PersistentVolumeClaim", name, []);
    }
    await using __ = await volume(s);
    await claimIs(s, "Bound");
    await volumeIs(s, "Available", "other");
  },
  "the smallest that is large enough": async (s) => {
    await using _ = await volume(s, { capacity: { storage: "5Gi" } }, "large");
    await using __ = await volume(s, { capacity: { storage: "2Gi" } }, "fit");
    await using ___ = await volume(s, { capacity: { storage: "500Mi" } }, "small");
    for (const suffix of ["large", "fit", "small"])
      await s.until(`${VOLUMES}/${volumeName(s, suffix)}`, ({ body }) => body.status?.phase === "Available");
    await claim(s);
    await claimIs(s, "Bound");
    await volumeIs(s, "Available", "large");
  },
  "labels that a claim asks for": async (s) => {
    await using _ = await volume(s, {}, "plain");
    await using __ = await volume(s, {}, "chosen", { tier: "gold" });
    for (const suffix of ["plain", "chosen"])
      await s.until(`${VOLUMES}/${volumeName(s, suffix)}`, ({ body }) => body.status?.phase === "Available");
    await claim(s, { selector: { matchLabels: { tier: "gold" } } });
    await claimIs(s, "Bound");
  },
  "modes of access and of volumes": async (s) => {
    await using _ = await volume(s, {}, "file");
    await using __ = await volume(s, { volumeMode: "Block" }, "block");
    for (const suffix of ["file", "block"])
      await s.until(`${VOLUMES}/${volumeName(s, suffix)}`, ({ body }) => body.status?.phase === "Available");
    await claim(s, { accessModes: ["ReadWriteMany"] }, "many");
    await claim(s, { volumeMode: "Block" }, "block");
    await claimIs(s, "Bound", "block");
    await claimIs(s, "Pending", "many");
  },
  "a volume by its name": async (s) => {
    await using _ = await volume(s, {}, "other");
    await using __ = await volume(s, {}, "named");
    await claim(s, { volumeName: volumeName(s, "named") });
    await claimIs(s, "Bound");
    await volumeIs(s, "Bound", "named");
  },
  "a volume that is kept for a claim": async (s) => {
    const claimRef = { namespace: s.namespace, name: "c" };
    await using _ = await volume(s, { claimRef });
    await volumeIs(s, "Available");
    await claim(s, {}, "c");
    await claimIs(s, "Bound");
    await volumeIs(s, "Bound");
  },
  "a claim that goes, and a volume that stays": async (s) => {
    await using _ = await volume(s);
    await bound(s);
    await s.delete(`${claims(s)}/c`, undefined, { silent: true });
    s.note("claim", (await s.until(`${claims(s)}/c`, ({ status }) => status === 404)).status);
    await volumeIs(s, "Released");
    await claim(s, {}, "next");
    await claimIs(s, "Pending", "next");
  },
  "a volume that is free again": async (s) => {
    await using _ = await volume(s);
    await bound(s);
    await s.delete(`${claims(s)}/c`, undefined, { silent: true });
    await s.until(`${VOLUMES}/${volumeName(s)}`, ({ body }) => body.status?.phase === "Released");
    await s.patch("merge", `${VOLUMES}/${volumeName(s)}`, { spec: { claimRef: null } }, { silent: true });
    await volumeIs(s, "Available");
  },
  "a claim that loses its volume": async (s) => {
    await using _ = await volume(s);
    await bound(s);
    await s.delete(`${VOLUMES}/${volumeName(s)}`, undefined, { silent: true });
    await s.patch("merge", `${VOLUMES}/${volumeName(s)}`, { metadata: { finalizers: null } }, { silent: true });
    await claimIs(s, "Lost");
    await toldEvents(s, "PersistentVolumeClaim", "c", ["ClaimLost"]);
  },
  "a bound volume is not deleted before its claim": async (s) => {
    await using _ = await volume(s);
    await bound(s);
    await s.delete(`${VOLUMES}/${volumeName(s)}`, undefined, { silent: true });
    const { body } = await s.get(`${VOLUMES}/${volumeName(s)}`, { silent: true });
    s.note("finalizers", body.metadata?.finalizers);
    await s.delete(`${claims(s)}/c`, undefined, { silent: true });
    s.note("volume", (await s.until(`${VOLUMES}/${volumeName(s)}`, ({ status }) => status === 404)).status);
  },
  "a claim in use is not deleted before its pod": async (s) => {
    await using node = await readyNode(s);
    await using _ = await volume(s);
    await bound(s);
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "c" } }];
    const spec = { nodeName: node.name, containers: [{ name: "main", image: "one" }], volumes };
    await s.post(core(s, "pods"), { metadata: { name: "p" }, spec }, { silent: true });
    await s.until(`${core(s, "pods")}/p`, ({ status }) => status === 200);
    await s.delete(`${claims(s)}/c`, undefined, { silent: true });
    const { body } = await s.get(`${claims(s)}/c`, { silent: true });
    s.note("finalizers", body.metadata?.finalizers);
    await s.delete(`${core(s, "pods")}/p`, { gracePeriodSeconds: 0 }, { silent: true });
    s.note("claim", (await s.until(`${claims(s)}/c`, ({ status }) => status === 404)).status);
  },
  "a class that nobody knows": async (s) => {
    await claim(s);
    await claimIs(s, "Pending");
    await toldEvents(s, "PersistentVolumeClaim", "c", ["ProvisioningFailed"]);
  },
  "no class at all": async (s) => {
    await claim(s, { storageClassName: "" });
    await claimIs(s, "Pending");
    await toldEvents(s, "PersistentVolumeClaim", "c", ["FailedBinding"]);
  },
  "a class that waits for a pod": async (s) => {
    await using _ = await storageClass(s, { volumeBindingMode: "WaitForFirstConsumer" });
    await using __ = await volume(s);
    await claim(s);
    await claimIs(s, "Pending");
    await toldEvents(s, "PersistentVolumeClaim", "c", ["WaitForFirstConsumer"]);
    await volumeIs(s, "Available");
  },
  "a claim that wants to grow": async (s) => {
    await using _ = await storageClass(s);
    await using __ = await volume(s);
    await bound(s);
    await patchClaim(s, { spec: { resources: { requests: { storage: "2Gi" } } } });
    await patchClaim(s, { spec: { resources: { requests: { storage: "500Mi" } } } });
    await patchClaim(s, { spec: { accessModes: ["ReadOnlyMany"] } });
  },
  "a claim that may grow, and waits for whoever made its volume": async (s) => {
    await using _ = await storageClass(s, { allowVolumeExpansion: true });
    await using __ = await volume(s);
    await bound(s);
    await patchClaim(s, { spec: { resources: { requests: { storage: "2Gi" } } } });
    await toldEvents(s, "PersistentVolumeClaim", "c", ["ExternalExpanding"]);
    await claimIs(s, "Bound");
    await volumeIs(s, "Bound");
  },
  "a claim that may grow, and not before it has a volume": async (s) => {
    await using _ = await storageClass(s, { allowVolumeExpansion: true });
    await claim(s);
    await claimIs(s, "Pending");
    await patchClaim(s, { spec: { resources: { requests: { storage: "2Gi" } } } });
    await patchClaim(s, { spec: { storageClassName: "other" } });
  },
  "a claim of a pod's own": async (s) => {
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: own(s),
      resources: { requests: { storage: "1Gi" } },
    };
    const volumeClaimTemplate = { metadata: { labels: { kind: "scratch" } }, spec };
    const volumes = [{ name: "scratch", ephemeral: { volumeClaimTemplate } }];
    const pod = { containers: [{ name: "main", image: "one" }], volumes };
    await s.post(core(s, "pods"), { metadata: { name: "p" }, spec: pod }, { silent: true });
    const { body } = await s.until(`${claims(s)}/p-scratch`, ({ status }) => status === 200);
    s.note("claim", { labels: body.metadata?.labels, owners: body.metadata?.ownerReferences, spec: body.spec });
    await s.delete(`${core(s, "pods")}/p`, { gracePeriodSeconds: 0 }, { silent: true });
    s.note("gone", (await s.until(`${claims(s)}/p-scratch`, ({ status }) => status === 404)).status);
  },
  "a claim of a pod's own whose name is taken": async (s) => {
    await claim(s, {}, "p-scratch");
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: own(s),
      resources: { requests: { storage: "1Gi" } },
    };
    const volumes = [{ name: "scratch", ephemeral: { volumeClaimTemplate: { spec } } }];
    const pod = { containers: [{ name: "main", image: "one" }], volumes };
    await s.post(core(s, "pods"), { metadata: { name: "p" }, spec: pod }, { silent: true });
    const { body } = await s.get(`${claims(s)}/p-scratch`, { silent: true });
    s.note("owners", body.metadata?.ownerReferences);
  },
  "volumes that cannot be": async (s) => {
    const bad = (spec: object) => ({
      metadata: { name: volumeName(s) },
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp" }, ...spec },
    });
    for (const spec of [
      { capacity: undefined },
      { capacity: { storage: "0" } },
      { capacity: { storage: "1Gi", cpu: "1" } },
      { accessModes: [] },
      { accessModes: ["Sometimes"] },
      { hostPath: undefined },
      { hostPath: { path: "/tmp/../etc" } },
      { nfs: { server: "a", path: "/" } },
      { persistentVolumeReclaimPolicy: "Burn" },
      { volumeMode: "Cloud" },
      { storageClassName: "No Good" },
    ]) {
      await s.post(VOLUMES, bad(spec));
    }
  },
  "claims that cannot be": async (s) => {
    for (const spec of [
      { accessModes: [] },
      { accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] },
      { accessModes: ["Sometimes"] },
      { resources: {} },
      { resources: { requests: { storage: "0" } } },
      { resources: { requests: { storage: "-1Gi" } } },
      { volumeMode: "Cloud" },
      { storageClassName: "No Good" },
      { selector: { matchLabels: { "a b": "c" } } },
      { dataSource: { kind: "Pod", name: "p" } },
    ]) {
      await s.post(claims(s), claimed(s, spec, "bad"));
    }
  },
  "classes that cannot be": async (s) => {
    for (const more of [
      { provisioner: "" },
      { reclaimPolicy: "Burn" },
      { volumeBindingMode: "Soon" },
      { parameters: { "": "a" } },
      { allowedTopologies: [{ matchLabelExpressions: [{ key: "a", values: [] }] }] },
    ]) {
      await s.post(CLASSES, { metadata: { name: own(s) }, provisioner: "example.com/p", ...more });
    }
  },
  "what of a volume does not change": async (s) => {
    await using _ = await volume(s);
    await s.patch("merge", `${VOLUMES}/${volumeName(s)}`, { spec: { hostPath: { path: "/elsewhere" } } });
    await s.patch("merge", `${VOLUMES}/${volumeName(s)}`, { spec: { volumeMode: "Block" } });
  },
});
