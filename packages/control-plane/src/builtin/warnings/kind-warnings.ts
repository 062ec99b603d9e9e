import { asJson, field } from "../../api/json.js";
import type { Warnings } from "../../kinds/strategy.js";
import { nanosOf, object, quantityText } from "../validation/rule.js";
import { eachWarnings, rangeWarnings } from "./address-warnings.js";
import { keyPairWarnings } from "./key-pair-warnings.js";
import { labelWarnings } from "./label-warnings.js";
import { networkWarnings } from "./network-warnings.js";
import { storageWarnings } from "./storage-warnings.js";
import { workloadWarnings } from "./workload-warnings.js";

const node: Warnings = (given) => {
  const { configSource, externalID, podCIDRs } = object(asJson(given).spec);
  return [
    ...(configSource === undefined ? [] : ["spec.configSource: the feature is removed"]),
    ...(externalID ? ["spec.externalID: this field is deprecated, and is unused by Kubernetes"] : []),
    ...eachWarnings(rangeWarnings, podCIDRs, "spec.podCIDRs"),
  ];
};

const MOUNTABLE = "kubernetes.io/enforce-mountable-secrets";

const serviceAccount: Warnings = ({ metadata }, old) => {
  if (metadata.annotations?.[MOUNTABLE] === undefined || old?.metadata.annotations?.[MOUNTABLE] !== undefined)
    return [];
  const cure = "prefer separate namespaces to isolate access to mounted secrets";
  return [`metadata.annotations[${MOUNTABLE}]: deprecated in v1.32+; ${cure}`];
};

/** Quotas for requests should not exceed those for limits. */
const quota: Warnings = (given, old) => {
  if (old !== undefined) return [];
  const hard = object(object(asJson(given).spec).hard);
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const isShort = hard[`requests.${name}`] === undefined && (name === "cpu" || name === "memory");
    const [asked, used] = [isShort ? name : `requests.${name}`, `limits.${name}`];
    const [request, limit] = [field(hard, asked), field(hard, used)];
    if (request === undefined || limit === undefined || nanosOf(request) <= nanosOf(limit)) return [];
    const [most, more] = [quantityText(limit), quantityText(request)];
    return [`ResourceQuota ${asked} (${more}) should be less than ${used} (${most})`];
  });
};

const runtimeClass: Warnings = (given) =>
  labelWarnings(object(asJson(given).scheduling).nodeSelector, () => "scheduling.nodeSelector");

const resourceSlice: Warnings = (given) => {
  const driver = String(object(asJson(given).spec).driver ?? "");
  if (driver === driver.toLowerCase()) return [];
  return [`spec.driver: driver names should be lowercase; "${driver}" contains uppercase characters`];
};

const STATIC = ".static.k8s.io";

const admission: Warnings = ({ metadata: { name } }) => {
  if (!name.endsWith(STATIC)) return [];
  const why = "are reserved for static manifest-based configurations and cannot be managed via the API";
  return [`metadata.name: names ending with "${STATIC}" ${why}`];
};

/** Warnings about valid objects, by `group/plural`. */
export const kindWarnings: Readonly<Record<string, Warnings>> = {
  ...workloadWarnings,
  ...storageWarnings,
  ...networkWarnings,
  "/nodes": node,
  "/secrets": (given) => keyPairWarnings(asJson(given)),
  "/serviceaccounts": serviceAccount,
  "/resourcequotas": quota,
  "node.k8s.io/runtimeclasses": runtimeClass,
  "resource.k8s.io/resourceslices": resourceSlice,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": admission,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": admission,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": admission,
  "admissionregistration.k8s.io/validatingadmissionpolicies": admission,
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": admission,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": admission,
};
