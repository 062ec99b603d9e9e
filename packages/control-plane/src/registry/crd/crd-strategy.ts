import type { KubeObject } from "setpoint";
import { trackUpdate } from "../../apply/field-manager.js";
import type { Facts } from "../../facts/facts.js";
import type { ResourceCatalog } from "../catalog.js";
import type { Strategy } from "../strategy.js";
import { asJson } from "../write/field-ownership.js";
import { timestamp } from "../write/object-layout.js";
import { acceptedNames } from "./accepted-names.js";
import { validateCrd, validateCrdUpdate } from "./crd-validation.js";
import {
  CLEANUP_FINALIZER,
  type CrdSpec,
  type CrdStatus,
  type CustomResourceDefinition,
  withCondition,
} from "./custom-resource-definition.js";

/** What CRDs do beyond other built-in kinds. Names are accepted, and the resource is established, in the same write. */
export function crdStrategy(catalog: () => ResourceCatalog, facts: Facts): Partial<Strategy> {
  return {
    applyDefaults: (object) => withCrdDefaults(object as CustomResourceDefinition),
    prepareCreate: (object, { nowMs }) => {
      const crd = object as CustomResourceDefinition;
      const status = statusOf(catalog(), crd, undefined, timestamp(nowMs));
      const { storedVersions } = status;
      const empty = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions };
      return ownedByServer(facts, { ...crd, status: empty }, { ...crd, status }, nowMs);
    },
    prepareUpdate: (object, old, { nowMs, subresource }) => {
      if (subresource !== "") return object;
      const crd = object as CustomResourceDefinition;
      const status = statusOf(catalog(), crd, (old as CustomResourceDefinition).status, timestamp(nowMs));
      return ownedByServer(
        facts,
        { ...crd, status: (old as CustomResourceDefinition).status ?? {} },
        { ...crd, status },
        nowMs,
      );
    },
    prepareDelete: (object, nowMs) => terminating(object as CustomResourceDefinition, timestamp(nowMs)),
    validate: (object) => validateCrd(object as CustomResourceDefinition),
    validateUpdate: (object, old, { subresource }) =>
      subresource === "" ? validateCrdUpdate(object as CustomResourceDefinition, old as CustomResourceDefinition) : [],
  };
}

/** The status is the server's own doing, and it says so. */
function ownedByServer(
  facts: Facts,
  before: CustomResourceDefinition,
  crd: CustomResourceDefinition,
  nowMs: number,
): KubeObject {
  const { apiVersion, kind } = crd;
  const context = {
    apiVersion,
    kind,
    subresource: "status",
    manager: "kube-apiserver",
    nowMs,
    message: facts.messageOf(apiVersion, kind),
    schemaOf: () => facts.schemaOf("apiextensions.k8s.io", "v1", kind),
  };
  return trackUpdate(context, asJson(before), asJson(crd)) as unknown as KubeObject;
}

function withCrdDefaults(crd: CustomResourceDefinition): CustomResourceDefinition {
  const { spec } = crd;
  if (!spec) return crd;
  const { names } = spec;
  const kind = names?.kind ?? "";
  const conversion = spec.conversion?.strategy ? spec.conversion : { ...spec.conversion, strategy: "None" as const };
  return {
    ...crd,
    spec: {
      ...spec,
      names: {
        plural: names?.plural ?? "",
        singular: names?.singular || kind.toLowerCase(),
        ...(names?.shortNames && { shortNames: names.shortNames }),
        kind,
        listKind: names?.listKind || (kind === "" ? "" : `${kind}List`),
        ...(names?.categories && { categories: names.categories }),
      },
      conversion: withServicePort(conversion),
    },
  };
}

function withServicePort(conversion: NonNullable<CrdSpec["conversion"]>): NonNullable<CrdSpec["conversion"]> {
  const service = conversion.webhook?.clientConfig?.service;
  if (!service || service.port) return conversion;
  const clientConfig = { ...conversion.webhook!.clientConfig, service: { ...service, port: 443 } };
  return { ...conversion, webhook: { ...conversion.webhook, clientConfig } };
}

function statusOf(
  catalog: ResourceCatalog,
  crd: CustomResourceDefinition,
  old: CrdStatus | undefined,
  now: string,
): CrdStatus {
  const { accepted, conflict } = acceptedNames(catalog, crd, old?.acceptedNames);
  const named = withCondition(
    old?.conditions,
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict },
    now,
  );
  const isEstablished = (old?.conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
  const conditions = isEstablished
    ? named
    : withCondition(
        named,
        conflict === undefined
          ? {
              type: "Established",
              status: "True",
              reason: "InitialNamesAccepted",
              message: "the initial names have been accepted",
            }
          : { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
        now,
      );
  const stored = old?.storedVersions ?? [];
  const storage = (crd.spec.versions ?? []).find((version) => version.storage)?.name;
  const isNew = storage !== undefined && !stored.includes(storage);
  const storedVersions = isNew ? [...stored, storage] : stored;
  return { conditions, acceptedNames: accepted, storedVersions };
}

/** A deleted CRD stays until its objects are gone. */
function terminating(crd: CustomResourceDefinition, now: string): KubeObject {
  const finalizers = crd.metadata.finalizers ?? [];
  const conditions = withCondition(
    crd.status?.conditions,
    {
      type: "Terminating",
      status: "True",
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    },
    now,
  );
  return {
    ...crd,
    metadata: {
      ...crd.metadata,
      finalizers: finalizers.includes(CLEANUP_FINALIZER) ? finalizers : [...finalizers, CLEANUP_FINALIZER],
    },
    status: { ...crd.status, conditions },
  } as KubeObject;
}
