// One small valid object of each built-in kind that can be created, without apiVersion, kind, name and namespace.

const container = { name: "c", image: "i" };
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [container] } };
const selector = { matchLabels: { app: "a" } };
const webhook = {
  name: "w.setpoint.example",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { url: "https://127.0.0.1:1/" },
  rules: [{ apiGroups: ["none.example"], apiVersions: ["*"], resources: ["*"], operations: ["CREATE"] }],
};
const matchNothing = {
  resourceRules: [{ apiGroups: ["none.example"], apiVersions: ["*"], resources: ["*"], operations: ["CREATE"] }],
};
const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
const scaleTarget = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };

/** A certificate request for CN=harvest; its private key was discarded. */
const CERTIFICATE_REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITU1IUUNBUUF3RWpFUU1BNEdBMVVFQXd3SGFHRnlkbVZ6ZERCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OQpBd0VIQTBJQUJQRm1UWDNKNTlNTEtzb3VIODZMVW4yaHdETzhIVnlldlY1ZnM1WVZKMlhGbjRxUjU3bHQrYlN4Cnd4aHc5WFpqTFpWWE5DKzlkVTV3S2dNQ05ES2xRQmFnQURBS0JnZ3Foa2pPUFFRREFnTklBREJGQWlBWG5PWnAKYWM1SFNlVnZPai9PaCtkbVhLcjRZNUk1OEFpb0xUOTB1RjN3U0FJaEFJcVY2WDdZTHVVT0JiUTExUzROTzYrMwp2cUJ2dFFHZWFPS2s1SmhiRk5VWQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

/** `group/version/Kind` → `{ name?, …object }`; `name` is present if the kind dictates it. */
export const samples = {
  "/v1/ConfigMap": { data: { k: "v" } },
  "/v1/Endpoints": {},
  "/v1/Event": { involvedObject: { namespace: "harvest" }, reason: "r", message: "m" },
  "/v1/LimitRange": { spec: { limits: [] } },
  "/v1/Namespace": {},
  "/v1/Node": {},
  "/v1/PersistentVolumeClaim": {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
  "/v1/PersistentVolume": {
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/p" } },
  },
  "/v1/Pod": { spec: { containers: [container] } },
  "/v1/PodTemplate": { template },
  "/v1/ReplicationController": { spec: { selector: { app: "a" }, template } },
  "/v1/ResourceQuota": { spec: { hard: { pods: "1000" } } },
  "/v1/Secret": {},
  "/v1/ServiceAccount": {},
  "/v1/Service": { spec: { ports: [{ port: 80 }] } },
  "apiregistration.k8s.io/v1/APIService": {
    name: "v1.harvest.example",
    spec: {
      group: "harvest.example",
      version: "v1",
      groupPriorityMinimum: 1,
      versionPriority: 1,
      caBundle: "",
      service: { name: "s", namespace: "harvest" },
      insecureSkipTLSVerify: true,
    },
  },
  "apps/v1/ControllerRevision": { revision: 1, data: {} },
  "apps/v1/DaemonSet": { spec: { selector, template } },
  "apps/v1/Deployment": { spec: { selector, template } },
  "apps/v1/ReplicaSet": { spec: { selector, template } },
  "apps/v1/StatefulSet": { spec: { selector, template, serviceName: "s" } },
  "events.k8s.io/v1/Event": {
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "harvest.example/c",
    reportingInstance: "i",
    action: "a",
    reason: "r",
    type: "Normal",
    regarding: { namespace: "harvest", kind: "Pod", name: "p" },
  },
  "autoscaling/v2/HorizontalPodAutoscaler": { spec: { scaleTargetRef: scaleTarget, maxReplicas: 2 } },
  "autoscaling/v1/HorizontalPodAutoscaler": { spec: { scaleTargetRef: scaleTarget, maxReplicas: 2 } },
  "batch/v1/CronJob": {
    spec: {
      schedule: "* * * * *",
      suspend: true,
      jobTemplate: { spec: { template: { spec: { containers: [container], restartPolicy: "Never" } } } },
    },
  },
  "batch/v1/Job": { spec: { template: { spec: { containers: [container], restartPolicy: "Never" } } } },
  "certificates.k8s.io/v1/CertificateSigningRequest": {
    spec: { request: CERTIFICATE_REQUEST, signerName: "harvest.example/s", usages: ["client auth"] },
  },
  "networking.k8s.io/v1/IngressClass": { spec: { controller: "harvest.example/c" } },
  "networking.k8s.io/v1/Ingress": {
    spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
  },
  "networking.k8s.io/v1/IPAddress": {
    name: "192.168.250.1",
    spec: { parentRef: { resource: "services", namespace: "harvest", name: "s" } },
  },
  "networking.k8s.io/v1/NetworkPolicy": { spec: { podSelector: {} } },
  "networking.k8s.io/v1/ServiceCIDR": { spec: { cidrs: ["192.168.250.0/24"] } },
  "policy/v1/PodDisruptionBudget": { spec: { minAvailable: 1, selector } },
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": { roleRef: role, subjects: [] },
  "rbac.authorization.k8s.io/v1/ClusterRole": { rules: [] },
  "rbac.authorization.k8s.io/v1/RoleBinding": { roleRef: role, subjects: [] },
  "rbac.authorization.k8s.io/v1/Role": { rules: [] },
  "storage.k8s.io/v1/CSIDriver": { spec: {} },
  "storage.k8s.io/v1/CSINode": { spec: { drivers: [] } },
  "storage.k8s.io/v1/CSIStorageCapacity": { storageClassName: "s" },
  "storage.k8s.io/v1/StorageClass": { provisioner: "harvest.example/p" },
  "storage.k8s.io/v1/VolumeAttachment": {
    spec: { attacher: "harvest.example", nodeName: "n", source: { persistentVolumeName: "p" } },
  },
  "storage.k8s.io/v1/VolumeAttributesClass": { driverName: "harvest.example", parameters: { a: "b" } },
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": {
    spec: {
      matchConstraints: matchNothing,
      reinvocationPolicy: "Never",
      mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
    },
  },
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": { spec: { policyName: "p" } },
  "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": { webhooks: [webhook] },
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": {
    spec: { matchConstraints: matchNothing, validations: [{ expression: "true" }] },
  },
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": {
    spec: { policyName: "p", validationActions: ["Deny"] },
  },
  "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": { webhooks: [webhook] },
  "apiextensions.k8s.io/v1/CustomResourceDefinition": {
    name: "things.harvest.example",
    spec: {
      group: "harvest.example",
      names: { plural: "things", kind: "Thing" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  },
  "scheduling.k8s.io/v1/PriorityClass": { value: 1 },
  "coordination.k8s.io/v1/Lease": { spec: {} },
  "node.k8s.io/v1/RuntimeClass": { handler: "h" },
  "discovery.k8s.io/v1/EndpointSlice": { addressType: "IPv4", endpoints: [] },
  "resource.k8s.io/v1/DeviceClass": { spec: {} },
  "resource.k8s.io/v1/ResourceClaim": { spec: {} },
  "resource.k8s.io/v1/ResourceClaimTemplate": { spec: { spec: {} } },
  "resource.k8s.io/v1/ResourceSlice": {
    spec: { driver: "harvest.example", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } },
  },
  "flowcontrol.apiserver.k8s.io/v1/FlowSchema": {
    spec: { priorityLevelConfiguration: { name: "global-default" }, matchingPrecedence: 9000 },
  },
  "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration": {
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } },
  },
};
