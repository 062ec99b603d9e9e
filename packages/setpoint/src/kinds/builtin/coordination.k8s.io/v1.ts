// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#lease-v1-coordination-k8s-io */
export interface Lease extends KubeObject {
  readonly apiVersion: "coordination.k8s.io/v1";
  readonly kind: "Lease";
  readonly metadata: ObjectMeta;
  readonly spec?: LeaseSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#lease-v1-coordination-k8s-io */
export const Lease: Kind<Lease, "Namespaced"> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  apiVersion: "coordination.k8s.io/v1",
  plural: "leases",
  scope: "Namespaced",
};

export interface LeaseSpec {
  readonly acquireTime?: string;
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly preferredHolder?: string;
  readonly renewTime?: string;
  readonly strategy?: string;
}
