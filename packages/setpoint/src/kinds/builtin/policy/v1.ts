// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Condition } from "../../condition.js";
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { IntOrString } from "../../schema/int-or-string.js";
import type { LabelSelector } from "../../selector/label-selector.js";
import type * as meta from "../meta/v1.js";

export interface Eviction {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Partial<ObjectMeta>;
  readonly deleteOptions?: meta.DeleteOptions;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#poddisruptionbudget-v1-policy */
export interface PodDisruptionBudget extends KubeObject {
  readonly apiVersion: "policy/v1";
  readonly kind: "PodDisruptionBudget";
  readonly metadata: ObjectMeta;
  readonly spec?: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#poddisruptionbudget-v1-policy */
export const PodDisruptionBudget: Kind<PodDisruptionBudget, "Namespaced"> = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  apiVersion: "policy/v1",
  plural: "poddisruptionbudgets",
  scope: "Namespaced",
};

export interface PodDisruptionBudgetSpec {
  readonly maxUnavailable?: IntOrString;
  readonly minAvailable?: IntOrString;
  readonly selector?: LabelSelector;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget";
}

export interface PodDisruptionBudgetStatus {
  readonly conditions?: readonly Condition[];
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly disruptionsAllowed?: number;
  readonly expectedPods?: number;
  readonly observedGeneration?: number;
}
