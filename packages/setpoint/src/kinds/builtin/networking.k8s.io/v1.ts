// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Condition } from "../../condition.js";
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { IntOrString } from "../../schema/int-or-string.js";
import type { LabelSelector } from "../../selector/label-selector.js";
import type * as core from "../v1.js";

export interface HTTPIngressPath {
  readonly backend: IngressBackend;
  readonly path?: string;
  readonly pathType: "Exact" | "ImplementationSpecific" | "Prefix";
}

export interface HTTPIngressRuleValue {
  readonly paths: readonly HTTPIngressPath[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#ipaddress-v1-networking-k8s-io */
export interface IPAddress extends KubeObject {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "IPAddress";
  readonly metadata: ObjectMeta;
  readonly spec: IPAddressSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#ipaddress-v1-networking-k8s-io */
export const IPAddress: Kind<IPAddress, "Cluster"> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "IPAddress",
  apiVersion: "networking.k8s.io/v1",
  plural: "ipaddresses",
  scope: "Cluster",
};

export interface IPAddressSpec {
  readonly parentRef: ParentReference;
}

export interface IPBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#ingress-v1-networking-k8s-io */
export interface Ingress extends KubeObject {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "Ingress";
  readonly metadata: ObjectMeta;
  readonly spec?: IngressSpec;
  readonly status?: IngressStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#ingress-v1-networking-k8s-io */
export const Ingress: Kind<Ingress, "Namespaced"> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  apiVersion: "networking.k8s.io/v1",
  plural: "ingresses",
  scope: "Namespaced",
};

export interface IngressBackend {
  readonly resource?: core.TypedLocalObjectReference;
  readonly service?: IngressServiceBackend;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#ingressclass-v1-networking-k8s-io */
export interface IngressClass extends KubeObject {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "IngressClass";
  readonly metadata: ObjectMeta;
  readonly spec?: IngressClassSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#ingressclass-v1-networking-k8s-io */
export const IngressClass: Kind<IngressClass, "Cluster"> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "IngressClass",
  apiVersion: "networking.k8s.io/v1",
  plural: "ingressclasses",
  scope: "Cluster",
};

export interface IngressClassParametersReference {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
  readonly scope?: string;
}

export interface IngressClassSpec {
  readonly controller?: string;
  readonly parameters?: IngressClassParametersReference;
}

export interface IngressLoadBalancerIngress {
  readonly hostname?: string;
  readonly ip?: string;
  readonly ports?: readonly IngressPortStatus[];
}

export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[];
}

export interface IngressPortStatus {
  readonly error?: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

export interface IngressRule {
  readonly host?: string;
  readonly http?: HTTPIngressRuleValue;
}

export interface IngressServiceBackend {
  readonly name: string;
  readonly port?: ServiceBackendPort;
}

export interface IngressSpec {
  readonly defaultBackend?: IngressBackend;
  readonly ingressClassName?: string;
  readonly rules?: readonly IngressRule[];
  readonly tls?: readonly IngressTLS[];
}

export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus;
}

export interface IngressTLS {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#networkpolicy-v1-networking-k8s-io */
export interface NetworkPolicy extends KubeObject {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "NetworkPolicy";
  readonly metadata: ObjectMeta;
  readonly spec?: NetworkPolicySpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#networkpolicy-v1-networking-k8s-io */
export const NetworkPolicy: Kind<NetworkPolicy, "Namespaced"> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  apiVersion: "networking.k8s.io/v1",
  plural: "networkpolicies",
  scope: "Namespaced",
};

export interface NetworkPolicyEgressRule {
  readonly ports?: readonly NetworkPolicyPort[];
  readonly to?: readonly NetworkPolicyPeer[];
}

export interface NetworkPolicyIngressRule {
  readonly from?: readonly NetworkPolicyPeer[];
  readonly ports?: readonly NetworkPolicyPort[];
}

export interface NetworkPolicyPeer {
  readonly ipBlock?: IPBlock;
  readonly namespaceSelector?: LabelSelector;
  readonly podSelector?: LabelSelector;
}

export interface NetworkPolicyPort {
  readonly endPort?: number;
  readonly port?: IntOrString;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

export interface NetworkPolicySpec {
  readonly egress?: readonly NetworkPolicyEgressRule[];
  readonly ingress?: readonly NetworkPolicyIngressRule[];
  readonly podSelector?: LabelSelector;
  readonly policyTypes?: readonly ("Egress" | "Ingress")[];
}

export interface ParentReference {
  readonly group?: string;
  readonly name: string;
  readonly namespace?: string;
  readonly resource: string;
}

export interface ServiceBackendPort {
  readonly name?: string;
  readonly number?: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#servicecidr-v1-networking-k8s-io */
export interface ServiceCIDR extends KubeObject {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "ServiceCIDR";
  readonly metadata: ObjectMeta;
  readonly spec?: ServiceCIDRSpec;
  readonly status?: ServiceCIDRStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#servicecidr-v1-networking-k8s-io */
export const ServiceCIDR: Kind<ServiceCIDR, "Cluster"> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "ServiceCIDR",
  apiVersion: "networking.k8s.io/v1",
  plural: "servicecidrs",
  scope: "Cluster",
};

export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[];
}

export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[];
}
