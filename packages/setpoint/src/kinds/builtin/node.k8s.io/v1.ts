// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type * as core from "../v1.js";

export interface Overhead {
  readonly podFixed?: Readonly<Record<string, string>>;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#runtimeclass-v1-node-k8s-io */
export interface RuntimeClass extends KubeObject {
  readonly apiVersion: "node.k8s.io/v1";
  readonly kind: "RuntimeClass";
  readonly metadata: ObjectMeta;
  readonly handler: string;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#runtimeclass-v1-node-k8s-io */
export const RuntimeClass: Kind<RuntimeClass, "Cluster"> = {
  group: "node.k8s.io",
  version: "v1",
  kind: "RuntimeClass",
  apiVersion: "node.k8s.io/v1",
  plural: "runtimeclasses",
  scope: "Cluster",
};

export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly core.Toleration[];
}
