// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";

export interface PriorityClass extends KubeObject {
  readonly apiVersion: "scheduling.k8s.io/v1";
  readonly kind: "PriorityClass";
  readonly metadata: ObjectMeta;
  readonly description?: string;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  readonly value?: number;
}

export const PriorityClass: Kind<PriorityClass> = {
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  apiVersion: "scheduling.k8s.io/v1",
  plural: "priorityclasses",
  scope: "Cluster",
};
