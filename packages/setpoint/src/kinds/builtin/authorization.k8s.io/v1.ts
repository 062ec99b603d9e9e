// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { LabelSelectorRequirement } from "../../selector/label-selector.js";
import type * as meta from "../meta/v1.js";

export interface FieldSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly meta.FieldSelectorRequirement[];
}

export interface LabelSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly LabelSelectorRequirement[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#localsubjectaccessreview-v1-authorization-k8s-io */
export interface LocalSubjectAccessReview extends KubeObject {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "LocalSubjectAccessReview";
  readonly metadata: ObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#localsubjectaccessreview-v1-authorization-k8s-io */
export const LocalSubjectAccessReview: Kind<LocalSubjectAccessReview, "Namespaced"> = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "LocalSubjectAccessReview",
  apiVersion: "authorization.k8s.io/v1",
  plural: "localsubjectaccessreviews",
  scope: "Namespaced",
};

export interface NonResourceAttributes {
  readonly path?: string;
  readonly verb?: string;
}

export interface NonResourceRule {
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ResourceAttributes {
  readonly fieldSelector?: FieldSelectorAttributes;
  readonly group?: string;
  readonly labelSelector?: LabelSelectorAttributes;
  readonly name?: string;
  readonly namespace?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly verb?: string;
  readonly version?: string;
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#selfsubjectaccessreview-v1-authorization-k8s-io */
export interface SelfSubjectAccessReview extends KubeObject {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SelfSubjectAccessReview";
  readonly metadata: ObjectMeta;
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#selfsubjectaccessreview-v1-authorization-k8s-io */
export const SelfSubjectAccessReview: Kind<SelfSubjectAccessReview, "Cluster"> = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  apiVersion: "authorization.k8s.io/v1",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster",
};

export interface SelfSubjectAccessReviewSpec {
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#selfsubjectrulesreview-v1-authorization-k8s-io */
export interface SelfSubjectRulesReview extends KubeObject {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SelfSubjectRulesReview";
  readonly metadata: ObjectMeta;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status?: SubjectRulesReviewStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#selfsubjectrulesreview-v1-authorization-k8s-io */
export const SelfSubjectRulesReview: Kind<SelfSubjectRulesReview, "Cluster"> = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectRulesReview",
  apiVersion: "authorization.k8s.io/v1",
  plural: "selfsubjectrulesreviews",
  scope: "Cluster",
};

export interface SelfSubjectRulesReviewSpec {
  readonly namespace?: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#subjectaccessreview-v1-authorization-k8s-io */
export interface SubjectAccessReview extends KubeObject {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SubjectAccessReview";
  readonly metadata: ObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#subjectaccessreview-v1-authorization-k8s-io */
export const SubjectAccessReview: Kind<SubjectAccessReview, "Cluster"> = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SubjectAccessReview",
  apiVersion: "authorization.k8s.io/v1",
  plural: "subjectaccessreviews",
  scope: "Cluster",
};

export interface SubjectAccessReviewSpec {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
  readonly uid?: string;
  readonly user?: string;
}

export interface SubjectAccessReviewStatus {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly evaluationError?: string;
  readonly reason?: string;
}

export interface SubjectRulesReviewStatus {
  readonly evaluationError?: string;
  readonly incomplete: boolean;
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly resourceRules: readonly ResourceRule[];
}
