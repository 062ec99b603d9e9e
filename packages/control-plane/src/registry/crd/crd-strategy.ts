import type { KubeObject } from "setpoint";
import { formatTime } from "setpoint/kinds";
import type { Strategy } from "../../kinds/strategy.js";
import { validateCrd, validateCrdStatus, validateCrdUpdate } from "./crd-validation.js";
import {
  CLEANUP_FINALIZER,
  type CrdSpec,
  type CrdStatus,
  type CustomResourceDefinition,
  withCondition,
} from "./custom-resource-definition.js";

/**
 * The strategy of CRDs. Every write awaits `settled` (the naming of CRDs), so that a client that creates a CRD finds
 * its resource served.
 */
export function crdStrategy(settled: () => Promise<void>): Partial<Strategy> {
  return {
    settled,
    applyDefaults: (object) => withCrdDefaults(object as CustomResourceDefinition),
    prepareCreate: (object) => {
      const crd = object as CustomResourceDefinition;
      const none = { conditions: null, acceptedNames: { plural: "", kind: "" } };
      return { ...crd, status: { ...none, storedVersions: storedVersions(crd, undefined) } } as KubeObject;
    },
    prepareUpdate: (object, old, { subresource }) => {
      if (subresource !== "") return object;
      const crd = object as CustomResourceDefinition;
      const { status } = old as CustomResourceDefinition;
      return { ...crd, status: { ...status, storedVersions: storedVersions(crd, status) } } as KubeObject;
    },
    prepareDelete: (object, nowMs) => terminating(object as CustomResourceDefinition, formatTime(nowMs)),
    validate: (object) => validateCrd(object as CustomResourceDefinition),
    validateUpdate: (object, old, { subresource }) =>
      subresource === ""
        ? validateCrdUpdate(object as CustomResourceDefinition, old as CustomResourceDefinition)
        : validateCrdStatus(object as CustomResourceDefinition),
  };
}

/** The versions in which objects may be stored: earlier ones and the current storage version. */
function storedVersions({ spec }: CustomResourceDefinition, status: CrdStatus | undefined): readonly string[] {
  const stored = status?.storedVersions ?? [];
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  return storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
}

function withCrdDefaults(crd: CustomResourceDefinition): CustomResourceDefinition {
  const { spec } = crd;
  if (!spec) return crd;
  const { names } = spec;
  const kind = names?.kind ?? "";
  const conversion = spec.conversion ?? { strategy: "None" as const };
  const hasStored = crd.status === undefined || (crd.status.storedVersions ?? []).length > 0;
  return {
    ...crd,
    ...(!hasStored && { status: { ...crd.status, storedVersions: storedVersions(crd, undefined) } }),
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

/** A deleted CRD stays until its objects are deleted. */
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
