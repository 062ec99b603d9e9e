import type { KubeObject } from "setpoint";
import { formatTime, labelName, type UntypedObject } from "setpoint/kinds";
import { invalidValue } from "../api/field-error.js";
import type { FieldError } from "../api/status-error.js";
import type { StrategyFacts } from "../facts/facts.js";
import type { Strategy } from "../kinds/strategy.js";
import { claimPreparation, volumePreparation } from "./claim-preparation.js";
import { daemonGeneration } from "./daemon-generation.js";
import { validateConfigMapUpdate, validateSecretUpdate } from "./immutable-data.js";
import { selectorErrors, withJobSelector } from "./job-selector.js";
import { qosClassOf } from "./pod-qos.js";
import { addressName } from "./validation/address-rules.js";
import { builtInValidation } from "./validation/built-in-validation.js";
import { newPodErrors } from "./validation/pod/pod-rules.js";
import { kindWarnings } from "./warnings/kind-warnings.js";

/** Behaviour of a kind that the facts do not contain, by `group/plural`. */
export type StrategyExtras = Readonly<Record<string, Partial<Strategy>>>;

const ALL_METADATA = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/** Behaviour that the facts do not contain, by `group/plural`. */
const EXTRAS: StrategyExtras = {
  "/namespaces": {
    validatesMetadataTwice: true,
    nameRule: labelName,
    applyDefaults: withNameLabel,
    prepareCreate: (object) =>
      ({ ...object, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } }) as KubeObject,
    prepareUpdate: (object, old, { subresource }) =>
      subresource === "finalize" ? object : ({ ...object, spec: (old as UntypedObject).spec } as KubeObject),
    validateUpdate: validateNamespacePhase,
  },
  "/configmaps": { validatesMetadataTwice: true, validateUpdate: validateConfigMapUpdate },
  "/serviceaccounts": { validatesMetadataTwice: true },
  "batch/jobs": {
    validatesMetadataTwice: true,
    prepareCreate: withJobSelector,
    validate: selectorErrors,
  },
  "batch/cronjobs": { validate: cronJobNameErrors },
  "/services": { nameRule: labelName },
  "/secrets": {
    validatesMetadataTwice: true,
    applyDefaults: withSecretDefaults,
    validateUpdate: validateSecretUpdate,
  },
  "/pods": {
    validatesMetadataTwice: true,
    statusKeeps: ["ownerReferences"],
    gracePeriodSeconds: podGracePeriod,
    prepareCreate: (object, { nowMs }) =>
      ({ ...withGracePeriod(object), status: newPodStatus(object, nowMs) }) as KubeObject,
    prepareUpdate: withQosKept,
    validate: newPodErrors,
  },
  "apps/deployments": {
    statusKeeps: ["labels"],
    generationCountsAnnotations: true,
  },
  "apps/statefulsets": { nameRule: labelName },
  "apps/daemonsets": daemonGeneration,
  "/persistentvolumeclaims": claimPreparation,
  "/persistentvolumes": volumePreparation,
  "/nodes": { keepsStatusOfNew: true },
  "apiregistration.k8s.io/apiservices": { statusKeeps: ALL_METADATA },
  "flowcontrol.apiserver.k8s.io/flowschemas": { statusKeeps: ALL_METADATA },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": { statusKeeps: ALL_METADATA },
  "networking.k8s.io/ipaddresses": { nameRule: addressName },
  "networking.k8s.io/servicecidrs": { statusKeeps: ALL_METADATA },
  "resource.k8s.io/resourceclaims": { statusKeeps: ALL_METADATA },
  "storage.k8s.io/volumeattachments": { statusKeeps: ALL_METADATA },
  "apiextensions.k8s.io/customresourcedefinitions": { statusKeeps: ALL_METADATA },
};

/** The strategy of a built-in kind: the facts about kube-apiserver, plus behaviour that the facts do not contain. */
export function builtInStrategy(
  group: string,
  plural: string,
  known: StrategyFacts,
  ofUpperLayers: Partial<Strategy> = {},
): Strategy {
  const extras = { ...EXTRAS[`${group}/${plural}`], ...ofUpperLayers };
  const warnings = kindWarnings[`${group}/${plural}`];
  const { finalizers } = known;
  return {
    hasGeneration: known.hasGeneration ?? false,
    hasStatus: known.hasStatus ?? false,
    allowsUnconditionalUpdate: known.allowsUnconditionalUpdate ?? true,
    allowsCreateOnUpdate: known.allowsCreateOnUpdate ?? false,
    returnsDeletedObject: known.returnsDeletedObject ?? false,
    ...(known.defaultPropagation !== undefined && { defaultPropagation: known.defaultPropagation }),
    ...extras,
    ...builtInValidation(`${group}/${plural}`, extras),
    ...(warnings !== undefined && { warnings }),
    ...(finalizers !== undefined && {
      prepareCreate: (object, context) => withFinalizers(extras.prepareCreate?.(object, context) ?? object, finalizers),
    }),
  };
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  const present = object.metadata.finalizers ?? [];
  const missing = finalizers.filter((finalizer) => !present.includes(finalizer));
  return { ...object, metadata: { ...object.metadata, finalizers: [...present, ...missing] } };
}

function withNameLabel(namespace: KubeObject): KubeObject {
  const { name, labels } = namespace.metadata;
  if (!name || labels?.["kubernetes.io/metadata.name"] === name) return namespace;
  return {
    ...namespace,
    metadata: { ...namespace.metadata, labels: { ...labels, "kubernetes.io/metadata.name": name } },
  };
}

/** A namespace is Active until it is deleted, and Terminating from then on. */
function validateNamespacePhase(namespace: KubeObject): readonly FieldError[] {
  const { status, metadata } = namespace as KubeObject & { readonly status?: { readonly phase?: string } };
  const phase = status?.phase ?? "";
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const wanted = isDeleted ? "Terminating" : "Active";
  if (phase === wanted) return [];
  const detail = `may only be '${wanted}' if \`deletionTimestamp\` is ${isDeleted ? "not " : ""}empty`;
  return [invalidValue("status.Phase", phase, detail)];
}

/** Merges plain `stringData` into `data`, where it takes precedence. */
function withSecretDefaults(object: KubeObject): KubeObject {
  const { stringData, ...secret } = object as UntypedObject & { stringData?: Readonly<Record<string, string>> | null };
  const typed = secret.type ? secret : { ...secret, type: "Opaque" };
  if (!stringData) return typed as KubeObject;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return { ...typed, data: { ...(typed.data as object | undefined), ...Object.fromEntries(encoded) } } as KubeObject;
}

/** Job names append 11 characters. */
function cronJobNameErrors({ metadata: { name } }: KubeObject): readonly FieldError[] {
  return (name ?? "").length > 52 ? [invalidValue("metadata.name", name, "must be no more than 52 characters")] : [];
}

/** Older versions allowed a negative grace period, which means the shortest one. */
function withGracePeriod(pod: KubeObject): KubeObject {
  const { spec } = pod as KubeObject & PodLike;
  if ((spec?.terminationGracePeriodSeconds ?? 0) >= 0) return pod;
  return { ...pod, spec: { ...spec, terminationGracePeriodSeconds: 1 } } as KubeObject;
}

/** A pod with scheduling gates reports that from its creation. */
function newPodStatus(pod: KubeObject, nowMs: number): object {
  const { schedulingGates } = (pod as KubeObject & PodLike).spec ?? {};
  const waiting = {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: formatTime(nowMs),
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
  const isGated = schedulingGates !== undefined && schedulingGates.length > 0;
  return { phase: "Pending", ...(isGated && { conditions: [waiting] }), qosClass: qosClassOf(pod) };
}

/** The QoS class never changes. A status that omits it keeps it. */
function withQosKept(pod: KubeObject, old: KubeObject): KubeObject {
  const [{ status }, { status: before }] = [pod as KubeObject & PodLike, old as KubeObject & PodLike];
  if (status?.qosClass !== undefined || before?.qosClass === undefined) return pod;
  return { ...pod, status: { ...status, qosClass: before.qosClass } } as KubeObject;
}

interface PodLike {
  readonly spec?: {
    readonly nodeName?: string;
    readonly terminationGracePeriodSeconds?: number;
    readonly schedulingGates?: readonly unknown[];
  };
  readonly status?: { readonly phase?: string; readonly qosClass?: string };
}

/** A pod that never ran, or has ended, needs no grace period. */
function podGracePeriod(object: KubeObject, requested: number | undefined): number {
  const { spec, status } = object as KubeObject & PodLike;
  if (!spec?.nodeName || status?.phase === "Failed" || status?.phase === "Succeeded") return 0;
  return requested ?? spec.terminationGracePeriodSeconds ?? 30;
}
