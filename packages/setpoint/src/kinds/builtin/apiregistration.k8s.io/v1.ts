// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#apiservice-v1-apiregistration-k8s-io */
export interface APIService extends KubeObject {
  readonly apiVersion: "apiregistration.k8s.io/v1";
  readonly kind: "APIService";
  readonly metadata: ObjectMeta;
  readonly spec: APIServiceSpec;
  readonly status?: APIServiceStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#apiservice-v1-apiregistration-k8s-io */
export const APIService: Kind<APIService, "Cluster"> = {
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  apiVersion: "apiregistration.k8s.io/v1",
  plural: "apiservices",
  scope: "Cluster",
};

export interface APIServiceCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface APIServiceSpec {
  readonly caBundle?: string;
  readonly group?: string;
  readonly groupPriorityMinimum: number;
  readonly insecureSkipTLSVerify?: boolean;
  readonly service?: ServiceReference;
  readonly version?: string;
  readonly versionPriority: number;
}

export interface APIServiceStatus {
  readonly conditions?: readonly APIServiceCondition[];
}

export interface ServiceReference {
  readonly name?: string;
  readonly namespace?: string;
  readonly port?: number;
}
