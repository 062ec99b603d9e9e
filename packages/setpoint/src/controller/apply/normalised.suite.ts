import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../client/client.js";
import type { Kind } from "../../kinds/kind.js";
import { untypedKind } from "../../kinds/untyped-kind.js";
import { appliedEntry, differingPaths } from "./applied-fields.js";

const namespace = "default";
const labels = { app: "a" };
const storage = { resources: { requests: { storage: "1024Mi" } }, accessModes: ["ReadWriteOnce"] };
const POD = {
  containers: [
    {
      name: "main",
      image: "nginx",
      args: ["-v"],
      env: [
        { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
        { name: "MEMORY", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1024Ki" } } },
        { name: "KEY", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
        { name: "EMPTY", value: "" },
      ],
      envFrom: [{ configMapRef: { name: "c" } }],
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }],
      resources: { requests: { cpu: "1000m", memory: "1024Mi" }, limits: { cpu: 2, memory: "2G" } },
      livenessProbe: { httpGet: { path: "/", port: 80, httpHeaders: [{ name: "a", value: "b" }] } },
      startupProbe: { grpc: { port: 80 } },
      lifecycle: { preStop: { httpGet: { port: 80 } } },
      securityContext: { capabilities: { drop: ["ALL"] } },
      volumeMounts: [{ name: "all", mountPath: "/all" }],
    },
  ],
  initContainers: [{ name: "init", image: "busybox", command: ["true"] }],
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: labels } } },
      ],
    },
  },
  tolerations: [{ key: "a", operator: "Exists" }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: labels } },
  ],
  volumes: [
    {
      name: "all",
      projected: {
        sources: [
          { serviceAccountToken: { path: "token" } },
          { configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
          { secret: { name: "s" } },
          { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
          {
            downwardAPI: {
              items: [{ path: "cpu", resourceFieldRef: { resource: "limits.cpu", containerName: "main" } }],
            },
          },
        ],
      },
    },
    { name: "config", configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
    { name: "secret", secret: { secretName: "s" } },
    { name: "down", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
    { name: "scratch", emptyDir: { sizeLimit: "1024Mi" } },
    { name: "host", hostPath: { path: "/tmp" } },
    { name: "made", ephemeral: { volumeClaimTemplate: { spec: storage } } },
    { name: "disk", iscsi: { targetPortal: "10.0.0.1:3260", iqn: "iqn.2001-04.com.example:a", lun: 0 } },
  ],
  securityContext: { sysctls: [{ name: "kernel.shm_rmid_forced", value: "0" }], supplementalGroups: [1] },
  dnsConfig: { options: [{ name: "ndots", value: "2" }] },
};
const template = { metadata: { labels }, spec: POD };
const selector = { matchLabels: labels };
const job = { template: { spec: { ...POD, restartPolicy: "Never" } } };
const RULES = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }];

/** The desired state of each kind, as short as users write it. */
const DESIRED: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ["v1/Pod", { spec: { ...POD, serviceAccountName: "default" } }],
  ["apps/v1/Deployment", { spec: { selector, template } }],
  [
    "apps/v1/Deployment",
    {
      metadata: { name: "empty", labels: {}, annotations: {} },
      spec: {
        selector,
        replicas: 0,
        paused: false,
        strategy: {},
        template: {
          metadata: { labels, annotations: {} },
          spec: {
            nodeSelector: {},
            securityContext: {},
            tolerations: [],
            volumes: [{ name: "scratch", emptyDir: {} }],
            containers: [
              {
                name: "main",
                image: "nginx",
                env: [],
                args: [],
                ports: [],
                resources: { limits: {} },
                securityContext: {},
              },
            ],
          },
        },
      },
    },
  ],
  ["coordination.k8s.io/v1/Lease", { spec: { holderIdentity: "a", renewTime: "2026-01-01T02:00:00.000000+02:00" } }],
  [
    "apps/v1/StatefulSet",
    { metadata: { name: "b" }, spec: { selector, serviceName: "b", template, updateStrategy: {} } },
  ],
  [
    "apps/v1/DaemonSet",
    { metadata: { name: "b" }, spec: { selector, template, updateStrategy: { rollingUpdate: {} } } },
  ],
  ["v1/ConfigMap", { metadata: { name: "spaced" }, binaryData: { key: "YWJj\nZGVm" } }],
  ["v1/Secret", { metadata: { name: "spaced" }, data: { key: "YWJj\nZGVm" } }],
  [
    "v1/Service",
    { metadata: { name: "none" }, spec: { clusterIP: "None", selector: {}, ports: [{ port: 80, targetPort: "web" }] } },
  ],
  ["apps/v1/DaemonSet", { spec: { selector, template } }],
  ["apps/v1/ReplicaSet", { spec: { selector, template } }],
  [
    "apps/v1/StatefulSet",
    {
      spec: {
        selector,
        serviceName: "a",
        template,
        volumeClaimTemplates: [
          { metadata: { name: "data" }, spec: storage },
          { metadata: { name: "more", labels }, spec: { ...storage, storageClassName: "fast" } },
        ],
      },
    },
  ],
  ["v1/ReplicationController", { spec: { selector: labels, template } }],
  [
    "batch/v1/Job",
    {
      spec: {
        ...job,
        podFailurePolicy: {
          rules: [
            { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
            { action: "FailJob", onExitCodes: { operator: "In", values: [1, 2] } },
          ],
        },
      },
    },
  ],
  ["batch/v1/CronJob", { spec: { schedule: "0 3 * * *", jobTemplate: { spec: job } } }],
  [
    "v1/Service",
    {
      spec: {
        selector: labels,
        ports: [
          { name: "web", port: 80 },
          { name: "dns", port: 53, protocol: "UDP" },
        ],
      },
    },
  ],
  ["v1/Secret", { stringData: { user: "a" }, data: { key: "YQ==" } }],
  ["v1/ConfigMap", { data: { a: "b" }, binaryData: { c: "YQ==" } }],
  ["v1/PersistentVolumeClaim", { spec: storage }],
  [
    "v1/PersistentVolume",
    { spec: { capacity: { storage: "1024Mi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp" } } },
  ],
  ["v1/ServiceAccount", { imagePullSecrets: [{ name: "s" }], secrets: [{ name: "s" }] }],
  [
    "v1/LimitRange",
    {
      spec: {
        limits: [
          { type: "Container", max: { cpu: "2000m" }, min: { cpu: "100m" }, defaultRequest: { memory: "1024Mi" } },
          { type: "Pod", max: { memory: "2048Mi" } },
        ],
      },
    },
  ],
  ["v1/ResourceQuota", { spec: { hard: { "requests.cpu": "1000m" }, scopes: ["NotTerminating"] } }],
  ["v1/Endpoints", { subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }] }],
  [
    "discovery.k8s.io/v1/EndpointSlice",
    { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports: [{ port: 80 }] },
  ],
  [
    "networking.k8s.io/v1/NetworkPolicy",
    {
      spec: {
        podSelector: {},
        ingress: [{ from: [{ podSelector: selector }], ports: [{ port: 80 }, { port: "dns", protocol: "UDP" }] }],
        egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ port: 80, endPort: 90 }] }],
      },
    },
  ],
  [
    "networking.k8s.io/v1/Ingress",
    {
      spec: {
        tls: [{ hosts: ["a.example.com"], secretName: "s" }],
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "a", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  ],
  [
    "autoscaling/v2/HorizontalPodAutoscaler",
    {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" },
        maxReplicas: 3,
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1024Mi" } } },
          {
            type: "External",
            external: { metric: { name: "queue", selector }, target: { type: "Value", value: "1000m" } },
          },
        ],
        behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } },
      },
    },
  ],
  ["policy/v1/PodDisruptionBudget", { spec: { minAvailable: 1, selector } }],
  ["rbac.authorization.k8s.io/v1/Role", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }],
  ["rbac.authorization.k8s.io/v1/ClusterRole", { rules: [{ nonResourceURLs: ["/a"], verbs: ["get"] }] }],
  ...["RoleBinding", "ClusterRoleBinding"].map(
    (name) =>
      [
        `rbac.authorization.k8s.io/v1/${name}`,
        {
          roleRef: { kind: "ClusterRole", name: "a" },
          subjects: [
            { kind: "ServiceAccount", name: "a", namespace },
            { kind: "User", name: "u" },
            { kind: "Group", name: "g" },
          ],
        },
      ] as const,
  ),
  [
    "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
    {
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { service: { namespace, name: "a" } },
          rules: RULES,
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    },
  ],
  [
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
    { spec: { matchConstraints: { resourceRules: RULES }, validations: [{ expression: "true" }] } },
  ],
  [
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
    { spec: { policyName: "a", validationActions: ["Deny"], matchResources: { namespaceSelector: selector } } },
  ],
  ["storage.k8s.io/v1/StorageClass", { provisioner: "example.com/a", parameters: { a: "b" } }],
  ["scheduling.k8s.io/v1/PriorityClass", { value: 1 }],
  ["node.k8s.io/v1/RuntimeClass", { handler: "a", overhead: { podFixed: { cpu: "1000m" } } }],
  [
    "resource.k8s.io/v1/ResourceClaim",
    { spec: { devices: { requests: [{ name: "a", exactly: { deviceClassName: "gpu" } }] } } },
  ],
  [
    "apiextensions.k8s.io/v1/CustomResourceDefinition",
    {
      metadata: { name: "things.a.example.com" },
      spec: {
        group: "a.example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", default: {} } } } },
            additionalPrinterColumns: [{ name: "a", type: "string", jsonPath: ".spec.a" }],
            subresources: { status: {} },
          },
        ],
      },
    },
  ],
];

const CLUSTER_SCOPED =
  /PersistentVolume$|Cluster|Configuration$|AdmissionPolicy|StorageClass|PriorityClass|RuntimeClass|Definition$/;

/**
 * How servers normalize applied objects: after a restart, only the object and its managedFields tell whether it is as
 * desired.
 */
export function normalisedSuite(
  title: string,
  start: () => Promise<AsyncDisposable & { readonly client: Client }>,
): void {
  describe(`${title}: a process that did not apply an object sees that it is as desired`, () => {
    let server: Awaited<ReturnType<typeof start>>;
    beforeAll(async () => {
      server = await start();
    }, 120_000);
    afterAll(() => server[Symbol.asyncDispose]());

    it.each(DESIRED)("%s", async (id, stated) => {
      const scope = CLUSTER_SCOPED.test(id) ? "Cluster" : "Namespaced";
      const of: Kind = untypedKind(id as "v1/Pod", {
        scope,
        ...(id === "v1/Endpoints" ? { plural: "endpoints" } : {}),
      });
      const metadata = {
        name: "a",
        labels,
        ...(scope === "Namespaced" ? { namespace } : {}),
        ...(stated.metadata ?? {}),
      };
      const desired = { ...stated, apiVersion: of.apiVersion, kind: of.kind, metadata };
      const options = { fieldManager: "test", force: true };
      const applied = await server.client.apply(of, desired as never, options);
      const entry = appliedEntry(applied, "test")?.fieldsV1;
      expect(entry).toBeDefined();
      expect(differingPaths(entry!, desired as never, applied)).toEqual([]);
    });
  });
}
