// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#priorityclass-v1-scheduling-k8s-io */
export interface PriorityClass extends KubeObject {
  readonly apiVersion: "scheduling.k8s.io/v1";
  readonly kind: "PriorityClass";
  readonly metadata: ObjectMeta;
  readonly description?: string;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  readonly value?: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#priorityclass-v1-scheduling-k8s-io */
export const PriorityClass: Kind<PriorityClass, "Cluster"> = {
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  apiVersion: "scheduling.k8s.io/v1",
  plural: "priorityclasses",
  scope: "Cluster",
};
