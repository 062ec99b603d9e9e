// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { LabelSelector } from "../../selector/label-selector.js";
import type * as core from "../v1.js";

export interface CSIDriver extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSIDriver";
  readonly metadata: ObjectMeta;
  readonly spec: CSIDriverSpec;
}

export const CSIDriver: Kind<CSIDriver> = {
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

export interface CSINode extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSINode";
  readonly metadata: ObjectMeta;
  readonly spec: CSINodeSpec;
}

export const CSINode: Kind<CSINode> = {
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

export interface CSIStorageCapacity extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSIStorageCapacity";
  readonly metadata: ObjectMeta;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName: string;
}

export const CSIStorageCapacity: Kind<CSIStorageCapacity> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIStorageCapacity",
  apiVersion: "storage.k8s.io/v1",
  plural: "csistoragecapacities",
  scope: "Namespaced",
};

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

export const StorageClass: Kind<StorageClass> = {
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

export interface VolumeAttachment extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "VolumeAttachment";
  readonly metadata: ObjectMeta;
  readonly spec: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
}

export const VolumeAttachment: Kind<VolumeAttachment> = {
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

export interface VolumeAttributesClass extends KubeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "VolumeAttributesClass";
  readonly metadata: ObjectMeta;
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

export const VolumeAttributesClass: Kind<VolumeAttributesClass> = {
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
