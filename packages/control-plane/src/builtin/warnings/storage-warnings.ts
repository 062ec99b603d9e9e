import { isSameJson } from "setpoint/kinds";
import { goQuote } from "../../api/go-format.js";
import { asJson, type Json, type JsonObject } from "../../api/json.js";
import type { Warnings } from "../../kinds/strategy.js";
import { canonicalQuantity, quantityNanos } from "../../schema/quantity.js";
import { list, object } from "../validation/rule.js";
import { labelWarnings, OLD_LABELS, termWarnings } from "./label-warnings.js";

const OLD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ["volume.beta.kubernetes.io/storage-class", 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ["volume.beta.kubernetes.io/mount-options", 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

/** Removed volume drivers: field, displayed name and reason. */
const OLD_DRIVERS: readonly (readonly [field: string, shown: string, why: string])[] = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];
/** Drivers without a warning for persistent volumes. */
const OF_PODS_ALONE = ["flocker", "quobyte"];

const MILLI = 1_000_000n;

/** Warns about a volume of a pod, or a persistent volume, whose driver is removed. */
export function driverWarnings(volume: JsonObject, path: string, excepted: readonly string[] = []): readonly string[] {
  return OLD_DRIVERS.flatMap(([field, shown, why]) =>
    volume[field] === undefined || excepted.includes(field) ? [] : [`${path}.${shown}: ${why}`],
  );
}

/** Warnings about the spec of a claim. */
export function claimWarnings(spec: Json | undefined, path: string): readonly string[] {
  const { requests, limits } = object(object(spec).resources);
  return [
    ...fractionWarnings(requests, "storage", `${path}.resources.requests`),
    ...fractionWarnings(limits, "storage", `${path}.resources.limits`),
  ];
}

/** Warns about a fractional number of bytes, down to thousandths. */
export function fractionWarnings(amounts: Json | undefined, name: string, path: string): readonly string[] {
  const amount = String(object(amounts)[name] ?? "0");
  // The text shows integers without parsing. A fast path, because every pod passes here.
  if (!/[.munE-]/.test(amount)) return [];
  const millis = (quantityNanos(amount) + MILLI - 1n) / MILLI;
  if (millis % 1000n === 0n) return [];
  const shown = goQuote(canonicalQuantity(amount));
  return [`${path}[${name}]: fractional byte value ${shown} is invalid, must be an integer`];
}

function annotationWarnings(annotations: Readonly<Record<string, string>> = {}, known = OLD_ANNOTATIONS) {
  return known.flatMap(([key, why]) =>
    annotations[key] === undefined ? [] : [`metadata.annotations[${key}]: ${why}`],
  );
}

const volume: Warnings = (given) => {
  const spec = object(asJson(given).spec);
  const why =
    "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  const terms = list(object(object(spec.nodeAffinity).required).nodeSelectorTerms);
  return [
    ...annotationWarnings(given.metadata.annotations),
    ...(spec.persistentVolumeReclaimPolicy === "Recycle" ? [`spec.persistentVolumeReclaimPolicy: ${why}`] : []),
    ...terms.flatMap((term, index) => termWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`)),
    ...driverWarnings(spec, "spec", OF_PODS_ALONE),
  ];
};

const claim: Warnings = (given) => [
  ...annotationWarnings(given.metadata.annotations, OLD_ANNOTATIONS.slice(0, 1)),
  ...claimWarnings(asJson(given).spec, "spec"),
];

const storageClass: Warnings = (given) =>
  list(asJson(given).allowedTopologies).flatMap(({ matchLabelExpressions }, index) =>
    list(matchLabelExpressions).flatMap(({ key }, position) => {
      const why = OLD_LABELS.get(String(key));
      const at = `allowedTopologies[${index}].matchLabelExpressions[${position}].key`;
      return why === undefined ? [] : [`${at}: ${why}`];
    }),
  );

const capacity: Warnings = (given) => {
  const topology = object(asJson(given).nodeTopology);
  return [
    ...termWarnings(topology, "nodeTopology"),
    ...labelWarnings(topology.matchLabels, (label) => `nodeTopology.matchLabels.${label}`),
  ];
};

const driver: Warnings = (given, old) => {
  const { tokenRequests, serviceAccountTokenInSecrets } = object(asJson(given).spec);
  const before = old === undefined ? [] : list(object(asJson(old).spec).tokenRequests);
  const isChanged = list(tokenRequests).length > 0 && !isSameJson(list(tokenRequests), before);
  if (!isChanged || serviceAccountTokenInSecrets !== undefined) return [];
  const cure = "set to true to prevent possible logging of tokens in volume attributes";
  return [`spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, ${cure}`];
};

export const storageWarnings: Readonly<Record<string, Warnings>> = {
  "/persistentvolumes": volume,
  "/persistentvolumeclaims": claim,
  "storage.k8s.io/csidrivers": driver,
  "storage.k8s.io/csistoragecapacities": capacity,
  "storage.k8s.io/storageclasses": storageClass,
};
