import { k8s, type ObjectOf, resource } from "setpoint";
import type { StatefulSetUpdateStrategy } from "setpoint/kinds/apps/v1";
import type { HorizontalPodAutoscalerSpec } from "setpoint/kinds/autoscaling/v2";
import type { IngressSpec } from "setpoint/kinds/networking.k8s.io/v1";
import type { PodDisruptionBudgetSpec } from "setpoint/kinds/policy/v1";
import type {
  Affinity,
  ContainerPort,
  EnvFromSource,
  EnvVar,
  Lifecycle,
  LocalObjectReference,
  PersistentVolumeClaimSpec,
  PodDNSConfig,
  PodSecurityContext,
  Probe,
  ResourceRequirements,
  SecurityContext,
  ServiceSpec,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  VolumeMount,
} from "setpoint/kinds/v1";
import { z } from "zod";

/** An embedded Kubernetes type. The API server validates it when the child is applied, so its schema stays open. */
const native = <T>(): z.ZodType<T> => z.looseObject({}) as unknown as z.ZodType<T>;
const texts = z.record(z.string(), z.string());
const int32 = z.int().meta({ format: "int32" });
/** The only Kubernetes default in the published CRD. Needed here because it is part of the children's hashes. */
const protocol = z.string().default("TCP");
const reference = <T>(): z.ZodType<T> => native<T>().meta(k8s.mapAtomic);
const anything = z.unknown().meta(k8s.preserveUnknownFields);

const template = <T>(part: z.ZodType<T> = native<T>()) =>
  z.object({
    apiVersion: z.string().optional(),
    kind: z.string().optional(),
    metadata: z
      .object({
        name: z.string().optional(),
        namespace: z.string().optional(),
        labels: texts.optional(),
        annotations: texts.optional(),
        finalizers: z.array(z.string()).optional(),
      })
      .optional(),
    spec: part.optional(),
    status: native<object>().optional(),
  });

export const auth = z.object({
  type: z.string(),
  secretRef: z.object({ name: z.string().optional(), namespace: z.string().optional() }).meta(k8s.mapAtomic),
  usernameKey: z.string().optional(),
  passwordKey: z.string().optional(),
});

const additionalContainer = z.object({
  runAsInit: z.boolean().optional(),
  image: z.string(),
  containerName: z.string(),
  command: z.array(z.string()),
  args: z.array(z.string()).optional(),
  imagePullPolicy: z.string().optional(),
  securityContext: native<SecurityContext>().optional(),
  resources: native<ResourceRequirements>().optional(),
  volumeMounts: z.array(native<VolumeMount>()).optional(),
  env: z.array(native<EnvVar>()).optional(),
  envFrom: z.array(native<EnvFromSource>()).optional(),
});

const servicePorts = z.array(z.looseObject({ port: int32, protocol })).meta(k8s.listMap("port", "protocol"));
const service = z.looseObject({ ports: servicePorts.optional() }) as unknown as z.ZodType<ServiceSpec>;

/** Fields of both the cluster and its node groups. Each field has its own merge rule. */
const shared = {
  image: z.string().optional(),
  imagePullSecrets: z.array(reference<LocalObjectReference>()).optional(),
  "jvm.options": z.string().optional(),
  "log4j.config": z.string().optional(),
  nodeSelector: texts.optional(),
  affinity: native<Affinity>().optional(),
  tolerations: z.array(native<Toleration>()).optional(),
  priorityClassName: z.string().optional(),
  dnsPolicy: z.string().optional(),
  dnsConfig: native<PodDNSConfig>().optional(),
  securityContext: native<PodSecurityContext>().optional(),
  containerSecurityContext: native<SecurityContext>().optional(),
  podAnnotations: texts.optional(),
  podLabels: texts.optional(),
  workloadAnnotations: texts.optional(),
  env: z.array(native<EnvVar>()).optional(),
  envFrom: z.array(native<EnvFromSource>()).optional(),
  livenessProbe: native<Probe>().optional(),
  readinessProbe: native<Probe>().optional(),
  startUpProbe: native<Probe>().optional(),
  volumes: z.array(native<Volume>()).optional(),
  volumeMounts: z.array(native<VolumeMount>()).optional(),
  volumeClaimTemplates: z.array(template<PersistentVolumeClaimSpec>()).optional(),
  updateStrategy: native<StatefulSetUpdateStrategy>().optional(),
  services: z.array(template(service)).optional(),
  additionalContainer: z.array(additionalContainer).optional(),
  dynamicConfig: native<object>().optional(),
};

export const NODE_TYPES = [
  "historical",
  "overlord",
  "middleManager",
  "indexer",
  "broker",
  "coordinator",
  "router",
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

const node = z.object({
  ...shared,
  nodeType: z.enum(NODE_TYPES),
  kind: z.string().default("StatefulSet"),
  replicas: z.int().min(0).meta({ format: "int32" }).optional(),
  podManagementPolicy: z.string().default("Parallel"),
  imagePullPolicy: z.string().optional(),
  serviceAccountName: z.string().optional(),
  "druid.port": int32,
  nodeConfigMountPath: z.string(),
  "runtime.properties": z.string(),
  "extra.jvm.options": z.string().optional(),
  ports: z.array(z.looseObject({ protocol }) as unknown as z.ZodType<ContainerPort>).optional(),
  resources: native<ResourceRequirements>().optional(),
  lifecycle: native<Lifecycle>().optional(),
  terminationGracePeriodSeconds: z.int().optional(),
  topologySpreadConstraints: z.array(native<TopologySpreadConstraint>()).optional(),
  maxSurge: int32.optional(),
  maxUnavailable: int32.optional(),
  podDisruptionBudgetSpec: native<PodDisruptionBudgetSpec>().optional(),
  hpAutoscaler: native<HorizontalPodAutoscalerSpec>().optional(),
  ingress: native<IngressSpec>().optional(),
  ingressAnnotations: texts.optional(),
  persistentVolumeClaim: z.array(template<PersistentVolumeClaimSpec>()).optional(),
});

const dependency = z.object({ type: z.string(), spec: anything });

const spec = z.object({
  ...shared,
  ignored: z.boolean().default(false),
  rollingDeploy: z.boolean().default(true),
  forceDeleteStsPodOnError: z.boolean().default(true),
  scalePvcSts: z.boolean().default(false),
  deleteOrphanPvc: z.boolean().default(true),
  disablePVCDeletionFinalizer: z.boolean().default(false),
  defaultProbes: z.boolean().default(true),
  auth: auth.optional(),
  "common.runtime.properties": z.string(),
  "metricDimensions.json": z.string().optional(),
  "hdfs-site.xml": z.string().optional(),
  "core-site.xml": z.string().optional(),
  extraCommonConfig: z.array(reference<{ readonly name?: string; readonly namespace?: string }>()).optional(),
  zookeeper: dependency.optional(),
  metadataStore: dependency.optional(),
  deepStorage: dependency.optional(),
  imagePullPolicy: z.string().default("IfNotPresent"),
  startScript: z.string().default("/druid.sh"),
  serviceAccount: z.string().optional(),
  podManagementPolicy: z.string().default("Parallel"),
  commonConfigMountPath: z.string().default("/opt/druid/conf/druid/cluster/_common"),
  nodes: z.record(z.string(), node),
});

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.int().optional(),
});
export const conditions = z.array(condition).meta(k8s.listMap("type")).optional();

const names = z.array(z.string()).optional();
/** One node group in the status. */
const group = z.object({
  name: z.string(),
  nodeType: z.string(),
  kind: z.string(),
  replicas: z.int(),
  ready: z.int(),
  updated: z.int(),
  /** Ready, Rolling, Waiting, Resizing or Refused. */
  phase: z.string(),
  message: z.string().optional(),
});

const status = z.object({
  druidNodeStatus: z
    .object({
      druidNode: z.string().optional(),
      druidNodeConditionStatus: z.string().optional(),
      druidNodeConditionType: z.string().optional(),
      reason: z.string().optional(),
    })
    .optional(),
  statefulSets: names,
  deployments: names,
  services: names,
  configMaps: names,
  podDisruptionBudgets: names,
  ingress: names,
  hpAutoscalers: names,
  pods: names,
  persistentVolumeClaims: names,
  observedGeneration: z.int().optional(),
  nodeGroups: z.array(group).meta(k8s.listMap("name")).optional(),
  conditions,
});

export const Druid = resource("druid.apache.org/v1alpha1/Druid", {
  spec,
  status,
  columns: {
    Ready: ".status.conditions[?(@.type=='Ready')].status",
    Reason: ".status.conditions[?(@.type=='Ready')].reason",
    Age: ".metadata.creationTimestamp",
  },
});
export type Druid = ObjectOf<typeof Druid>;
export type DruidNode = Druid["spec"]["nodes"][string];
export type DruidStatus = NonNullable<Druid["status"]>;
export type NodeGroupStatus = NonNullable<DruidStatus["nodeGroups"]>[number];
