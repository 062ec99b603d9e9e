import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { admissionCells } from "./admission-cells.js";
import { autoscalerCells } from "./autoscaler-cells.js";
import { type Cells, count, list, NONE, record, text } from "./cell-values.js";
import { endpointCells } from "./endpoint-cells.js";
import { humanDuration } from "./human-duration.js";
import { networkingCells } from "./networking-cells.js";
import { nodeCells } from "./node-cells.js";
import { podCells } from "./pod-cells.js";
import { serviceCells } from "./service-cells.js";
import { storageCells } from "./storage-cells.js";
import { selectorText, workloadCells } from "./workload-cells.js";

type CellMaker = (object: UntypedObject, nowMs: number) => Cells;

/** Cells that need more than one field, by `group/plural` and column name. */
const MAKERS: Readonly<Record<string, CellMaker>> = {
  "/pods": podCells,
  "/nodes": nodeCells,
  "/services": serviceCells,
  "/configmaps": ({ data, binaryData }) => ({ Data: count(data) + count(binaryData) }),
  "/secrets": ({ type, data }) => ({ Type: text(type), Data: count(data) }),
  "/namespaces": ({ status }) => ({ Status: text(record(status).phase) }),
  "/serviceaccounts": ({ secrets }) => ({ Secrets: list(secrets).length }),
  "/events": eventCells,
  "/persistentvolumeclaims": storageCells.claim,
  "/persistentvolumes": storageCells.volume,
  "/endpoints": endpointCells.endpoints,
  "/podtemplates": workloadCells.podTemplate,
  "/replicationcontrollers": workloadCells.replicationController,
  "/resourcequotas": quotaCells,
  "apps/controllerrevisions": workloadCells.controllerRevision,
  "apps/deployments": workloadCells.deployment,
  "apps/replicasets": workloadCells.replicaSet,
  "apps/statefulsets": workloadCells.statefulSet,
  "apps/daemonsets": workloadCells.daemonSet,
  "batch/jobs": workloadCells.job,
  "batch/cronjobs": workloadCells.cronJob,
  "coordination.k8s.io/leases": ({ spec }) => ({ Holder: text(record(spec).holderIdentity) }),
  "networking.k8s.io/ingresses": networkingCells.ingress,
  "networking.k8s.io/networkpolicies": ({ spec }) => ({ "Pod-Selector": selectorText(record(spec).podSelector) }),
  "storage.k8s.io/storageclasses": storageCells.storageClass,
  "networking.k8s.io/ingressclasses": networkingCells.ingressClass,
  "networking.k8s.io/ipaddresses": networkingCells.address,
  "discovery.k8s.io/endpointslices": endpointCells.endpointSlice,
  "certificates.k8s.io/certificatesigningrequests": certificateRequestCells,
  "node.k8s.io/runtimeclasses": ({ handler }) => ({ Handler: text(handler) }),
  "storage.k8s.io/csidrivers": storageCells.driver,
  "storage.k8s.io/csinodes": storageCells.node,
  "storage.k8s.io/volumeattachments": storageCells.attachment,
  "storage.k8s.io/volumeattributesclasses": storageCells.attributesClass,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": admissionCells.policy,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": admissionCells.binding,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": admissionCells.webhooks,
  "admissionregistration.k8s.io/validatingadmissionpolicies": admissionCells.policy,
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": admissionCells.binding,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": admissionCells.webhooks,
  "resource.k8s.io/resourceclaims": resourceClaimCells,
  "resource.k8s.io/resourceslices": ({ spec }) => ({
    Node: text(record(spec).nodeName),
    Driver: text(record(spec).driver),
    Pool: text(record(record(spec).pool).name),
  }),
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
  const host = source.host || event.reportingInstance;
  return {
    "Last Seen": ago(last),
    Type: text(event.type),
    Reason: text(event.reason),
    Object: text(target.kind).toLowerCase() + (target.name ? `/${text(target.name)}` : ""),
    Subobject: text(target.fieldPath),
    Source: host ? `${text(component)}, ${text(host)}` : text(component),
    Message: text(event.message ?? event.note).trim(),
    "First Seen": ago(first),
    Count: series.count ?? event.count ?? event.deprecatedCount ?? 1,
    Name: event.metadata.name,
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

function quotaCells({ status }: UntypedObject): Cells {
  const { hard, used } = record(status);
  const names = Object.keys(record(hard)).sort();
  const shown = (isLimit: boolean): string =>
    names
      .filter((name) => name.startsWith("limits.") === isLimit)
      .map((name) => `${name}: ${text(record(used)[name] ?? "0")}/${text(record(hard)[name])}`)
      .join(", ");
  return { Request: shown(false), Limit: shown(true) };
}

function certificateRequestCells({ spec, status }: UntypedObject): Cells {
  const { signerName, username, expirationSeconds } = record(spec);
  const { conditions, certificate } = record(status);
  const has = (wanted: string): boolean => list(conditions).some((each) => record(each).type === wanted);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return {
    SignerName: signerName || NONE,
    Requestor: text(username),
    RequestedDuration: typeof expirationSeconds === "number" ? humanDuration(expirationSeconds * 1000) : NONE,
    Condition: decision + (has("Failed") ? ",Failed" : "") + (certificate ? ",Issued" : ""),
  };
}

function resourceClaimCells({ status, metadata }: UntypedObject): Cells {
  const { allocation, reservedFor } = record(status);
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = [
    isDeleted && "deleted",
    allocation === undefined ? !isDeleted && "pending" : "allocated",
    allocation !== undefined && list(reservedFor).length > 0 && "reserved",
  ];
  return { State: states.filter(Boolean).join(",") };
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
  const { type, limited } = record(spec);
  const { nominalConcurrencyShares } = record(limited);
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
