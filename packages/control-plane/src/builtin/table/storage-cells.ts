import type { UntypedObject } from "setpoint/kinds";
import { type Cells, list, NONE, record, text } from "./cell-values.js";

const UNSET = "<unset>";
/** The annotation that named the class of a claim or volume before the field existed. */
const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_CLASS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

function claim({ spec, status, metadata }: UntypedObject): Cells {
  const { volumeName, storageClassName, volumeAttributesClassName, volumeMode } = record(spec);
  const { phase, capacity, accessModes } = record(status);
  return {
    Status: metadata.deletionTimestamp === undefined ? text(phase) : "Terminating",
    Volume: text(volumeName),
    Capacity: volumeName ? text(record(capacity).storage ?? "0") : "",
    "Access Modes": volumeName ? modesText(accessModes) : "",
    StorageClass: text(metadata.annotations?.[OLD_CLASS] ?? storageClassName),
    VolumeAttributesClass: volumeAttributesClassName ?? UNSET,
    VolumeMode: volumeMode ?? UNSET,
  };
}

function volume({ spec, status, metadata }: UntypedObject): Cells {
  const { capacity, accessModes, persistentVolumeReclaimPolicy, claimRef, ...given } = record(spec);
  const { phase, reason } = record(status);
  const { namespace, name } = record(claimRef);
  return {
    Capacity: text(record(capacity).storage ?? "0"),
    "Access Modes": modesText(accessModes),
    "Reclaim Policy": text(persistentVolumeReclaimPolicy),
    Status: metadata.deletionTimestamp === undefined ? text(phase) : "Terminating",
    Claim: claimRef === undefined ? "" : `${text(namespace)}/${text(name)}`,
    StorageClass: text(metadata.annotations?.[OLD_CLASS] ?? given.storageClassName),
    VolumeAttributesClass: given.volumeAttributesClassName ?? UNSET,
    Reason: text(reason),
    VolumeMode: given.volumeMode ?? UNSET,
  };
}

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modesText(modes: unknown): string {
  return Object.entries(ACCESS_MODES)
    .filter(([mode]) => list(modes).includes(mode))
    .map(([, short]) => short)
    .join(",");
}

function storageClass(object: UntypedObject): Cells {
  const isDefault = DEFAULT_CLASS.some((annotation) => object.metadata.annotations?.[annotation] === "true");
  return {
    Name: object.metadata.name + (isDefault ? " (default)" : ""),
    Provisioner: text(object.provisioner),
    ReclaimPolicy: object.reclaimPolicy ?? "Delete",
    VolumeBindingMode: object.volumeBindingMode ?? "Immediate",
    AllowVolumeExpansion: object.allowVolumeExpansion ?? false,
  };
}

function driver({ spec }: UntypedObject): Cells {
  const { attachRequired, podInfoOnMount, storageCapacity, tokenRequests, ...given } = record(spec);
  const audiences = list(tokenRequests).map((each) => text(record(each).audience));
  return {
    AttachRequired: attachRequired ?? true,
    PodInfoOnMount: podInfoOnMount ?? false,
    StorageCapacity: storageCapacity ?? false,
    TokenRequests: tokenRequests === undefined ? UNSET : audiences.join(","),
    RequiresRepublish: given.requiresRepublish ?? false,
    Modes: list(given.volumeLifecycleModes).map(text).join(",") || NONE,
  };
}

function attachment({ spec, status }: UntypedObject): Cells {
  const { attacher, nodeName, source } = record(spec);
  return {
    Attacher: text(attacher),
    PV: text(record(source).persistentVolumeName),
    Node: text(nodeName),
    Attached: record(status).attached ?? false,
  };
}

export const storageCells = {
  claim,
  volume,
  storageClass,
  driver,
  attachment,
  node: ({ spec }: UntypedObject): Cells => ({ Drivers: list(record(spec).drivers).length }),
  attributesClass: ({ driverName }: UntypedObject): Cells => ({ DriverName: text(driverName) }),
};
