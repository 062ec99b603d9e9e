// One rich and valid object of each built-in kind that operators create, which the validation differential changes
// field by field. The simpler ones of ../samples.mjs cover the rest.
import { samples } from "../samples.mjs";

const NAMESPACE = "validation";
const labels = { app: "a" };
const selector = { matchLabels: labels, matchExpressions: [{ key: "app", operator: "In", values: ["a"] }] };

const container = {
  name: "main",
  image: "registry.example/app:1",
  command: ["run"],
  workingDir: "/app",
  ports: [{ name: "http", containerPort: 80, protocol: "TCP" }],
  env: [
    { name: "PLAIN", value: "v" },
    { name: "NODE", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "spec.nodeName" } } },
    { name: "CPU", valueFrom: { resourceFieldRef: { containerName: "main", resource: "limits.cpu", divisor: "1" } } },
    { name: "SECRET", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: true } } },
    { name: "CONFIG", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } },
  ],
  envFrom: [{ prefix: "P_", configMapRef: { name: "c" } }, { secretRef: { name: "s" } }],
  resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m", memory: "512Mi" } },
  volumeMounts: [
    { name: "data", mountPath: "/data", subPath: "x", mountPropagation: "None" },
    { name: "config", mountPath: "/config", readOnly: true, recursiveReadOnly: "Disabled" },
  ],
  livenessProbe: { httpGet: { path: "/live", port: "http", scheme: "HTTP", httpHeaders: [{ name: "H", value: "v" }] } },
  readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 1, periodSeconds: 2, timeoutSeconds: 3 },
  startupProbe: { exec: { command: ["true"] }, failureThreshold: 30 },
  lifecycle: { preStop: { exec: { command: ["stop"] } }, postStart: { httpGet: { path: "/", port: 80 } } },
  securityContext: {
    runAsUser: 1,
    runAsGroup: 1,
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] },
    seccompProfile: { type: "RuntimeDefault" },
    procMount: "Default",
  },
};

const term = { labelSelector: selector, topologyKey: "kubernetes.io/hostname", namespaces: ["n"] };
const podSpec = {
  containers: [container, { name: "side", image: "i", readinessProbe: { grpc: { port: 90 } } }],
  initContainers: [{ name: "init", image: "i" }],
  volumes: [
    { name: "data", emptyDir: { sizeLimit: "1Gi", medium: "Memory" } },
    { name: "config", configMap: { name: "c", defaultMode: 420, items: [{ key: "k", path: "p", mode: 256 }] } },
    { name: "secret", secret: { secretName: "s", items: [{ key: "k", path: "p" }] } },
    { name: "claim", persistentVolumeClaim: { claimName: "p" } },
    { name: "host", hostPath: { path: "/h", type: "Directory" } },
    {
      name: "projected",
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { path: "token", expirationSeconds: 3600, audience: "a" } },
          { configMap: { name: "c", items: [{ key: "k", path: "cm" }] } },
          {
            downwardAPI: { items: [{ path: "labels", fieldRef: { apiVersion: "v1", fieldPath: "metadata.labels" } }] },
          },
        ],
      },
    },
    { name: "csi", csi: { driver: "csi.example", volumeAttributes: { a: "b" }, nodePublishSecretRef: { name: "s" } } },
    {
      name: "ephemeral",
      ephemeral: {
        volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
      },
    },
  ],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  dnsConfig: { nameservers: ["10.0.0.10"], searches: ["a.example"], options: [{ name: "ndots", value: "2" }] },
  nodeSelector: { zone: "a" },
  serviceAccountName: "default",
  hostname: "h",
  subdomain: "sub",
  hostAliases: [{ ip: "10.0.0.1", hostnames: ["a.example"] }],
  imagePullSecrets: [{ name: "pull" }],
  priorityClassName: "",
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "zone", operator: "Exists" }] } },
      ],
    },
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] },
  },
  tolerations: [
    { key: "k", operator: "Equal", value: "v", effect: "NoSchedule" },
    { key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 },
  ],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: selector, minDomains: 1 },
  ],
  securityContext: {
    runAsUser: 1,
    fsGroup: 1,
    supplementalGroups: [1],
    sysctls: [{ name: "kernel.shm_rmid_forced", value: "0" }],
    seccompProfile: { type: "Localhost", localhostProfile: "p.json" },
    fsGroupChangePolicy: "OnRootMismatch",
  },
  readinessGates: [{ conditionType: "example.com/ready" }],
};
/** Pod fields are tested fully on pods; templates use this shorter spec. */
const briefSpec = {
  containers: [{ name: "main", image: "i", ports: [{ name: "http", containerPort: 80 }] }],
  restartPolicy: "Always",
  nodeSelector: { zone: "a" },
};
const template = { metadata: { labels, annotations: { "example.com/a": "b" } }, spec: briefSpec };
const jobTemplate = { metadata: { labels }, spec: { ...briefSpec, restartPolicy: "Never" } };
const jobSpec = {
  parallelism: 2,
  completions: 4,
  backoffLimitPerIndex: 1,
  maxFailedIndexes: 2,
  completionMode: "Indexed",
  activeDeadlineSeconds: 60,
  ttlSecondsAfterFinished: 10,
  podReplacementPolicy: "Failed",
  podFailurePolicy: {
    rules: [
      { action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [1, 2] } },
      { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
    ],
  },
  template: jobTemplate,
};
const claimSpec = {
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } },
  storageClassName: "standard",
  volumeMode: "Filesystem",
};
const resourceMetric = { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } };

const policyRules = [
  {
    operations: ["CREATE", "UPDATE"],
    apiGroups: ["apps"],
    apiVersions: ["v1"],
    resources: ["deployments"],
    resourceNames: ["n"],
    scope: "Namespaced",
  },
];
const constraints = {
  resourceRules: policyRules,
  excludeResourceRules: policyRules,
  namespaceSelector: selector,
  objectSelector: selector,
  matchPolicy: "Equivalent",
};

/** `group/version/Kind` → `{ name?, …object }`. */
export const bases = {
  ...samples,
  "/v1/Pod": { metadata: { labels }, spec: podSpec },
  "/v1/PodTemplate": { template },
  "/v1/ConfigMap": { data: { "a.txt": "v", b: "w" }, binaryData: { c: "AAAA" }, immutable: false },
  "/v1/Secret": { type: "kubernetes.io/tls", data: { "tls.crt": "AA==", "tls.key": "AA==" } },
  "/v1/ServiceAccount": {
    secrets: [{ name: "s" }],
    imagePullSecrets: [{ name: "p" }],
    automountServiceAccountToken: true,
  },
  "/v1/Service": {
    spec: {
      type: "ClusterIP",
      selector: labels,
      ports: [
        { name: "http", port: 80, targetPort: "http", protocol: "TCP", appProtocol: "http" },
        { name: "dns", port: 53, targetPort: 53, protocol: "UDP" },
      ],
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      publishNotReadyAddresses: false,
      externalIPs: ["192.0.2.1"],
      ipFamilyPolicy: "SingleStack",
      ipFamilies: ["IPv4"],
      internalTrafficPolicy: "Cluster",
    },
  },
  "/v1/PersistentVolumeClaim": { spec: { ...claimSpec, selector } },
  "/v1/PersistentVolume": {
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "standard",
      mountOptions: ["ro"],
      volumeMode: "Filesystem",
      csi: { driver: "csi.example", volumeHandle: "h", fsType: "ext4" },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "z", operator: "In", values: ["a"] }] }] },
      },
    },
  },
  "/v1/ResourceQuota": {
    spec: {
      hard: { pods: "10", "requests.cpu": "1", "count/deployments.apps": "2", "requests.storage": "1Gi" },
    },
  },
  "/v1/LimitRange": {
    spec: {
      limits: [
        {
          type: "Container",
          max: { cpu: "2" },
          min: { cpu: "100m" },
          default: { cpu: "1" },
          defaultRequest: { cpu: "500m" },
          maxLimitRequestRatio: { cpu: "10" },
        },
        { type: "Pod", max: { memory: "1Gi" } },
        { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "10Gi" } },
      ],
    },
  },
  "/v1/Endpoints": {
    subsets: [
      {
        addresses: [{ ip: "10.1.0.1", hostname: "h", nodeName: "n", targetRef: { kind: "Pod", name: "p" } }],
        notReadyAddresses: [{ ip: "10.1.0.2" }],
        ports: [{ name: "http", port: 80, protocol: "TCP" }],
      },
    ],
  },
  "/v1/Event": {
    involvedObject: { kind: "Pod", name: "p", namespace: NAMESPACE, apiVersion: "v1" },
    reason: "R",
    message: "m",
    type: "Normal",
    source: { component: "c" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    count: 1,
  },
  "/v1/Node": {
    metadata: { labels },
    spec: {
      podCIDR: "10.2.0.0/24",
      podCIDRs: ["10.2.0.0/24"],
      providerID: "example://n",
      unschedulable: true,
      taints: [{ key: "k", value: "v", effect: "NoSchedule" }],
    },
    status: { capacity: { cpu: "1" } },
  },
  "/v1/Namespace": { metadata: { labels } },
  "apps/v1/Deployment": {
    spec: {
      replicas: 2,
      minReadySeconds: 1,
      revisionHistoryLimit: 3,
      progressDeadlineSeconds: 100,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
      selector,
      template,
    },
  },
  "apps/v1/ReplicaSet": { spec: { replicas: 2, minReadySeconds: 1, selector, template } },
  "apps/v1/DaemonSet": {
    spec: {
      selector,
      template,
      minReadySeconds: 1,
      revisionHistoryLimit: 3,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    },
  },
  "apps/v1/StatefulSet": {
    spec: {
      replicas: 2,
      serviceName: "s",
      podManagementPolicy: "Parallel",
      minReadySeconds: 1,
      revisionHistoryLimit: 3,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
      ordinals: { start: 1 },
      volumeClaimTemplates: [{ metadata: { name: "v" }, spec: claimSpec }],
      selector,
      template,
    },
  },
  "batch/v1/Job": { spec: jobSpec },
  "batch/v1/CronJob": {
    spec: {
      schedule: "*/5 * * * *",
      timeZone: "Europe/Berlin",
      concurrencyPolicy: "Forbid",
      suspend: true,
      startingDeadlineSeconds: 10,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      jobTemplate: { metadata: { labels }, spec: jobSpec },
    },
  },
  "autoscaling/v2/HorizontalPodAutoscaler": {
    spec: {
      minReplicas: 1,
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      metrics: [
        { type: "Resource", resource: resourceMetric },
        { type: "ContainerResource", containerResource: { ...resourceMetric, container: "main" } },
        {
          type: "Pods",
          pods: { metric: { name: "m", selector }, target: { type: "AverageValue", averageValue: "1" } },
        },
        {
          type: "Object",
          object: {
            describedObject: { kind: "Service", name: "s", apiVersion: "v1" },
            metric: { name: "m" },
            target: { type: "Value", value: "1" },
          },
        },
        { type: "External", external: { metric: { name: "m" }, target: { type: "Value", value: "1" } } },
      ],
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 1,
          selectPolicy: "Max",
          policies: [{ type: "Pods", value: 1, periodSeconds: 5 }],
        },
        scaleDown: { policies: [{ type: "Percent", value: 10, periodSeconds: 5 }] },
      },
    },
  },
  "networking.k8s.io/v1/Ingress": {
    spec: {
      ingressClassName: "c",
      defaultBackend: { service: { name: "s", port: { number: 80 } } },
      tls: [{ hosts: ["a.example"], secretName: "t" }],
      rules: [
        {
          host: "a.example",
          http: {
            paths: [
              { path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { name: "http" } } } },
              { path: "/r", pathType: "Exact", backend: { resource: { apiGroup: "g.example", kind: "K", name: "n" } } },
            ],
          },
        },
      ],
    },
  },
  "networking.k8s.io/v1/IngressClass": {
    spec: {
      controller: "example.com/c",
      parameters: { apiGroup: "g.example", kind: "K", name: "n", scope: "Namespace", namespace: "m" },
    },
  },
  "networking.k8s.io/v1/NetworkPolicy": {
    spec: {
      podSelector: selector,
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        {
          from: [
            { podSelector: selector, namespaceSelector: {} },
            { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
          ],
          ports: [
            { protocol: "TCP", port: 80, endPort: 90 },
            { protocol: "UDP", port: "dns" },
          ],
        },
      ],
      egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ port: 80 }] }],
    },
  },
  "policy/v1/PodDisruptionBudget": {
    spec: { minAvailable: "50%", selector, unhealthyPodEvictionPolicy: "AlwaysAllow" },
  },
  "scheduling.k8s.io/v1/PriorityClass": {
    value: 10,
    globalDefault: false,
    description: "d",
    preemptionPolicy: "Never",
  },
  "coordination.k8s.io/v1/Lease": {
    spec: {
      holderIdentity: "h",
      leaseDurationSeconds: 10,
      leaseTransitions: 1,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
    },
  },
  "discovery.k8s.io/v1/EndpointSlice": {
    addressType: "IPv4",
    endpoints: [
      {
        addresses: ["10.1.0.1"],
        conditions: { ready: true },
        hostname: "h",
        nodeName: "n",
        zone: "z",
        targetRef: { kind: "Pod", name: "p" },
        hints: { forZones: [{ name: "z" }] },
      },
    ],
    ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "http" }],
  },
  "storage.k8s.io/v1/StorageClass": {
    provisioner: "example.com/p",
    parameters: { a: "b" },
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
    mountOptions: ["ro"],
    allowedTopologies: [{ matchLabelExpressions: [{ key: "z", values: ["a"] }] }],
  },
  "rbac.authorization.k8s.io/v1/Role": {
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: ["p"] }],
  },
  "rbac.authorization.k8s.io/v1/ClusterRole": {
    rules: [
      { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
      { nonResourceURLs: ["/x"], verbs: ["get"] },
    ],
  },
  "rbac.authorization.k8s.io/v1/RoleBinding": {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
    subjects: [
      { kind: "ServiceAccount", name: "s", namespace: "n" },
      { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
    ],
  },
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
    subjects: [{ kind: "Group", name: "g", apiGroup: "rbac.authorization.k8s.io" }],
  },
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": {
    spec: {
      failurePolicy: "Fail",
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConstraints: constraints,
      matchConditions: [{ name: "c.example", expression: "request.operation != 'DELETE'" }],
      variables: [{ name: "replicas", expression: "object.spec.replicas" }],
      validations: [
        { expression: "variables.replicas < 5", message: "m", reason: "Invalid", messageExpression: "'no ' + 'more'" },
      ],
      auditAnnotations: [{ key: "replicas", valueExpression: "string(variables.replicas)" }],
    },
  },
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": {
    spec: {
      policyName: "p.example",
      paramRef: { name: "c", namespace: "n", parameterNotFoundAction: "Deny" },
      matchResources: constraints,
      validationActions: ["Deny", "Audit"],
    },
  },
};

/** The kinds that operators create, in the order of the report. Others are compared on request by name. */
export const operatorKinds = [
  "/v1/Pod",
  "/v1/PodTemplate",
  "apps/v1/Deployment",
  "apps/v1/ReplicaSet",
  "apps/v1/StatefulSet",
  "apps/v1/DaemonSet",
  "batch/v1/Job",
  "batch/v1/CronJob",
  "/v1/Service",
  "/v1/ConfigMap",
  "/v1/Secret",
  "/v1/ServiceAccount",
  "/v1/PersistentVolumeClaim",
  "/v1/PersistentVolume",
  "storage.k8s.io/v1/StorageClass",
  "rbac.authorization.k8s.io/v1/Role",
  "rbac.authorization.k8s.io/v1/ClusterRole",
  "rbac.authorization.k8s.io/v1/RoleBinding",
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
  "policy/v1/PodDisruptionBudget",
  "scheduling.k8s.io/v1/PriorityClass",
  "autoscaling/v2/HorizontalPodAutoscaler",
  "networking.k8s.io/v1/Ingress",
  "networking.k8s.io/v1/IngressClass",
  "networking.k8s.io/v1/NetworkPolicy",
  "discovery.k8s.io/v1/EndpointSlice",
  "/v1/Endpoints",
  "coordination.k8s.io/v1/Lease",
  "/v1/Namespace",
  "/v1/Node",
  "/v1/ResourceQuota",
  "/v1/LimitRange",
  "/v1/Event",
  "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
  "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
  "certificates.k8s.io/v1/CertificateSigningRequest",
  "apiextensions.k8s.io/v1/CustomResourceDefinition",
];

export { NAMESPACE };
