// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { LabelSelector } from "../../selector/label-selector.js";

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#clusterrole-v1-rbac-authorization-k8s-io */
export interface ClusterRole extends KubeObject {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "ClusterRole";
  readonly metadata: ObjectMeta;
  readonly aggregationRule?: AggregationRule;
  readonly rules?: readonly PolicyRule[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#clusterrole-v1-rbac-authorization-k8s-io */
export const ClusterRole: Kind<ClusterRole, "Cluster"> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  apiVersion: "rbac.authorization.k8s.io/v1",
  plural: "clusterroles",
  scope: "Cluster",
};

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#clusterrolebinding-v1-rbac-authorization-k8s-io */
export interface ClusterRoleBinding extends KubeObject {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "ClusterRoleBinding";
  readonly metadata: ObjectMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#clusterrolebinding-v1-rbac-authorization-k8s-io */
export const ClusterRoleBinding: Kind<ClusterRoleBinding, "Cluster"> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRoleBinding",
  apiVersion: "rbac.authorization.k8s.io/v1",
  plural: "clusterrolebindings",
  scope: "Cluster",
};

export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#role-v1-rbac-authorization-k8s-io */
export interface Role extends KubeObject {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "Role";
  readonly metadata: ObjectMeta;
  readonly rules?: readonly PolicyRule[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#role-v1-rbac-authorization-k8s-io */
export const Role: Kind<Role, "Namespaced"> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "Role",
  apiVersion: "rbac.authorization.k8s.io/v1",
  plural: "roles",
  scope: "Namespaced",
};

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#rolebinding-v1-rbac-authorization-k8s-io */
export interface RoleBinding extends KubeObject {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "RoleBinding";
  readonly metadata: ObjectMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#rolebinding-v1-rbac-authorization-k8s-io */
export const RoleBinding: Kind<RoleBinding, "Namespaced"> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "RoleBinding",
  apiVersion: "rbac.authorization.k8s.io/v1",
  plural: "rolebindings",
  scope: "Namespaced",
};

export interface RoleRef {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
}

export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}
