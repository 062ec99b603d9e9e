// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { JsonObject, KubeObject, ObjectMeta } from "../../object.js";
import type { IntOrString } from "../../schema/int-or-string.js";
import type { LabelSelector } from "../../selector/label-selector.js";
import type * as core from "../v1.js";

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#controllerrevision-v1-apps */
export interface ControllerRevision extends KubeObject {
  readonly apiVersion: "apps/v1";
  readonly kind: "ControllerRevision";
  readonly metadata: ObjectMeta;
  readonly data?: JsonObject;
  readonly revision: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#controllerrevision-v1-apps */
export const ControllerRevision: Kind<ControllerRevision, "Namespaced"> = {
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  apiVersion: "apps/v1",
  plural: "controllerrevisions",
  scope: "Namespaced",
};

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#daemonset-v1-apps */
export interface DaemonSet extends KubeObject {
  readonly apiVersion: "apps/v1";
  readonly kind: "DaemonSet";
  readonly metadata: ObjectMeta;
  readonly spec: DaemonSetSpec;
  readonly status?: DaemonSetStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#daemonset-v1-apps */
export const DaemonSet: Kind<DaemonSet, "Namespaced"> = {
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  apiVersion: "apps/v1",
  plural: "daemonsets",
  scope: "Namespaced",
};

export interface DaemonSetCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface DaemonSetSpec {
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly template: core.PodTemplateSpec;
  readonly updateStrategy?: DaemonSetUpdateStrategy;
}

export interface DaemonSetStatus {
  readonly collisionCount?: number;
  readonly conditions?: readonly DaemonSetCondition[];
  readonly currentNumberScheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberAvailable?: number;
  readonly numberMisscheduled: number;
  readonly numberReady: number;
  readonly numberUnavailable?: number;
  readonly observedGeneration?: number;
  readonly updatedNumberScheduled?: number;
}

export interface DaemonSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateDaemonSet;
  readonly type?: "OnDelete" | "RollingUpdate";
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#deployment-v1-apps */
export interface Deployment extends KubeObject {
  readonly apiVersion: "apps/v1";
  readonly kind: "Deployment";
  readonly metadata: ObjectMeta;
  readonly spec: DeploymentSpec;
  readonly status?: DeploymentStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#deployment-v1-apps */
export const Deployment: Kind<Deployment, "Namespaced"> = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  apiVersion: "apps/v1",
  plural: "deployments",
  scope: "Namespaced",
};

export interface DeploymentCondition {
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface DeploymentSpec {
  readonly minReadySeconds?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly strategy?: DeploymentStrategy;
  readonly template: core.PodTemplateSpec;
}

export interface DeploymentStatus {
  readonly availableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DeploymentCondition[];
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas?: number;
  readonly terminatingReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly updatedReplicas?: number;
}

export interface DeploymentStrategy {
  readonly rollingUpdate?: RollingUpdateDeployment;
  readonly type?: "Recreate" | "RollingUpdate";
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#replicaset-v1-apps */
export interface ReplicaSet extends KubeObject {
  readonly apiVersion: "apps/v1";
  readonly kind: "ReplicaSet";
  readonly metadata: ObjectMeta;
  readonly spec: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#replicaset-v1-apps */
export const ReplicaSet: Kind<ReplicaSet, "Namespaced"> = {
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  apiVersion: "apps/v1",
  plural: "replicasets",
  scope: "Namespaced",
};

export interface ReplicaSetCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface ReplicaSetSpec {
  readonly minReadySeconds?: number;
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template?: core.PodTemplateSpec;
}

export interface ReplicaSetStatus {
  readonly availableReplicas?: number;
  readonly conditions?: readonly ReplicaSetCondition[];
  readonly fullyLabeledReplicas?: number;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
  readonly terminatingReplicas?: number;
}

export interface RollingUpdateDaemonSet {
  readonly maxSurge?: IntOrString;
  readonly maxUnavailable?: IntOrString;
}

export interface RollingUpdateDeployment {
  readonly maxSurge?: IntOrString;
  readonly maxUnavailable?: IntOrString;
}

export interface RollingUpdateStatefulSetStrategy {
  readonly maxUnavailable?: IntOrString;
  readonly partition?: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#statefulset-v1-apps */
export interface StatefulSet extends KubeObject {
  readonly apiVersion: "apps/v1";
  readonly kind: "StatefulSet";
  readonly metadata: ObjectMeta;
  readonly spec: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#statefulset-v1-apps */
export const StatefulSet: Kind<StatefulSet, "Namespaced"> = {
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  apiVersion: "apps/v1",
  plural: "statefulsets",
  scope: "Namespaced",
};

export interface StatefulSetCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface StatefulSetOrdinals {
  readonly start?: number;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: string;
  readonly whenScaled?: string;
}

export interface StatefulSetSpec {
  readonly minReadySeconds?: number;
  readonly ordinals?: StatefulSetOrdinals;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly podManagementPolicy?: "OrderedReady" | "Parallel";
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly serviceName?: string;
  readonly template: core.PodTemplateSpec;
  readonly updateStrategy?: StatefulSetUpdateStrategy;
  readonly volumeClaimTemplates?: readonly core.PersistentVolumeClaim[];
}

export interface StatefulSetStatus {
  readonly availableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly StatefulSetCondition[];
  readonly currentReplicas?: number;
  readonly currentRevision?: string;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
  readonly updateRevision?: string;
  readonly updatedReplicas?: number;
}

export interface StatefulSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
  readonly type?: "OnDelete" | "RollingUpdate";
}
