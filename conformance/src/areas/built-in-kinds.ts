import { area } from "../case.js";
import type { Body, Session } from "../session.js";

/** A kind, and an object of it that both servers accept. */
interface Sample {
  readonly path: (s: Session) => string;
  readonly body: Body;
}

const within = (group: string, plural: string) => (s: Session) =>
  `${group === "v1" ? "/api/v1" : `/apis/${group}`}/namespaces/${s.namespace}/${plural}`;

const labels = { app: "a" };
export const container = { name: "main", image: "one" };
/** Without a token, whose volume name differs between servers. */
const spec = { containers: [container], automountServiceAccountToken: false };
const template = { metadata: { labels }, spec };
const selector = { matchLabels: labels };

const of = (group: string, plural: string, body: object): Sample => ({
  path: within(group, plural),
  body: { metadata: { name: "x" }, ...body },
});
export const POD = of("v1", "pods", { spec });
const DEPLOYMENT = of("apps/v1", "deployments", { spec: { selector, template } });
const STATEFUL = of("apps/v1", "statefulsets", { spec: { serviceName: "a", selector, template } });
const DAEMON = of("apps/v1", "daemonsets", { spec: { selector, template } });
const REPLICAS = of("apps/v1", "replicasets", { spec: { selector, template } });
const JOB = of("batch/v1", "jobs", { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } });
const AUTOSCALER = of("autoscaling/v2", "horizontalpodautoscalers", {
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" }, maxReplicas: 2 },
});
const VOLUME: Sample = {
  path: () => "/api/v1/persistentvolumes",
  body: {
    metadata: { name: "x" },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  },
};
const INGRESS = of("networking.k8s.io/v1", "ingresses", {
  spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
});
const NETWORK_POLICY = of("networking.k8s.io/v1", "networkpolicies", { spec: { podSelector: {} } });
const BUDGET = of("policy/v1", "poddisruptionbudgets", { spec: { selector, minAvailable: 1 } });
const ROLE = of("rbac.authorization.k8s.io/v1", "roles", {
  rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
});
const BINDING = of("rbac.authorization.k8s.io/v1", "rolebindings", {
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x" },
  subjects: [{ kind: "User", name: "u" }],
});
const MAP = of("v1", "configmaps", { data: { a: "b" } });
const SECRET = of("v1", "secrets", { data: { a: "Yg==" } });
const LEASE = of("coordination.k8s.io/v1", "leases", { spec: { holderIdentity: "me" } });
const SLICE = of("discovery.k8s.io/v1", "endpointslices", { addressType: "IPv4", endpoints: [], ports: [] });

export function merged(base: Body, change: Body): Body {
  if (typeof change !== "object" || change === null || Array.isArray(change)) return change;
  const isObject = typeof base === "object" && base !== null && !Array.isArray(base);
  const next: Record<string, Body> = isObject ? { ...base } : {};
  for (const [key, value] of Object.entries(change)) next[key] = merged(next[key], value);
  return next;
}

/** Tries to create objects that differ from a valid one in one field each, in dry run. */
export const tried =
  ({ path, body }: Sample, ...changes: readonly object[]) =>
  async (s: Session): Promise<void> => {
    for (const change of changes) await s.post(`${path(s)}?dryRun=All`, merged(body, change));
  };

/** Creates a valid object, and tries to change one field each. */
const changed =
  ({ path, body }: Sample, ...changes: readonly object[]) =>
  async (s: Session): Promise<void> => {
    const made = await s.post(path(s), body, { silent: true });
    if (made.status !== 201) s.note("refused", made.body);
    for (const change of changes) {
      const { status, body: answer } = await s.patch("merge", `${path(s)}/x?dryRun=All`, change, { silent: true });
      // The lines after the first are a diff of Go's own structs.
      const told = { code: answer.code, message: String(answer.message).split("\n")[0], fields: fieldsOf(answer) };
      s.note(JSON.stringify(change), status === 200 ? { status, spec: answer.spec } : told);
    }
  };

const fieldsOf = ({ details }: Body): unknown =>
  details?.causes?.map(({ field, reason }: Body) => `${field} ${reason}`).sort();

const inPod = (change: object) => ({ spec: { containers: [{ ...container, ...change }] } });
const withVolume = (volume: object, mount: object = {}) => ({
  spec: {
    containers: [{ ...container, volumeMounts: [{ name: "v", mountPath: "/v", ...mount }] }],
    volumes: [{ name: "v", ...volume }],
  },
});
const probe = (change: object) => inPod({ livenessProbe: { httpGet: { port: 80 }, ...change } });

export const builtInKindCases = area("built-in kinds", {
  "pods: names and images of containers": tried(
    POD,
    { spec: { containers: [] } },
    inPod({ name: "No Good" }),
    inPod({ name: "" }),
    inPod({ image: "" }),
    inPod({ image: " one" }),
    inPod({ imagePullPolicy: "Sometimes" }),
    { spec: { containers: [container, container] } },
    { spec: { initContainers: [container] } },
  ),
  "pods: ports": tried(
    POD,
    inPod({ ports: [{ containerPort: 0 }] }),
    inPod({ ports: [{ containerPort: 70_000 }] }),
    inPod({ ports: [{ containerPort: 80, protocol: "HTTP" }] }),
    inPod({ ports: [{ containerPort: 80, name: "this-name-is-too-long" }] }),
    inPod({
      ports: [
        { containerPort: 80, name: "a" },
        { containerPort: 81, name: "a" },
      ],
    }),
    inPod({ ports: [{ containerPort: 80, hostPort: 70_000 }] }),
    { spec: { hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 81 }] }] } },
  ),
  "pods: environment": tried(
    POD,
    inPod({ env: [{ name: "" }] }),
    inPod({ env: [{ name: "A=B", value: "c" }] }),
    inPod({ env: [{ name: "A", value: "b", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
    inPod({ env: [{ name: "A", valueFrom: {} }] }),
    inPod({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.nonsense" } } }] }),
    inPod({ env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.nonsense" } } }] }),
    inPod({ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "a b" } } }] }),
    inPod({ envFrom: [{}] }),
  ),
  "pods: probes": tried(
    POD,
    inPod({ livenessProbe: {} }),
    probe({ tcpSocket: { port: 80 } }),
    probe({ httpGet: { port: 0 } }),
    probe({ httpGet: { port: "no port" } }),
    probe({ httpGet: { port: 80, scheme: "FTP" } }),
    probe({ httpGet: { port: 80, httpHeaders: [{ name: "a b", value: "c" }] } }),
    probe({ periodSeconds: -1, timeoutSeconds: -1, initialDelaySeconds: -1 }),
    probe({ successThreshold: 2 }),
    inPod({ livenessProbe: { exec: { command: [] } } }),
    inPod({ readinessProbe: { grpc: { port: 0 } } }),
  ),
  "pods: volumes and mounts": tried(
    POD,
    withVolume({ emptyDir: {}, hostPath: { path: "/a" } }),
    withVolume({}),
    withVolume({ name: "No Good", emptyDir: {} }),
    withVolume({ emptyDir: {} }, { mountPath: "" }),
    withVolume({ emptyDir: {} }, { name: "other" }),
    withVolume({ emptyDir: {} }, { subPath: "../up" }),
    withVolume({ emptyDir: {} }, { subPath: "a", subPathExpr: "b" }),
    withVolume({ hostPath: { path: "/a/../b" } }),
    withVolume({ configMap: { name: "m", items: [{ key: "", path: "/abs" }] } }),
    withVolume({ secret: { secretName: "", defaultMode: 9_999 } }),
    withVolume({ persistentVolumeClaim: { claimName: "No Good" } }),
    withVolume({ projected: { defaultMode: 9_999, sources: [{ configMap: { name: "m" } }] } }),
  ),
  "pods: what they ask for": tried(
    POD,
    inPod({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    inPod({ resources: { requests: { cpu: "-1" } } }),
    inPod({ resources: { requests: { "example.com/gpu": "1.5" }, limits: { "example.com/gpu": "1.5" } } }),
    inPod({ resources: { requests: { "example.com/gpu": "1" } } }),
    inPod({ resources: { requests: { nonsense: "1" } } }),
    inPod({ resources: { requests: { cpu: "lots" } } }),
    inPod({ resources: { limits: { "hugepages-2Mi": "4Mi" } } }),
  ),
  "pods: how they run": tried(
    POD,
    { spec: { restartPolicy: "Sometimes" } },
    { spec: { dnsPolicy: "None" } },
    { spec: { terminationGracePeriodSeconds: -1 } },
    { spec: { activeDeadlineSeconds: 0 } },
    { spec: { hostname: "No.Good", subdomain: "-no" } },
    { spec: { nodeSelector: { "a b": "c" } } },
    { spec: { tolerations: [{ operator: "Near" }] } },
    { spec: { tolerations: [{ key: "a", operator: "Exists", value: "b" }] } },
    { spec: { tolerations: [{ operator: "Equal", value: "a" }] } },
    { spec: { hostAliases: [{ ip: "nowhere", hostnames: ["A B"] }] } },
    { spec: { serviceAccountName: "No Good" } },
  ),
  "pods: rights": tried(
    POD,
    inPod({ securityContext: { runAsUser: -1 } }),
    inPod({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    inPod({ securityContext: { procMount: "Some" } }),
    inPod({ securityContext: { seccompProfile: { type: "Localhost" } } }),
    { spec: { securityContext: { fsGroupChangePolicy: "Sometimes" } } },
    { spec: { securityContext: { sysctls: [{ name: "no good", value: "1" }] } } },
    { spec: { securityContext: { supplementalGroups: [-1] } } },
  ),
  "pods: affinities and spread": tried(
    POD,
    {
      spec: {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
      },
    },
    {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In" }] }],
            },
          },
        },
      },
    },
    { spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "" }] } } } },
    { spec: { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }] } },
    { spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "", whenUnsatisfiable: "Sometimes" }] } },
  ),
  "pods: what does not change": changed(
    POD,
    { spec: { restartPolicy: "Never" } },
    { spec: { containers: [{ ...container, image: "two" }] } },
    { spec: { containers: [{ ...container, command: ["a"] }] } },
    { spec: { containers: [container, { ...container, name: "other" }] } },
    { spec: { nodeSelector: { a: "b" } } },
    { spec: { activeDeadlineSeconds: 10 } },
    { metadata: { name: "y" } },
  ),
  "pods: the cost of deleting one": tried(
    POD,
    { metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "cheap" } } },
    { metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "4294967296" } } },
    { spec: { schedulingGates: [{ name: "no good" }] } },
  ),
  "deployments: selectors and templates": tried(
    DEPLOYMENT,
    { spec: { selector: { matchLabels: { app: "b" } } } },
    { spec: { selector: { matchLabels: null } } },
    { spec: { selector: { matchExpressions: [{ key: "app", operator: "In" }] } } },
    { spec: { selector: { matchExpressions: [{ key: "a b", operator: "Near" }] } } },
    { spec: { template: { spec: { restartPolicy: "Never" } } } },
    { spec: { template: { spec: { activeDeadlineSeconds: 5 } } } },
  ),
  "deployments: strategies and numbers": tried(
    DEPLOYMENT,
    { spec: { replicas: -1 } },
    { spec: { minReadySeconds: -1, revisionHistoryLimit: -1 } },
    { spec: { progressDeadlineSeconds: 5, minReadySeconds: 5 } },
    { spec: { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } } },
    { spec: { strategy: { type: "Sometimes" } } },
    { spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
    { spec: { strategy: { rollingUpdate: { maxSurge: "half" } } } },
    { spec: { strategy: { rollingUpdate: { maxUnavailable: "101%" } } } },
  ),
  "deployments: what does not change": changed(
    DEPLOYMENT,
    { spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } } },
    { spec: { template: { metadata: { labels: { app: "b" } } } } },
    { spec: { strategy: { type: "Recreate", rollingUpdate: null } } },
    { spec: { strategy: { type: "Recreate" } } },
  ),
  "replica sets": tried(
    REPLICAS,
    { spec: { replicas: -1 } },
    { spec: { minReadySeconds: -1 } },
    { spec: { selector: { matchLabels: { app: "b" } } } },
    { spec: { template: { spec: { restartPolicy: "OnFailure" } } } },
  ),
  "stateful sets": tried(
    STATEFUL,
    { spec: { podManagementPolicy: "Random" } },
    { spec: { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } } },
    { spec: { updateStrategy: { rollingUpdate: { partition: -1 } } } },
    { spec: { ordinals: { start: -1 } } },
    { spec: { replicas: -1, minReadySeconds: -1 } },
    { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Burn" } } },
    { spec: { serviceName: "No Good" } },
    { metadata: { name: "dots.are.not" } },
  ),
  "stateful sets: what does not change": changed(
    STATEFUL,
    { spec: { serviceName: "b" } },
    { spec: { podManagementPolicy: "Parallel" } },
    { spec: { replicas: 3, minReadySeconds: 5 } },
    { spec: { volumeClaimTemplates: [{ metadata: { name: "d" }, spec: { accessModes: ["ReadWriteOnce"] } }] } },
    { spec: { selector: { matchLabels: { app: "b" } } } },
  ),
  "daemon sets": tried(
    DAEMON,
    { spec: { updateStrategy: { type: "Sometimes" } } },
    { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } } },
    { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } } },
    { spec: { minReadySeconds: -1, revisionHistoryLimit: -1 } },
    { spec: { template: { spec: { restartPolicy: "Never" } } } },
    { spec: { selector: { matchLabels: { app: "b" } } } },
  ),
  jobs: tried(
    JOB,
    { spec: { parallelism: -1, completions: -1, backoffLimit: -1 } },
    { spec: { template: { spec: { restartPolicy: "Always" } } } },
    { spec: { completionMode: "Indexed" } },
    { spec: { completionMode: "Indexed", completions: 2, backoffLimitPerIndex: -1 } },
    { spec: { backoffLimitPerIndex: 1 } },
    { spec: { podReplacementPolicy: "Never" } },
    { spec: { podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [1] } }] } } },
    { spec: { podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [0] } }] } } },
    { spec: { successPolicy: { rules: [] } } },
    { spec: { ttlSecondsAfterFinished: -1, activeDeadlineSeconds: -1 } },
    { spec: { manualSelector: true } },
  ),
  "jobs: what does not change": changed(
    JOB,
    { spec: { completions: 5 } },
    { spec: { parallelism: 3, suspend: true } },
    { spec: { template: { spec: { containers: [{ ...container, image: "two" }] } } } },
    { spec: { completionMode: "Indexed" } },
    { spec: { backoffLimit: 1, ttlSecondsAfterFinished: 5 } },
  ),
  "config maps and secrets": async (s) => {
    await tried(
      MAP,
      { data: { "a b": "c" } },
      { binaryData: { a: "Yg==" } },
      { data: { "..": "a" } },
      { immutable: "yes" },
    )(s);
    await tried(
      SECRET,
      { data: { "a/b": "Yg==" } },
      { type: "kubernetes.io/tls" },
      { type: "kubernetes.io/basic-auth" },
      { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "Yg==" } },
      { type: "kubernetes.io/service-account-token" },
      { stringData: { c: "d" } },
    )(s);
  },
  ingresses: tried(
    INGRESS,
    { spec: { defaultBackend: null } },
    { spec: { defaultBackend: { service: { name: "Web", port: { number: 0 } } } } },
    { spec: { defaultBackend: { service: { name: "web", port: { number: 80, name: "http" } } } } },
    { spec: { defaultBackend: { resource: { kind: "A", name: "b" } } } },
    { spec: { rules: [{ host: "*.*.example.com" }] } },
    { spec: { rules: [{ host: "1.2.3.4" }] } },
    { spec: { rules: [{ http: { paths: [] } }] } },
    {
      spec: {
        rules: [
          {
            http: {
              paths: [
                { path: "relative", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    },
    {
      spec: {
        rules: [{ http: { paths: [{ path: "/", backend: { service: { name: "web", port: { number: 80 } } } }] } }],
      },
    },
    { spec: { tls: [{ hosts: ["no good"] }] } },
    { spec: { ingressClassName: "No Good" } },
  ),
  "network policies": tried(
    NETWORK_POLICY,
    { spec: { policyTypes: ["Sideways"] } },
    { spec: { policyTypes: ["Ingress", "Egress", "Ingress"] } },
    { spec: { ingress: [{ ports: [{ port: 70_000 }] }] } },
    { spec: { ingress: [{ ports: [{ port: "http", endPort: 81 }] }] } },
    { spec: { ingress: [{ ports: [{ port: 90, endPort: 81 }] }] } },
    { spec: { ingress: [{ from: [{}] }] } },
    { spec: { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/33" } }] }] } },
    { spec: { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/16", except: ["11.0.0.0/24"] } }] }] } },
    { spec: { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/16" }, podSelector: {} }] }] } },
  ),
  "disruption budgets": tried(
    BUDGET,
    { spec: { maxUnavailable: 1 } },
    { spec: { minAvailable: -1 } },
    { spec: { minAvailable: "101%" } },
    { spec: { minAvailable: "half" } },
    { spec: { unhealthyPodEvictionPolicy: "Sometimes" } },
    { spec: { selector: { matchLabels: { "a b": "c" } } } },
  ),
  "roles and bindings": async (s) => {
    await tried(
      ROLE,
      { rules: [{ verbs: [] }] },
      { rules: [{ verbs: ["get"], apiGroups: [], resources: [] }] },
      { rules: [{ verbs: ["get"], nonResourceURLs: ["/a"] }] },
      { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: [""] }] },
    )(s);
    await tried(
      BINDING,
      { roleRef: { kind: "Pod" } },
      { roleRef: { apiGroup: "v1" } },
      { roleRef: { name: "" } },
      { subjects: [{ kind: "User", name: "" }] },
      { subjects: [{ kind: "ServiceAccount", name: "Default" }] },
      { subjects: [{ kind: "Team", name: "a" }] },
      { subjects: [{ kind: "Group", name: "g", namespace: "n" }] },
    )(s);
  },
  "bindings: what does not change": changed(BINDING, { roleRef: { name: "y" } }, { subjects: [] }),
  leases: tried(
    LEASE,
    { spec: { leaseDurationSeconds: 0 } },
    { spec: { leaseTransitions: -1 } },
    { spec: { acquireTime: "yesterday" } },
    { spec: { renewTime: "1" } },
  ),
  "endpoint slices": tried(
    SLICE,
    { addressType: "IPv5" },
    { addressType: "" },
    { endpoints: [{ addresses: [] }] },
    { endpoints: [{ addresses: ["10.0.0.300"] }] },
    { endpoints: [{ addresses: ["fd00::1"] }] },
    { endpoints: [{ addresses: ["127.0.0.1"] }] },
    { endpoints: [{ addresses: ["10.0.0.1"], hostname: "No Good" }] },
    { ports: [{ name: "No Good", port: 80 }] },
    { ports: [{ port: 80 }, { port: 81 }] },
    { ports: [{ port: 80, protocol: "HTTP" }] },
  ),
  "empty lists and maps that are refused": async (s) => {
    await tried(POD, { spec: { resources: { claims: [] } } }, { spec: { resources: { claims: [], limits: {} } } })(s);
    await tried(POD, { spec: { containers: [{ ...container, resources: { claims: [] } }] } })(s);
    await tried(DEPLOYMENT, { spec: { template: { spec: { resources: { claims: [] } } } } })(s);
    await tried(
      AUTOSCALER,
      { spec: { behavior: { scaleDown: { policies: [] } } } },
      { spec: { behavior: { scaleUp: { policies: [], selectPolicy: "Disabled" } } } },
      { spec: { behavior: { scaleUp: {} } } },
      { spec: { metrics: [] } },
    )(s);
    await tried(VOLUME, { spec: { capacity: {} } }, { spec: { capacity: null } })(s);
  },
  "names of all sorts": async (s) => {
    for (const { path, body } of [POD, DEPLOYMENT, STATEFUL, REPLICAS, INGRESS, MAP, SECRET]) {
      for (const name of ["Upper", "under_score", "-dash", "a".repeat(254), "dots.are.fine"])
        await s.post(`${path(s)}?dryRun=All`, merged(body, { metadata: { name } }));
    }
  },
  "labels and annotations": tried(
    MAP,
    { metadata: { labels: { "no good": "a" } } },
    { metadata: { labels: { a: "no good" } } },
    { metadata: { labels: { ["a".repeat(64)]: "b" } } },
    { metadata: { labels: { "a/b/c": "d" } } },
    { metadata: { annotations: { "no good": "a" } } },
    { metadata: { finalizers: ["unqualified"] } },
    { metadata: { ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] } },
  ),
});
