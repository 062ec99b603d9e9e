// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { LabelSelector } from "../../selector/label-selector.js";
import type * as core from "../v1.js";

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#csidriver-v1-storage-k8s-io */
export interface CSIDriver extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSIDriver";
  readonly metadata: ObjectMeta;
  readonly spec: CSIDriverSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#csidriver-v1-storage-k8s-io */
export const CSIDriver: Kind<CSIDriver, "Cluster"> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIDriver",
  apiVersion: "storage.k8s.io/v1",
  plural: "csidrivers",
  scope: "Cluster",
};

export interface CSIDriverSpec {
  readonly attachRequired?: boolean;
  readonly fsGroupPolicy?: string;
  readonly nodeAllocatableUpdatePeriodSeconds?: number;
  readonly podInfoOnMount?: boolean;
  readonly preventPodSchedulingIfMissing?: boolean;
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly serviceAccountTokenInSecrets?: boolean;
  readonly storageCapacity?: boolean;
  readonly tokenRequests?: readonly TokenRequest[];
  readonly volumeLifecycleModes?: readonly string[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#csinode-v1-storage-k8s-io */
export interface CSINode extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSINode";
  readonly metadata: ObjectMeta;
  readonly spec: CSINodeSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#csinode-v1-storage-k8s-io */
export const CSINode: Kind<CSINode, "Cluster"> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSINode",
  apiVersion: "storage.k8s.io/v1",
  plural: "csinodes",
  scope: "Cluster",
};

export interface CSINodeDriver {
  readonly allocatable?: VolumeNodeResources;
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys?: readonly string[];
}

export interface CSINodeSpec {
  readonly drivers: readonly CSINodeDriver[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#csistoragecapacity-v1-storage-k8s-io */
export interface CSIStorageCapacity extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSIStorageCapacity";
  readonly metadata: ObjectMeta;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#csistoragecapacity-v1-storage-k8s-io */
export const CSIStorageCapacity: Kind<CSIStorageCapacity, "Namespaced"> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIStorageCapacity",
  apiVersion: "storage.k8s.io/v1",
  plural: "csistoragecapacities",
  scope: "Namespaced",
};

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#storageclass-v1-storage-k8s-io */
export interface StorageClass extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "StorageClass";
  readonly metadata: ObjectMeta;
  readonly allowVolumeExpansion?: boolean;
  readonly allowedTopologies?: readonly core.TopologySelectorTerm[];
  readonly mountOptions?: readonly string[];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly provisioner: string;
  readonly reclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#storageclass-v1-storage-k8s-io */
export const StorageClass: Kind<StorageClass, "Cluster"> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  apiVersion: "storage.k8s.io/v1",
  plural: "storageclasses",
  scope: "Cluster",
};

export interface TokenRequest {
  readonly audience: string;
  readonly expirationSeconds?: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#volumeattachment-v1-storage-k8s-io */
export interface VolumeAttachment extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "VolumeAttachment";
  readonly metadata: ObjectMeta;
  readonly spec: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#volumeattachment-v1-storage-k8s-io */
export const VolumeAttachment: Kind<VolumeAttachment, "Cluster"> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttachment",
  apiVersion: "storage.k8s.io/v1",
  plural: "volumeattachments",
  scope: "Cluster",
};

export interface VolumeAttachmentSource {
  readonly inlineVolumeSpec?: core.PersistentVolumeSpec;
  readonly persistentVolumeName?: string;
}

export interface VolumeAttachmentSpec {
  readonly attacher: string;
  readonly nodeName: string;
  readonly source: VolumeAttachmentSource;
}

export interface VolumeAttachmentStatus {
  readonly attachError?: VolumeError;
  readonly attached: boolean;
  readonly attachmentMetadata?: Readonly<Record<string, string>>;
  readonly detachError?: VolumeError;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#volumeattributesclass-v1-storage-k8s-io */
export interface VolumeAttributesClass extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "VolumeAttributesClass";
  readonly metadata: ObjectMeta;
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#volumeattributesclass-v1-storage-k8s-io */
export const VolumeAttributesClass: Kind<VolumeAttributesClass, "Cluster"> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttributesClass",
  apiVersion: "storage.k8s.io/v1",
  plural: "volumeattributesclasses",
  scope: "Cluster",
};

export interface VolumeError {
  readonly errorCode?: number;
  readonly message?: string;
  readonly time?: string;
}

export interface VolumeNodeResources {
  readonly count?: number;
}
