import { isObject, type JsonObject } from "../../api/json.js";
import {
  all,
  type Defaulter,
  each,
  nullWhereEmpty,
  when,
  whereAbsent,
  whereEmpty,
  within,
  without,
} from "./defaulter.js";

const type = (name: string) => (object: JsonObject) => object.type === name;
const ofSpec = (...defaulters: readonly Defaulter[]): Defaulter => within("spec", all(...defaulters), true);

const apps: Readonly<Record<string, Defaulter>> = {
  Deployment: ofSpec(
    whereAbsent({ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
    within(
      "strategy",
      all(
        whereEmpty({ type: "RollingUpdate" }),
        when(
          type("RollingUpdate"),
          within("rollingUpdate", whereAbsent({ maxUnavailable: "25%", maxSurge: "25%" }), true),
        ),
      ),
      true,
    ),
  ),
  DaemonSet: ofSpec(
    whereAbsent({ revisionHistoryLimit: 10 }),
    within(
      "updateStrategy",
      all(
        whereEmpty({ type: "RollingUpdate" }),
        when(type("RollingUpdate"), within("rollingUpdate", whereAbsent({ maxUnavailable: 1, maxSurge: 0 }), true)),
      ),
      true,
    ),
  ),
  StatefulSet: ofSpec(
    whereEmpty({ podManagementPolicy: "OrderedReady" }),
    whereAbsent({ replicas: 1, revisionHistoryLimit: 10 }),
    within(
      "updateStrategy",
      all(
        when(
          (strategy) => !strategy.type,
          all(whereAbsent({ rollingUpdate: {} }), whereEmpty({ type: "RollingUpdate" })),
        ),
        when(type("RollingUpdate"), within("rollingUpdate", whereAbsent({ partition: 0 }))),
      ),
      true,
    ),
    within("persistentVolumeClaimRetentionPolicy", whereEmpty({ whenDeleted: "Retain", whenScaled: "Retain" }), true),
    each("volumeClaimTemplates", whereEmpty({ kind: "PersistentVolumeClaim", apiVersion: "v1" })),
  ),
  RollingUpdateStatefulSetStrategy: without("maxUnavailable"),
  ReplicaSet: ofSpec(whereAbsent({ replicas: 1 })),
};

/** A Job without labels takes those of its template. */
const jobLabels: Defaulter = (job) => {
  const spec = isObject(job.spec) ? job.spec : {};
  const template =
    isObject(spec.template) && isObject(spec.template.metadata) ? spec.template.metadata.labels : undefined;
  const metadata = isObject(job.metadata) ? job.metadata : {};
  const hasLabels = isObject(metadata.labels) && Object.keys(metadata.labels).length > 0;
  return !isObject(template) || hasLabels ? job : { ...job, metadata: { ...metadata, labels: template } };
};

const batch: Readonly<Record<string, Defaulter>> = {
  Job: all(
    ofSpec(
      when((spec) => spec.completions == null && spec.parallelism == null, whereAbsent({ completions: 1 })),
      (spec) => whereAbsent({ backoffLimit: spec.backoffLimitPerIndex == null ? 6 : 2_147_483_647 })(spec),
      (spec) =>
        whereAbsent({ podReplacementPolicy: spec.podFailurePolicy == null ? "TerminatingOrFailed" : "Failed" })(spec),
      whereAbsent({ parallelism: 1, completionMode: "NonIndexed", suspend: false, manualSelector: false }),
    ),
    jobLabels,
  ),
  CronJob: ofSpec(
    whereEmpty({ concurrencyPolicy: "Allow" }),
    whereAbsent({ suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }),
  ),
  PodFailurePolicy: nullWhereEmpty("rules"),
  PodFailurePolicyOnPodConditionsPattern: whereEmpty({ status: "True" }),
};

const scaleUp: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const scaleDown: JsonObject = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };
const cpuMetric: JsonObject = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};

const autoscaling: Readonly<Record<string, Defaulter>> = {
  HorizontalPodAutoscaler: ofSpec(
    whereAbsent({ minReplicas: 1 }),
    when(
      (spec) => !Array.isArray(spec.metrics) || spec.metrics.length === 0,
      (spec) => ({ ...spec, metrics: [cpuMetric] }),
    ),
    within(
      "behavior",
      all(within("scaleUp", whereAbsent(scaleUp), true), within("scaleDown", whereAbsent(scaleDown), true)),
    ),
  ),
};

const networking: Readonly<Record<string, Defaulter>> = {
  NetworkPolicyPort: whereAbsent({ protocol: "TCP" }),
  NetworkPolicy: ofSpec(
    when(
      (spec) => !Array.isArray(spec.policyTypes) || spec.policyTypes.length === 0,
      (spec) => ({
        ...spec,
        policyTypes: Array.isArray(spec.egress) && spec.egress.length > 0 ? ["Ingress", "Egress"] : ["Ingress"],
      }),
    ),
  ),
  IngressClass: within("spec", within("parameters", whereAbsent({ scope: "Cluster" }))),
};

const RBAC_GROUP = "rbac.authorization.k8s.io";
const roleRef = within("roleRef", whereEmpty({ apiGroup: RBAC_GROUP }), true);

const rbac: Readonly<Record<string, Defaulter>> = {
  Role: nullWhereEmpty("rules"),
  ClusterRole: nullWhereEmpty("rules"),
  ClusterRoleBinding: roleRef,
  RoleBinding: roleRef,
  Subject: when((subject) => subject.kind === "User" || subject.kind === "Group", whereEmpty({ apiGroup: RBAC_GROUP })),
};

const storage: Readonly<Record<string, Defaulter>> = {
  StorageClass: whereAbsent({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  CSIDriver: ofSpec(
    whereAbsent({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      requiresRepublish: false,
      seLinuxMount: false,
    }),
    when(
      (spec) => !Array.isArray(spec.volumeLifecycleModes) || spec.volumeLifecycleModes.length === 0,
      (spec) => ({
        ...spec,
        volumeLifecycleModes: ["Persistent"],
      }),
    ),
  ),
};

const matching: JsonObject = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };
const webhook: JsonObject = { failurePolicy: "Fail", timeoutSeconds: 10, ...matching };

const admission: Readonly<Record<string, Defaulter>> = {
  ValidatingWebhook: whereAbsent(webhook),
  MutatingWebhook: whereAbsent({ ...webhook, reinvocationPolicy: "Never" }),
  RuleWithOperations: whereAbsent({ scope: "*" }),
  NamedRuleWithOperations: whereAbsent({ scope: "*" }),
  ServiceReference: whereAbsent({ port: 443 }),
  ValidatingAdmissionPolicySpec: whereAbsent({ failurePolicy: "Fail" }),
  MutatingAdmissionPolicySpec: whereAbsent({ failurePolicy: "Fail" }),
  MatchResources: whereAbsent(matching),
};

const flowControl: Readonly<Record<string, Defaulter>> = {
  FlowSchemaSpec: whereEmpty({ matchingPrecedence: 1000 }),
  ExemptPriorityLevelConfiguration: whereAbsent({ nominalConcurrencyShares: 0, lendablePercent: 0 }),
  LimitedPriorityLevelConfiguration: whereAbsent({ nominalConcurrencyShares: 30, lendablePercent: 0 }),
  QueuingConfiguration: whereEmpty({ handSize: 8, queues: 64, queueLengthLimit: 50 }),
};

const exactCount = all(
  whereEmpty({ allocationMode: "ExactCount" }),
  when((request) => request.allocationMode === "ExactCount", whereEmpty({ count: 1 })),
);

/** Defaults of the other groups, by `group.version` as in the names of their schemas. */
export const groupDefaults: Readonly<Record<string, Readonly<Record<string, Defaulter>>>> = {
  "apps.v1": apps,
  "batch.v1": batch,
  "autoscaling.v2": autoscaling,
  "autoscaling.v1": { HorizontalPodAutoscaler: ofSpec(whereAbsent({ minReplicas: 1 })) },
  "networking.v1": networking,
  "rbac.v1": rbac,
  "storage.v1": storage,
  "admissionregistration.v1": admission,
  "discovery.v1": {
    EndpointSlice: nullWhereEmpty("endpoints", "ports"),
    Endpoint: without("deprecatedTopology"),
    EndpointPort: whereAbsent({ name: "", protocol: "TCP" }),
  },
  "scheduling.v1": { PriorityClass: whereAbsent({ preemptionPolicy: "PreemptLowerPriority" }) },
  "coordination.v1": { LeaseSpec: without("strategy", "preferredHolder") },
  "flowcontrol.v1": flowControl,
  "resource.v1": { ExactDeviceRequest: exactCount, DeviceSubRequest: exactCount },
};
