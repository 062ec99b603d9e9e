// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";

export interface BoundObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#selfsubjectreview-v1-authentication-k8s-io */
export interface SelfSubjectReview extends KubeObject {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "SelfSubjectReview";
  readonly metadata: ObjectMeta;
  readonly status?: SelfSubjectReviewStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#selfsubjectreview-v1-authentication-k8s-io */
export const SelfSubjectReview: Kind<SelfSubjectReview, "Cluster"> = {
  group: "authentication.k8s.io",
  version: "v1",
  kind: "SelfSubjectReview",
  apiVersion: "authentication.k8s.io/v1",
  plural: "selfsubjectreviews",
  scope: "Cluster",
};

export interface SelfSubjectReviewStatus {
  readonly userInfo?: UserInfo;
}

export interface TokenRequest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: TokenRequestSpec;
  readonly status?: TokenRequestStatus;
}

export interface TokenRequestSpec {
  readonly audiences?: readonly string[];
  readonly boundObjectRef?: BoundObjectReference;
  readonly expirationSeconds?: number;
}

export interface TokenRequestStatus {
  readonly expirationTimestamp?: string;
  readonly token?: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#tokenreview-v1-authentication-k8s-io */
export interface TokenReview extends KubeObject {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "TokenReview";
  readonly metadata: ObjectMeta;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#tokenreview-v1-authentication-k8s-io */
export const TokenReview: Kind<TokenReview, "Cluster"> = {
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  apiVersion: "authentication.k8s.io/v1",
  plural: "tokenreviews",
  scope: "Cluster",
};

export interface TokenReviewSpec {
  readonly audiences?: readonly string[];
  readonly token: string;
}

export interface TokenReviewStatus {
  readonly audiences?: readonly string[];
  readonly authenticated?: boolean;
  readonly error?: string;
  readonly user?: UserInfo;
}

export interface UserInfo {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly username?: string;
}
