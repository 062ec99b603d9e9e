import { area } from "../../case.js";
import type { Body, Reply, Session } from "../../session.js";

const inNamespace = (s: Session, plural: string): string => `/api/v1/namespaces/${s.namespace}/${plural}`;
const pods = (s: Session): string => inNamespace(s, "pods");
const pod = (name: string, spec: object = {}, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});

/** Creates a pod that no scheduler touches, and records its spec. Treats the name of its token volume as generated. */
async function made(s: Session, name: string, spec: object = {}): Promise<Reply> {
  const reply = await s.post(pods(s), pod(name, { schedulerName: "none", ...spec }), { silent: true });
  for (const volume of reply.body.spec?.volumes ?? []) {
    if (volume.name.startsWith("kube-api-access-")) s.generated(volume.name);
  }
  s.note(name, [reply.status, reply.body.spec ?? reply.body]);
  return reply;
}

const priorityClasses = "/apis/scheduling.k8s.io/v1/priorityclasses";
const storageClasses = "/apis/storage.k8s.io/v1/storageclasses";
const claim = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});

export const admissionCases = area("admission", {
  "a pod gets an account, a token, a priority and tolerations": async (s) => {
    await made(s, "plain");
    await made(s, "init", { initContainers: [{ name: "first", image: "i" }] });
  },
  "a pod without a token": async (s) => {
    await made(s, "none", { automountServiceAccountToken: false });
    const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
    const volumes = [{ name: "own", emptyDir: {} }];
    await made(s, "own", {
      volumes,
      containers: [{ name: "c", image: "i", volumeMounts: [{ name: "own", mountPath }] }],
    });
  },
  "a pod of an account that is not there": async (s) => {
    await made(s, "a", { serviceAccountName: "nobody" });
    const annotations = { "kubernetes.io/config.mirror": "x" };
    await s.post(pods(s), pod("b", { serviceAccountName: "x", nodeName: "n" }, { annotations }));
  },
  "an account says what its pods get": async (s) => {
    const account = { imagePullSecrets: [{ name: "pull" }], automountServiceAccountToken: false };
    await s.post(inNamespace(s, "serviceaccounts"), { metadata: { name: "mine" }, ...account }, { silent: true });
    await made(s, "a", { serviceAccountName: "mine" });
    await made(s, "b", {
      serviceAccountName: "mine",
      automountServiceAccountToken: true,
      imagePullSecrets: [{ name: "other" }],
    });
  },
  "an account names the secrets that its pods may use": async (s) => {
    const metadata = { name: "strict", annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } };
    const account = { metadata, secrets: [{ name: "mine" }], imagePullSecrets: [{ name: "pull" }] };
    await s.post(inNamespace(s, "serviceaccounts"), account, { silent: true });
    const variable = { name: "V", valueFrom: { secretKeyRef: { name: "theirs", key: "k" } } };
    const container = (more: object): object[] => [{ name: "c", image: "i", ...more }];
    const uses: Readonly<Record<string, object>> = {
      volume: { volumes: [{ name: "v", secret: { secretName: "theirs" } }] },
      own: { volumes: [{ name: "v", secret: { secretName: "mine" } }] },
      projected: { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "theirs" } }] } }] },
      variable: { containers: container({ env: [variable] }) },
      init: { initContainers: container({ env: [variable] }), containers: [{ name: "d", image: "i" }] },
      environment: { containers: container({ envFrom: [{ secretRef: { name: "theirs" } }] }) },
      pull: { imagePullSecrets: [{ name: "pull" }, { name: "mine" }] },
    };
    for (const [name, spec] of Object.entries(uses)) {
      const reply = await s.post(`${pods(s)}?dryRun=All`, pod(name, { serviceAccountName: "strict", ...spec }), {
        silent: true,
      });
      s.note(name, [reply.status, reply.body.reason, reply.body.message]);
    }
  },
  "a pod's priority comes from its class": async (s) => {
    const name = s.namespace;
    await s.post(priorityClasses, { metadata: { name }, value: 7, preemptionPolicy: "Never" });
    await s.seen(`${pods(s)}?dryRun=All`, pod("a", { priorityClassName: name }), ({ status }) => status === 201);
    await made(s, "a", { priorityClassName: name });
    await made(s, "b", { priorityClassName: "none" });
    await made(s, "c", { priorityClassName: name, priority: 8 });
    await made(s, "d", { priorityClassName: name, preemptionPolicy: "PreemptLowerPriority" });
    await made(s, "e", { priority: 1 });
    await made(s, "f", { priorityClassName: "system-cluster-critical" });
    await s.delete(`${priorityClasses}/${name}`, undefined, { silent: true });
  },
  "one priority class is the default": {
    alone: true,
    run: async (s) => {
      const name = s.namespace;
      await s.post(priorityClasses, { metadata: { name }, value: 7, globalDefault: true });
      const second = { metadata: { name: `${name}-x` }, value: 8, globalDefault: true };
      await s.seen(`${priorityClasses}?dryRun=All`, second, ({ status }) => status !== 201);
      await s.post(priorityClasses, second);
      await made(s, "a");
      await s.delete(`${priorityClasses}/${name}`, undefined, { silent: true });
    },
  },
  "tolerations that a pod has are kept": async (s) => {
    await made(s, "all", { tolerations: [{ operator: "Exists" }] });
    await made(s, "one", {
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
      ],
    });
    await made(s, "other", { tolerations: [{ key: "x", operator: "Equal", value: "y", effect: "NoSchedule" }] });
  },
  "an update keeps what admission gave": async (s) => {
    const { body } = await made(s, "a");
    const { priority: _priority, preemptionPolicy: _policy, ...spec } = body.spec;
    const reply = await s.put(`${pods(s)}/a`, { ...body, spec }, { silent: true });
    s.note("after", [reply.status, reply.body.spec]);
  },
  "a runtime class brings its overhead and nodes": async (s) => {
    const name = s.namespace;
    const classes = "/apis/node.k8s.io/v1/runtimeclasses";
    await s.post(classes, {
      metadata: { name },
      handler: "h",
      overhead: { podFixed: { cpu: "100m" } },
      scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "t", operator: "Exists" }] },
    });
    await made(s, "a", { runtimeClassName: name });
    await made(s, "b", { runtimeClassName: "none" });
    await made(s, "c", { runtimeClassName: name, nodeSelector: { a: "c" } });
    await made(s, "d", { runtimeClassName: name, overhead: { cpu: "1" } });
    await made(s, "e", { overhead: { cpu: "1" } });
    await s.delete(`${classes}/${name}`, undefined, { silent: true });
  },
  "a new node is tainted": async (s) => {
    const reply = await s.post("/api/v1/nodes", { metadata: { name: s.namespace } }, { silent: true });
    s.note("node", [reply.status, reply.body.spec?.taints]);
    const own = [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }];
    const name = `${s.namespace}-x`;
    const again = await s.post("/api/v1/nodes", { metadata: { name }, spec: { taints: own } }, { silent: true });
    s.note("again", [again.status, again.body.spec?.taints]);
    for (const each of [s.namespace, name]) await s.delete(`/api/v1/nodes/${each}`, undefined, { silent: true });
  },
  "a claim gets the default storage class": {
    alone: true,
    run: async (s) => {
      const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
      const binding = { volumeBindingMode: "WaitForFirstConsumer" };
      const made = { metadata: { name: s.namespace, annotations }, provisioner: "p", ...binding };
      await s.post(storageClasses, made);
      const dryRun = `${inNamespace(s, "persistentvolumeclaims")}?dryRun=All`;
      await s.seen(dryRun, claim("a", {}), ({ body }) => body.spec?.storageClassName !== undefined);
      for (const spec of [{}, { storageClassName: "" }, { storageClassName: "other" }]) {
        const reply = await s.post(inNamespace(s, "persistentvolumeclaims"), claim("a", spec), { silent: true });
        s.note("claim", [reply.status, reply.body.spec, reply.body.metadata?.finalizers]);
        const name = `${inNamespace(s, "persistentvolumeclaims")}/a`;
        await s.delete(name, undefined, { silent: true });
        await s.eventually(name, (answer) => answer.status === 404);
      }
      await s.delete(`${storageClasses}/${s.namespace}`, undefined, { silent: true });
    },
  },
  "an ingress gets the default class": {
    alone: true,
    run: async (s) => {
      const classes = "/apis/networking.k8s.io/v1/ingressclasses";
      const ingresses = `/apis/networking.k8s.io/v1/namespaces/${s.namespace}/ingresses`;
      const spec = { defaultBackend: { service: { name: "s", port: { number: 80 } } } };
      const annotations = { "ingressclass.kubernetes.io/is-default-class": "true" };
      await s.post(classes, { metadata: { name: s.namespace, annotations }, spec: { controller: "x.io/y" } });
      const probe = { metadata: { name: "probe" }, spec };
      await s.seen(`${ingresses}?dryRun=All`, probe, ({ body }) => body.spec.ingressClassName !== undefined);
      const named = { ...spec, ingressClassName: "own" };
      const tries: Body[] = [
        { metadata: { name: "a" }, spec },
        { metadata: { name: "b" }, spec: named },
        { metadata: { name: "c", annotations: { "kubernetes.io/ingress.class": "old" } }, spec },
      ];
      for (const each of tries) {
        const reply = await s.post(ingresses, each, { silent: true });
        s.note(each.metadata.name, [reply.status, reply.body.spec]);
      }
      await s.delete(`${classes}/${s.namespace}`, undefined, { silent: true });
    },
  },
});
