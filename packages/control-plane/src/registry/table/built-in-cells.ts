import type { KubeObject, UntypedObject } from "setpoint";
import type { ResourceDefinition } from "../resource-definition.js";
import { type Cells, count, list, NONE, record, text } from "./cell-values.js";
import { humanDuration } from "./human-duration.js";
import { nodeCells } from "./node-cells.js";
import { podCells } from "./pod-cells.js";
import { serviceCells } from "./service-cells.js";
import { selectorText, workloadCells } from "./workload-cells.js";

type CellMaker = (object: UntypedObject, nowMs: number) => Cells;

/** The cells that are more than one field, by `group/plural` and name of the column. */
const MAKERS: Readonly<Record<string, CellMaker>> = {
  "/pods": podCells,
  "/nodes": nodeCells,
  "/services": serviceCells,
  "/configmaps": ({ data, binaryData }) => ({ Data: count(data) + count(binaryData) }),
  "/secrets": ({ type, data }) => ({ Type: text(type), Data: count(data) }),
  "/namespaces": ({ status }) => ({ Status: text(record(status).phase) }),
  "/serviceaccounts": ({ secrets }) => ({ Secrets: list(secrets).length }),
  "/events": eventCells,
  "/persistentvolumeclaims": claimCells,
  "/persistentvolumes": volumeCells,
  "apps/deployments": workloadCells.deployment,
  "apps/replicasets": workloadCells.replicaSet,
  "apps/statefulsets": workloadCells.statefulSet,
  "apps/daemonsets": workloadCells.daemonSet,
  "batch/jobs": workloadCells.job,
  "batch/cronjobs": workloadCells.cronJob,
  "coordination.k8s.io/leases": ({ spec }) => ({ Holder: text(record(spec).holderIdentity) }),
  "networking.k8s.io/ingresses": ingressCells,
  "networking.k8s.io/networkpolicies": ({ spec }) => ({ "Pod-Selector": selectorText(record(spec).podSelector) }),
  "storage.k8s.io/storageclasses": storageClassCells,
  "scheduling.k8s.io/priorityclasses": (object) => ({
    Value: object.value,
    "Global-Default": object.globalDefault ?? false,
    PreemptionPolicy: text(object.preemptionPolicy),
  }),
  "flowcontrol.apiserver.k8s.io/flowschemas": flowSchemaCells,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": priorityLevelCells,
  "networking.k8s.io/servicecidrs": ({ spec }) => ({ CIDRs: list(record(spec).cidrs).map(text).join(",") }),
  "rbac.authorization.k8s.io/roles": ({ metadata }) => ({ "Created At": metadata.creationTimestamp }),
  "rbac.authorization.k8s.io/clusterroles": ({ metadata }) => ({ "Created At": metadata.creationTimestamp }),
  "rbac.authorization.k8s.io/rolebindings": bindingCells,
  "rbac.authorization.k8s.io/clusterrolebindings": bindingCells,
  "apiextensions.k8s.io/customresourcedefinitions": ({ metadata }) => ({ "Created At": metadata.creationTimestamp }),
  "apiregistration.k8s.io/apiservices": apiServiceCells,
  "autoscaling/horizontalpodautoscalers": autoscalerCells,
  "policy/poddisruptionbudgets": ({ spec, status }) => ({
    "Min Available": record(spec).minAvailable === undefined ? "N/A" : String(record(spec).minAvailable),
    "Max Unavailable": record(spec).maxUnavailable === undefined ? "N/A" : String(record(spec).maxUnavailable),
    "Allowed Disruptions": record(status).disruptionsAllowed ?? 0,
  }),
};

export function builtInCells(
  { group, plural, storageId }: ResourceDefinition,
  object: KubeObject,
  nowMs: number,
): Cells {
  const maker = MAKERS[`${group}/${plural}`] ?? MAKERS[storageId];
  return maker?.(object as UntypedObject, nowMs) ?? {};
}

function eventCells(event: UntypedObject, nowMs: number): Cells {
  const target = record(event.involvedObject ?? event.regarding);
  const source = record(event.source ?? event.deprecatedSource);
  const ago = (time: unknown): string =>
    typeof time === "string" ? humanDuration(nowMs - Date.parse(time)) : "<unknown>";
  const first = event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime;
  const series = record(event.series);
  const last = series.lastObservedTime ?? event.lastTimestamp ?? event.deprecatedLastTimestamp ?? first;
  const component = source.component || event.reportingComponent || event.reportingController;
  const host = source.host || (source.component ? undefined : event.reportingInstance);
  return {
    "Last Seen": ago(last),
    Type: text(event.type),
    Reason: text(event.reason),
    Object: `${text(target.kind).toLowerCase()}/${text(target.name)}`,
    Subobject: text(target.fieldPath),
    Source: [component, host].filter(Boolean).join(", "),
    Message: text(event.message ?? event.note).trim(),
    "First Seen": ago(first),
    Count: series.count ?? event.count ?? event.deprecatedCount ?? 1,
    Name: event.metadata.name,
  };
}

function claimCells({ spec, status, metadata }: UntypedObject): Cells {
  const claim = record(spec);
  const phase = metadata.deletionTimestamp === undefined ? text(record(status).phase) : "Terminating";
  return {
    Status: phase,
    Volume: text(claim.volumeName),
    Capacity: text(record(record(status).capacity).storage),
    "Access Modes": accessModes(record(status).accessModes),
    StorageClass: text(claim.storageClassName),
    VolumeAttributesClass: claim.volumeAttributesClassName ?? "<unset>",
    VolumeMode: claim.volumeMode ?? "<unset>",
  };
}

function volumeCells({ spec, status, metadata }: UntypedObject): Cells {
  const volume = record(spec);
  const claim = record(volume.claimRef);
  return {
    Capacity: text(record(volume.capacity).storage),
    "Access Modes": accessModes(volume.accessModes),
    "Reclaim Policy": text(volume.persistentVolumeReclaimPolicy),
    Status: metadata.deletionTimestamp === undefined ? text(record(status).phase) : "Terminating",
    Claim: claim.name === undefined ? "" : `${text(claim.namespace)}/${text(claim.name)}`,
    StorageClass: text(volume.storageClassName),
    VolumeAttributesClass: volume.volumeAttributesClassName ?? "<unset>",
    Reason: text(record(status).reason),
    VolumeMode: volume.volumeMode ?? "<unset>",
  };
}

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModes(modes: unknown): string {
  return Object.entries(ACCESS_MODES)
    .filter(([mode]) => list(modes).includes(mode))
    .map(([, short]) => short)
    .join(",");
}

function ingressCells({ spec, status }: UntypedObject): Cells {
  const ingress = record(spec);
  const hosts = list(ingress.rules)
    .map((rule) => text(record(rule).host))
    .filter(Boolean);
  const addresses = list(record(record(status).loadBalancer).ingress).map((each) =>
    text(record(each).ip ?? record(each).hostname),
  );
  return {
    Class: ingress.ingressClassName ?? NONE,
    Hosts:
      hosts.length === 0
        ? "*"
        : hosts.slice(0, 3).join(",") + (hosts.length > 3 ? ` + ${hosts.length - 3} more...` : ""),
    Address: addresses.join(","),
    Ports: list(ingress.tls).length > 0 ? "80, 443" : "80",
  };
}

function storageClassCells(object: UntypedObject): Cells {
  const isDefault = object.metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true";
  return {
    Name: object.metadata.name + (isDefault ? " (default)" : ""),
    Provisioner: text(object.provisioner),
    ReclaimPolicy: object.reclaimPolicy ?? "Delete",
    VolumeBindingMode: object.volumeBindingMode ?? "Immediate",
    AllowVolumeExpansion: object.allowVolumeExpansion ?? false,
  };
}

function bindingCells({ roleRef, subjects }: UntypedObject): Cells {
  const role = record(roleRef);
  const of = (kind: string): string =>
    list(subjects)
      .filter((subject) => record(subject).kind === kind)
      .map((subject) => {
        const { namespace, name } = record(subject);
        return kind === "ServiceAccount" ? `${text(namespace)}/${text(name)}` : text(name);
      })
      .join(", ");
  return {
    Role: `${text(role.kind)}/${text(role.name)}`,
    Users: of("User"),
    Groups: of("Group"),
    ServiceAccounts: of("ServiceAccount"),
  };
}

function flowSchemaCells({ spec, status }: UntypedObject): Cells {
  const schema = record(spec);
  const dangling = list(record(status).conditions)
    .map(record)
    .find(({ type }) => type === "Dangling");
  return {
    PriorityLevel: text(record(schema.priorityLevelConfiguration).name),
    MatchingPrecedence: schema.matchingPrecedence ?? 0,
    DistinguisherMethod: record(schema.distinguisherMethod).type ?? NONE,
    MissingPL: text(dangling?.status ?? "?"),
  };
}

function priorityLevelCells({ spec }: UntypedObject): Cells {
  const { type, limited, exempt } = record(spec);
  const { nominalConcurrencyShares } = record(limited ?? exempt);
  const queuing = record(record(record(limited).limitResponse).queuing);
  const shown = (value: unknown): unknown => value ?? NONE;
  return {
    Type: text(type),
    NominalConcurrencyShares: shown(nominalConcurrencyShares),
    Queues: shown(queuing.queues),
    HandSize: shown(queuing.handSize),
    QueueLengthLimit: shown(queuing.queueLengthLimit),
  };
}

function autoscalerCells({ spec, status }: UntypedObject): Cells {
  const scaler = record(spec);
  const target = record(scaler.scaleTargetRef);
  return {
    Reference: `${text(target.kind)}/${text(target.name)}`,
    Targets: NONE,
    MinPods: scaler.minReplicas === undefined ? "<unset>" : String(scaler.minReplicas),
    MaxPods: scaler.maxReplicas ?? 0,
    Replicas: record(status).currentReplicas ?? 0,
  };
}

function apiServiceCells({ spec, status }: UntypedObject): Cells {
  const service = record(spec).service;
  const available = list(record(status).conditions)
    .map(record)
    .find(({ type }) => type === "Available");
  const isTrue = available?.status === "True";
  return {
    Service: service === undefined ? "Local" : `${text(record(service).namespace)}/${text(record(service).name)}`,
    Available:
      available === undefined ? "Unknown" : isTrue ? "True" : `${text(available.status)} (${text(available.reason)})`,
  };
}
