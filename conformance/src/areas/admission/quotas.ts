import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { settled } from "../workloads/settled-workloads.js";

const core = (s: Session, plural: string): string => `/api/v1/namespaces/${s.namespace}/${plural}`;
const quotas = (s: Session): string => core(s, "resourcequotas");

/** Creates quotas, by name, and waits until they are counted. */
const quotasOf = async (s: Session, specs: Readonly<Record<string, object>>): Promise<void> => {
  for (const [name, spec] of Object.entries(specs)) {
    const reply = await s.post(quotas(s), { metadata: { name }, spec }, { silent: true });
    if (reply.status !== 201) s.note("refused", reply.body);
    await s.until(`${quotas(s)}/${name}`, ({ body }) => body.status?.used !== undefined);
  }
  await enforced(s);
};

const quota = (s: Session, hard: object, spec: object = {}): Promise<void> => quotasOf(s, { q: { hard, ...spec } });

/** Admission has its own cache: once it knows a later quota, it knows the earlier ones. */
const enforced = async (s: Session): Promise<void> => {
  const hard = { "count/leases.coordination.k8s.io": "0" };
  await s.post(quotas(s), { metadata: { name: "sentinel" }, spec: { hard } }, { silent: true });
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${s.namespace}/leases?dryRun=All`;
  await s.seen(leases, { metadata: { name: "probe" }, spec: {} }, ({ status }) => status === 403);
};

/** Waits until admission has noticed that there is room again. */
const room = (s: Session, plural: string, object: object): Promise<void> =>
  s.seen(`${core(s, plural)}?dryRun=All`, object, ({ status: code }) => code === 201);

const status = (s: Session, what: string, isDone: (used: Body) => boolean = () => true, name = "q"): Promise<Body> =>
  settled(s, `${quotas(s)}/${name}`, what, (object) => object.status?.used !== undefined && isDone(object.status.used));

const pod = (name: string, resources: object = {}, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "main", image: "one", resources }], ...spec },
});

/** The result of a request, in the words of the server. */
const tell = (s: Session, what: string, { status: code, body }: { status: number; body: Body }): void =>
  s.note(
    what,
    code === 201 || code === 200 ? code : { code, reason: body.reason, message: body.message, details: body.details },
  );

const tryPod = async (s: Session, name: string, resources?: object, spec?: object): Promise<void> =>
  tell(s, name, await s.post(core(s, "pods"), pod(name, resources, spec), { silent: true }));

const tryMap = async (s: Session, name: string): Promise<void> =>
  tell(s, name, await s.post(core(s, "configmaps"), { metadata: { name } }, { silent: true }));

const tryClaim = async (s: Session, name: string, storage: string, storageClassName = ""): Promise<void> => {
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } } };
  tell(s, name, await s.post(core(s, "persistentvolumeclaims"), { metadata: { name }, spec }, { silent: true }));
};

const tryService = async (s: Session, name: string, spec: object = {}): Promise<void> =>
  tell(
    s,
    name,
    await s.post(
      core(s, "services"),
      { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } },
      { silent: true },
    ),
  );

const refused = async (s: Session, ...specs: readonly object[]): Promise<void> => {
  for (const spec of specs) await s.post(quotas(s), { metadata: { name: "bad" }, spec });
};

/** A cluster-wide PriorityClass that is deleted with the case. */
const priorityClass = async (s: Session, name: string): Promise<AsyncDisposable> => {
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  await s.post(classes, { metadata: { name }, value: 100 }, { silent: true });
  return {
    [Symbol.asyncDispose]: async () => void (await s.delete(`${classes}/${name}`, undefined, { silent: true })),
  };
};

export const quotaCases = area("quotas", {
  "a status of what there is": async (s) => {
    await tryMap(s, "one");
    await quota(s, { configmaps: "5", "count/configmaps": "7", secrets: "1", pods: "2", services: "3" });
    await status(s, "status", ({ configmaps }) => configmaps === "2");
  },
  "one too many": async (s) => {
    await quota(s, { configmaps: "2" });
    await tryMap(s, "one");
    await tryMap(s, "two");
    await status(s, "status");
  },
  "room again": async (s) => {
    await quota(s, { configmaps: "2" });
    await tryMap(s, "one");
    await s.delete(`${core(s, "configmaps")}/one`, undefined, { silent: true });
    await status(s, "status", ({ configmaps }) => configmaps === "1");
    await room(s, "configmaps", { metadata: { name: "two" } });
    await tryMap(s, "two");
  },
  "a trial uses nothing": async (s) => {
    await quota(s, { configmaps: "2" });
    await s.post(`${core(s, "configmaps")}?dryRun=All`, { metadata: { name: "one" } }, { silent: true });
    await status(s, "status");
    await tryMap(s, "two");
  },
  "what pods ask for": async (s) => {
    await quota(s, {
      pods: "5",
      "requests.cpu": "1",
      "requests.memory": "1Gi",
      "limits.cpu": "2",
      "limits.memory": "2Gi",
    });
    const small = { requests: { cpu: "300m", memory: "256Mi" }, limits: { cpu: "500m", memory: "512Mi" } };
    await tryPod(s, "one", small);
    await tryPod(s, "two", { requests: { cpu: "800m", memory: "256Mi" }, limits: { cpu: "1", memory: "512Mi" } });
    await tryPod(s, "three", { requests: { cpu: "1", memory: "2Gi" }, limits: { cpu: "3", memory: "2Gi" } });
    await status(s, "status");
  },
  "what pods do not say": async (s) => {
    await quota(s, { "requests.cpu": "1", "limits.memory": "2Gi" });
    await tryPod(s, "silent");
    const containers = [
      { name: "first", image: "one", resources: { requests: { cpu: "1m" } } },
      { name: "second", image: "one", resources: { limits: { memory: "1Mi" } } },
    ];
    await tryPod(s, "half", {}, { containers });
    await status(s, "status");
  },
  "cpu and memory without a prefix": async (s) => {
    await quota(s, { cpu: "1", memory: "1Gi" });
    await tryPod(s, "one", { requests: { cpu: "600m", memory: "100Mi" } });
    await tryPod(s, "two", { requests: { cpu: "600m", memory: "100Mi" } });
    await tryPod(s, "limits alone", { limits: { cpu: "200m", memory: "100Mi" } });
    await status(s, "status");
  },
  "init containers": async (s) => {
    await quota(s, { "requests.cpu": "1" });
    const container = (name: string, cpu: string, more: object = {}) => ({
      name,
      image: "one",
      resources: { requests: { cpu } },
      ...more,
    });
    await tryPod(
      s,
      "one",
      {},
      { containers: [container("main", "100m")], initContainers: [container("init", "400m")] },
    );
    const sidecar = container("side", "200m", { restartPolicy: "Always" });
    await tryPod(
      s,
      "two",
      {},
      { containers: [container("main", "100m")], initContainers: [sidecar, container("init", "50m")] },
    );
    await status(s, "status");
    await tryPod(
      s,
      "three",
      {},
      { containers: [container("main", "100m")], initContainers: [container("init", "400m")] },
    );
  },
  "other resources of nodes": async (s) => {
    await quota(s, { "requests.example.com/gpu": "1", "requests.ephemeral-storage": "1Gi", "count/pods": "9" });
    const gpu = { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } };
    await tryPod(s, "one", gpu);
    await tryPod(s, "two", { requests: { ...gpu.requests, "ephemeral-storage": "1Mi" }, limits: gpu.limits });
    await tryPod(s, "three", { requests: { ...gpu.requests, "ephemeral-storage": "1Mi" }, limits: gpu.limits });
    await status(s, "status");
  },
  "a pod that has ended": async (s) => {
    await quota(s, { pods: "1", "requests.cpu": "1" });
    await tryPod(s, "one", { requests: { cpu: "1" } });
    await s.patch("merge", `${core(s, "pods")}/one/status`, { status: { phase: "Succeeded" } }, { silent: true });
    await status(s, "status", ({ pods }) => pods === "0");
    await room(s, "pods", pod("two", { requests: { cpu: "1" } }));
    await tryPod(s, "two", { requests: { cpu: "1" } });
  },
  "kinds of others by their count": async (s) => {
    await quota(s, { "count/deployments.apps": "1", "count/jobs.batch": "0", "count/widgets.example.com": "3" });
    const labels = { app: "a" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "one" }] } };
    const deployment = (name: string) => ({
      metadata: { name },
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    });
    const path = `/apis/apps/v1/namespaces/${s.namespace}/deployments`;
    tell(s, "one", await s.post(path, deployment("one"), { silent: true }));
    tell(s, "two", await s.post(path, deployment("two"), { silent: true }));
    const job = { metadata: { name: "j" }, spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } };
    tell(s, "job", await s.post(`/apis/batch/v1/namespaces/${s.namespace}/jobs`, job, { silent: true }));
    await status(s, "status", (used) => used["count/deployments.apps"] === "1");
  },
  "services by their kind": async (s) => {
    await quota(s, { services: "4", "services.loadbalancers": "1", "services.nodeports": "2" });
    await tryService(s, "plain");
    await tryService(s, "balanced", { type: "LoadBalancer" });
    await tryService(s, "balanced-too", { type: "LoadBalancer" });
    const ports = [
      { name: "a", port: 80 },
      { name: "b", port: 81 },
    ];
    await tryService(s, "nodes", { type: "NodePort", ports });
    tell(
      s,
      "changed",
      await s.patch("merge", `${core(s, "services")}/plain`, { spec: { type: "NodePort" } }, { silent: true }),
    );
    tell(
      s,
      "changed too",
      await s.patch("merge", `${core(s, "services")}/plain`, { spec: { type: "LoadBalancer" } }, { silent: true }),
    );
    await status(s, "status");
  },
  "load balancers without ports of nodes": async (s) => {
    await quota(s, { "services.loadbalancers": "2", "services.nodeports": "1" });
    await tryService(s, "without", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false });
    await tryService(s, "with", { type: "LoadBalancer" });
    await status(s, "status");
  },
  "storage by class": async (s) => {
    await quota(s, {
      persistentvolumeclaims: "3",
      "requests.storage": "10Gi",
      "gold.storageclass.storage.k8s.io/requests.storage": "5Gi",
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
      "iron.storageclass.storage.k8s.io/persistentvolumeclaims": "0",
    });
    await tryClaim(s, "one", "4Gi", "gold");
    await tryClaim(s, "two", "2Gi", "gold");
    await tryClaim(s, "three", "7Gi");
    await tryClaim(s, "four", "1Gi", "iron");
    await tryClaim(s, "five", "5Gi");
    await status(s, "status");
  },
  "scopes: with and without requests": async (s) => {
    await quotasOf(s, {
      best: { hard: { pods: "1" }, scopes: ["BestEffort"] },
      sure: { hard: { pods: "1", "requests.cpu": "1" }, scopes: ["NotBestEffort"] },
    });
    await tryPod(s, "best-1");
    await tryPod(s, "best-2");
    await tryPod(s, "sure-1", { requests: { cpu: "1m" } });
    await tryPod(s, "sure-2", { requests: { cpu: "1m" } });
    await status(s, "best", undefined, "best");
    await status(s, "sure", undefined, "sure");
  },
  "scopes: with and without a deadline": async (s) => {
    await quotasOf(s, {
      ends: { hard: { pods: "1" }, scopes: ["Terminating"] },
      stays: { hard: { pods: "1" }, scopes: ["NotTerminating"] },
    });
    await tryPod(s, "ends-1", {}, { activeDeadlineSeconds: 60 });
    await tryPod(s, "ends-2", {}, { activeDeadlineSeconds: 60 });
    await tryPod(s, "stays-1");
    await status(s, "ends", undefined, "ends");
    await status(s, "stays", undefined, "stays");
  },
  "scopes: the class of a priority": async (s) => {
    const name = `${s.namespace}-high`;
    await using _ = await priorityClass(s, name);
    const among = (operator: string, values?: readonly string[]) => ({
      scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator, ...(values && { values }) }] },
    });
    await quotasOf(s, {
      high: { hard: { pods: "1" }, ...among("In", [name]) },
      none: { hard: { pods: "1" }, ...among("DoesNotExist") },
      any: { hard: { pods: "5" }, ...among("Exists") },
      others: { hard: { pods: "5" }, ...among("NotIn", [name]) },
    });
    await tryPod(s, "high-1", {}, { priorityClassName: name });
    await tryPod(s, "high-2", {}, { priorityClassName: name });
    await tryPod(s, "plain-1");
    await tryPod(s, "plain-2");
    for (const each of ["high", "none", "any", "others"]) await status(s, each, undefined, each);
  },
  "scopes: affinity to pods of other namespaces": async (s) => {
    await quotasOf(s, { cross: { hard: { pods: "0" }, scopes: ["CrossNamespacePodAffinity"] } });
    await tryPod(s, "plain");
    const term = { topologyKey: "zone", labelSelector: {}, namespaces: ["other"] };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await tryPod(s, "cross", {}, { affinity });
    const own = {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaces: undefined }] },
    };
    await tryPod(s, "own", {}, { affinity: own });
    const weighted = [{ weight: 1, podAffinityTerm: { ...term, namespaces: undefined, namespaceSelector: {} } }];
    const far = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: weighted } };
    await tryPod(s, "far", {}, { affinity: far });
    await status(s, "status", undefined, "cross");
  },
  "scopes: the attributes of a volume": async (s) => {
    const scopeSelector = {
      matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "In", values: ["fast"] }],
    };
    await quota(s, { persistentvolumeclaims: "1", "requests.storage": "5Gi" }, { scopeSelector });
    const claim = (name: string, volumeAttributesClassName?: string) => ({
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "",
        volumeAttributesClassName,
        resources: { requests: { storage: "1Gi" } },
      },
    });
    for (const [name, ofClass] of [
      ["one", "fast"],
      ["two", "fast"],
      ["three", undefined],
    ] as const) {
      tell(s, name, await s.post(core(s, "persistentvolumeclaims"), claim(name, ofClass), { silent: true }));
    }
    await status(s, "status");
  },
  "two quotas at once": async (s) => {
    await quotasOf(s, { wide: { hard: { configmaps: "3" } }, narrow: { hard: { configmaps: "2" } } });
    await tryMap(s, "one");
    await tryMap(s, "two");
    await status(s, "wide", undefined, "wide");
    await status(s, "narrow", undefined, "narrow");
  },
  "a quota that changes": async (s) => {
    await quota(s, { configmaps: "1" });
    await tryMap(s, "one");
    await s.patch("merge", `${quotas(s)}/q`, { spec: { hard: { configmaps: "2", secrets: "1" } } }, { silent: true });
    await settled(
      s,
      `${quotas(s)}/q`,
      "status",
      (object) => object.status?.hard?.configmaps === "2" && object.status.used.secrets,
    );
    await room(s, "configmaps", { metadata: { name: "two" } });
    await tryMap(s, "two");
  },
  "quotas of quotas": async (s) => {
    await quota(s, { resourcequotas: "2" });
    const another = { metadata: { name: "r" }, spec: { hard: { pods: "1" } } };
    await s.seen(`${quotas(s)}?dryRun=All`, another, (reply) => reply.status === 403);
    tell(s, "another", await s.post(quotas(s), another, { silent: true }));
    await status(s, "status", ({ resourcequotas }) => resourcequotas === "2");
  },
  "amounts in other words": async (s) => {
    await quota(s, { "requests.memory": "1G", "requests.cpu": "1500m" });
    await tryPod(s, "one", { requests: { memory: "1000000k", cpu: "1.5" } });
    await tryPod(s, "two", { requests: { memory: "512Mi", cpu: "0.5" } });
    await tryPod(s, "three", { requests: { memory: "600M", cpu: "1" } });
    await tryPod(s, "four", { requests: { memory: "1Ki", cpu: "1.1" } });
    await status(s, "status");
  },
  "quotas that cannot be": (s) =>
    refused(
      s,
      { hard: { "no such": "1" } },
      { hard: { pods: "-1" } },
      { hard: { pods: "1.5" } },
      { hard: { pods: "many" } },
      { hard: { unknown: "1" } },
      { hard: { cpu: "1" }, scopes: ["BestEffort"] },
      { hard: { pods: "1" }, scopes: ["BestEffort", "NotBestEffort"] },
      { hard: { pods: "1" }, scopes: ["Terminating", "NotTerminating"] },
      { hard: { configmaps: "1" }, scopes: ["Terminating"] },
      { hard: { pods: "1" }, scopes: ["Whatever"] },
    ),
  "selectors of scopes that cannot be": (s) => {
    const among = (expression: object) => ({ hard: { pods: "1" }, scopeSelector: { matchExpressions: [expression] } });
    return refused(
      s,
      among({ scopeName: "PriorityClass", operator: "In" }),
      among({ scopeName: "PriorityClass", operator: "Exists", values: ["a"] }),
      among({ scopeName: "BestEffort", operator: "In", values: ["a"] }),
      among({ scopeName: "PriorityClass", operator: "Near", values: ["a"] }),
      among({ scopeName: "Whatever", operator: "Exists" }),
    );
  },
  "scopes do not change": async (s) => {
    await quota(s, { pods: "1" }, { scopes: ["BestEffort"] });
    await s.patch("merge", `${quotas(s)}/q`, { spec: { scopes: ["NotBestEffort"] } });
    await s.patch("merge", `${quotas(s)}/q`, { spec: { scopes: null } });
  },
});
