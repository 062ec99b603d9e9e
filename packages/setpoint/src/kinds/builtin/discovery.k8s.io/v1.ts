// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type * as core from "../v1.js";

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
  readonly hints?: EndpointHints;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: core.ObjectReference;
  readonly zone?: string;
}

export interface EndpointConditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

export interface EndpointHints {
  readonly forNodes?: readonly ForNode[];
  readonly forZones?: readonly ForZone[];
}

export interface EndpointPort {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#endpointslice-v1-discovery-k8s-io */
export interface EndpointSlice extends KubeObject {
  readonly apiVersion: "discovery.k8s.io/v1";
  readonly kind: "EndpointSlice";
  readonly metadata: ObjectMeta;
  readonly addressType: "FQDN" | "IPv4" | "IPv6";
  readonly endpoints?: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#endpointslice-v1-discovery-k8s-io */
export const EndpointSlice: Kind<EndpointSlice, "Namespaced"> = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  apiVersion: "discovery.k8s.io/v1",
  plural: "endpointslices",
  scope: "Namespaced",
};

export interface ForNode {
  readonly name: string;
}

export interface ForZone {
  readonly name: string;
}
