// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";

export interface CrossVersionObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#horizontalpodautoscaler-v1-autoscaling */
export interface HorizontalPodAutoscaler extends KubeObject {
  readonly apiVersion: "autoscaling/v1";
  readonly kind: "HorizontalPodAutoscaler";
  readonly metadata: ObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#horizontalpodautoscaler-v1-autoscaling */
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler, "Namespaced"> = {
  group: "autoscaling",
  version: "v1",
  kind: "HorizontalPodAutoscaler",
  apiVersion: "autoscaling/v1",
  plural: "horizontalpodautoscalers",
  scope: "Namespaced",
};

export interface HorizontalPodAutoscalerSpec {
  readonly maxReplicas: number;
  readonly minReplicas?: number;
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly targetCPUUtilizationPercentage?: number;
}

export interface HorizontalPodAutoscalerStatus {
  readonly currentCPUUtilizationPercentage?: number;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly observedGeneration?: number;
}

export interface Scale {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: ScaleSpec;
  readonly status?: ScaleStatus;
}

export interface ScaleSpec {
  readonly replicas?: number;
}

export interface ScaleStatus {
  readonly replicas: number;
  readonly selector?: string;
}
