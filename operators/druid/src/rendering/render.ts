import type { KubeObject } from "setpoint";
import type { OwnerReference } from "setpoint/kinds";
import type { DeploymentSpec, StatefulSetSpec } from "setpoint/kinds/apps/v1";
import { Druid, type DruidNode } from "../druid.js";
import { commonConfig, commonConfigName, configMap, nodeConfig } from "./config-maps.js";
import { GoJson } from "./go-json.js";
import { clusterLabels, groupLabels, groupName, type Labels, serviceName } from "./naming.js";
import { podTemplate } from "./pod-template.js";

export const HASH_ANNOTATION = "druidOpResourceHash";

/** The desired state of a child, as plain JSON. */
export interface Child {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: object;
  readonly data?: Readonly<Record<string, string>>;
}

export interface WorkloadChild extends Child {
  readonly kind: "StatefulSet" | "Deployment";
  readonly spec: Pick<StatefulSetSpec, "template" | "selector" | "replicas"> &
    Partial<Omit<StatefulSetSpec, "template" | "selector">> &
    Pick<DeploymentSpec, "strategy">;
}

/** A node group with its children. */
export interface NodeGroup {
  readonly key: string;
  readonly name: string;
  readonly node: DruidNode;
  readonly labels: Labels;
  readonly configMap: Child;
  readonly services: readonly Child[];
  readonly workload: WorkloadChild;
  /** Ingress, PodDisruptionBudget, HorizontalPodAutoscaler and the group's own claims. */
  readonly others: readonly Child[];
}

export interface RenderedCluster {
  readonly common: Child;
  /** Sorted by key. */
  readonly groups: readonly NodeGroup[];
}

/** Renders all children of a cluster. Pure. `extra` is the data of `extraCommonConfig`. */
export function render(
  druid: Druid,
  extra: readonly Readonly<Record<string, string>>[] = [],
  go: GoJson = new GoJson(),
): RenderedCluster {
  const { name } = druid.metadata;
  const hashed = <T extends Child>(child: T): T => withHash(go.normal(child), ownerOf(druid), go);
  const common = go.normal(configMap(druid, commonConfigName(name), clusterLabels(name), commonConfig(druid, extra)));
  const groups = Object.keys(druid.spec.nodes)
    .sort()
    .map((key): NodeGroup => {
      const given = druid.spec.nodes[key]!;
      const port = { name: "druid-port", containerPort: given["druid.port"] };
      const node: DruidNode = { ...given, ports: [...(given.ports ?? []), port] };
      const group = groupName(name, key);
      const labels = groupLabels(druid, key, node);
      const config = go.normal(configMap(druid, `${group}-config`, labels, nodeConfig(druid, node)));
      const sha = `${go.hash(common)}-${go.hash(config)}`;
      return {
        key,
        name: group,
        node,
        labels,
        configMap: hashed(config),
        services: services(druid, node, group, labels).map(hashed),
        workload: hashed(workload(druid, node, group, labels, sha)),
        others: others(druid, node, group, labels).map(hashed),
      };
    });
  return { common: hashed(common), groups };
}

/** All children, in creation order. */
export function childrenOf({ common, groups }: RenderedCluster): readonly Child[] {
  const each = groups.flatMap(({ configMap, services, workload, others }) => [
    configMap,
    ...services,
    workload,
    ...others,
  ]);
  return [common, ...each];
}

/** Adds druid-operator's hash, which distinguishes a change of the spec from a change by somebody else. */
export function withHash<T extends Child>(child: T, owner: OwnerReference | undefined, go: GoJson): T {
  const metadata = owner ? { ...child.metadata, ownerReferences: [owner] } : child.metadata;
  const annotations = { ...child.metadata.annotations, [HASH_ANNOTATION]: go.hash({ ...child, metadata }) };
  return { ...child, metadata: { ...child.metadata, annotations } };
}

export function ownerOf({ metadata }: Druid): OwnerReference | undefined {
  const { name, uid } = metadata;
  return uid ? { apiVersion: Druid.apiVersion, kind: Druid.kind, name, uid, controller: true } : undefined;
}

export function isOwned({ metadata }: Pick<KubeObject, "metadata">, druid: Pick<Druid, "metadata">): boolean {
  const { uid } = druid.metadata;
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

export function workload(druid: Druid, node: DruidNode, group: string, labels: Labels, sha: string): WorkloadChild {
  const { spec, metadata } = druid;
  const annotations = { ...spec.workloadAnnotations, ...node.workloadAnnotations };
  const common = {
    replicas: node.replicas ?? 0,
    selector: { matchLabels: labels },
    template: podTemplate(druid, node, group, labels, sha),
  };
  const meta = { name: group, namespace: metadata.namespace, labels, annotations };
  if (node.kind === "Deployment") {
    const { maxSurge, maxUnavailable } = node;
    const strategy = { type: "RollingUpdate" as const, rollingUpdate: { maxSurge, maxUnavailable } };
    return { apiVersion: "apps/v1", kind: "Deployment", metadata: meta, spec: { ...common, strategy } };
  }
  const templates = [...(spec.volumeClaimTemplates ?? []), ...(node.volumeClaimTemplates ?? [])];
  const first = (node.services ?? spec.services ?? [])[0];
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: meta,
    spec: {
      ...common,
      volumeClaimTemplates:
        templates.length > 0 ? (templates as unknown as StatefulSetSpec["volumeClaimTemplates"]) : undefined,
      serviceName: first ? serviceName(first.metadata?.name, group) : undefined,
      podManagementPolicy: (node.podManagementPolicy || spec.podManagementPolicy || "Parallel") as "Parallel",
      updateStrategy: node.updateStrategy ?? spec.updateStrategy,
    },
  };
}

export function services(druid: Druid, node: DruidNode, group: string, labels: Labels): readonly Child[] {
  const port = node["druid.port"];
  const { namespace } = druid.metadata;
  return (node.services ?? druid.spec.services ?? []).map(({ metadata = {}, spec = {} }) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...metadata,
      name: serviceName(metadata.name, group),
      namespace,
      labels: { ...metadata.labels, ...labels },
    },
    spec: {
      ...spec,
      ports: spec.ports ?? [{ name: "service-port", port, targetPort: port }],
      selector: { ...spec.selector, ...labels },
    },
  }));
}

export function others(druid: Druid, node: DruidNode, group: string, labels: Labels): readonly Child[] {
  const { name, namespace } = druid.metadata;
  const metadata = { name: group, namespace, labels: clusterLabels(name) };
  const { ingress, ingressAnnotations, podDisruptionBudgetSpec: budget, hpAutoscaler } = node;
  const children: Child[] = [];
  if (ingress) {
    const annotated = { ...metadata, annotations: ingressAnnotations };
    children.push({ apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: annotated, spec: ingress });
  }
  if (budget) {
    const spec = { ...budget, selector: { matchLabels: labels } };
    children.push({ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { ...metadata, labels }, spec });
  }
  if (hpAutoscaler) {
    const kind = "HorizontalPodAutoscaler";
    children.push({ apiVersion: "autoscaling/v2", kind, metadata, spec: hpAutoscaler });
  }
  for (const claim of node.persistentVolumeClaim ?? []) {
    const own = { ...claim.metadata, name: claim.metadata?.name || group, namespace };
    const labelled = { ...own, labels: { ...claim.metadata?.labels, ...labels } };
    children.push({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: labelled, spec: claim.spec });
  }
  return children;
}

/**
 * The child as the API server stores it. Adds the defaults of fieldRef and resourceFieldRef, which are owned as a
 * whole. Drops an empty `strategy`: we would own it, but the stored value would never match.
 */
export function asApplied<T extends Child>(child: T): T {
  const stored = JSON.stringify(child, (key, each) => {
    if (key === "fieldRef") return { apiVersion: "v1", ...(each as object) };
    if (key === "strategy" && Object.keys((each as { rollingUpdate?: object }).rollingUpdate ?? {}).length === 0)
      return undefined;
    return key === "resourceFieldRef" ? { divisor: "0", ...(each as object) } : each;
  });
  return JSON.parse(stored) as T;
}
