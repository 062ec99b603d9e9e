import type { KubeObject, UntypedObject } from "setpoint";
import { deepEqual, isArray, type Json, type JsonObject } from "../../schema/json.js";
import { labelName } from "../metadata/name-rules.js";
import type { Strategy } from "../strategy.js";
import { asJson } from "../write/field-ownership.js";
import { claimWarnings, driverWarnings, podWarnings, termWarnings } from "./pod-warnings.js";

type Warnings = NonNullable<Strategy["warnings"]>;

const POD_NAMES = "Pod names and hostnames";
const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";
const OLD_CLASS_WARNING = `metadata.annotations[${OLD_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`;
const OLD_PV_ANNOTATION = "volume.beta.kubernetes.io/mount-options";

function part(value: Json | undefined, ...path: readonly string[]): JsonObject {
  let found = value;
  for (const name of path) found = (found as JsonObject | undefined)?.[name];
  return (found ?? {}) as JsonObject;
}

/** Pods are called by their names in DNS, where dots mean something. */
function nameWarnings({ metadata }: KubeObject, use: string): readonly string[] {
  const complaints = metadata.name ? labelName(metadata.name, false) : [];
  if (complaints.length === 0) return [];
  const why = `this is used in ${use}, which can result in surprising behavior; a DNS label is recommended`;
  return [`metadata.name: ${why}: [${complaints.join(" ")}]`];
}

/** The template of a workload is looked at where it is new, or where anything that is wanted has changed. */
function templateWarnings(
  path: string,
  options: {
    readonly use?: string;
    readonly more?: (object: KubeObject, old: KubeObject | undefined) => readonly string[];
  } = {},
): Warnings {
  const names = path.split(".");
  return (object, old) => {
    const isChanged = old === undefined || object.metadata.generation !== old.metadata.generation;
    return [
      ...(old === undefined && options.use !== undefined ? nameWarnings(object, options.use) : []),
      ...(isChanged ? podWarnings(part(asJson(object), ...names), path) : []),
      ...(options.more?.(object, old) ?? []),
    ];
  };
}

function statefulSetWarnings(object: KubeObject): readonly string[] {
  const { volumeClaimTemplates, revisionHistoryLimit } = part(asJson(object), "spec");
  const warnings: string[] = [];
  for (const [index, claim] of (isArray(volumeClaimTemplates) ? volumeClaimTemplates : []).entries()) {
    claimWarnings(part(claim, "spec"), `spec.volumeClaimTemplates[${index}]`, warnings);
  }
  if (typeof revisionHistoryLimit === "number" && revisionHistoryLimit < 0) {
    const why = "a negative value retains all historical revisions; a value >= 0 is recommended";
    warnings.push(`spec.revisionHistoryLimit: ${why}`);
  }
  return warnings;
}

function zoneWarnings(object: KubeObject, old: KubeObject | undefined): readonly string[] {
  if (old === undefined || !String(part(asJson(object), "spec").schedule).includes("TZ")) return [];
  const cure =
    "use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
  return [`cannot use TZ or CRON_TZ in spec.spec.schedule, ${cure}`];
}

const podOnCreate: Warnings = (object, old) =>
  old === undefined ? [...nameWarnings(object, "the Pod's hostname"), ...podWarnings(asJson(object), "")] : [];

const serviceWarnings: Warnings = (object) => {
  const { type, clusterIPs, externalIPs, loadBalancerIP, sessionAffinity, externalName, trafficDistribution } = part(
    asJson(object),
    "spec",
  );
  const warnings: string[] = [];
  const hints = "service.kubernetes.io/topology-aware-hints";
  if (object.metadata.annotations?.[hints] !== undefined) {
    warnings.push(`annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`);
  }
  const isHeadless = isArray(clusterIPs) && clusterIPs.length === 1 && clusterIPs[0] === "None";
  const hasExternal = isArray(externalIPs) && externalIPs.length > 0;
  const isNamed = type === "ExternalName";
  if (isHeadless) {
    if (loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (hasExternal) warnings.push("spec.externalIPs is ignored for headless services");
    if (sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  if (hasExternal && !isHeadless && !isNamed) {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  if (isNamed && hasExternal) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isNamed && externalName) warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (trafficDistribution === "PreferClose") {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
};

const volumeWarnings: Warnings = ({ metadata, ...object }) => {
  const spec = part(object as unknown as Json, "spec");
  const warnings: string[] = [];
  if (metadata.annotations?.[OLD_CLASS] !== undefined) warnings.push(OLD_CLASS_WARNING);
  if (metadata.annotations?.[OLD_PV_ANNOTATION] !== undefined) {
    warnings.push(
      `metadata.annotations[${OLD_PV_ANNOTATION}]: deprecated since v1.31; use "mountOptions" attribute instead`,
    );
  }
  if (spec.persistentVolumeReclaimPolicy === "Recycle") {
    const why =
      "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
    warnings.push(`spec.persistentVolumeReclaimPolicy: ${why}`);
  }
  const terms = part(spec, "nodeAffinity", "required").nodeSelectorTerms;
  for (const [index, term] of (isArray(terms) ? terms : []).entries()) {
    termWarnings(term as JsonObject, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`, false, warnings);
  }
  driverWarnings(spec, "spec", warnings);
  return warnings;
};

const volumeClaimWarnings: Warnings = (object) => {
  const warnings = object.metadata.annotations?.[OLD_CLASS] === undefined ? [] : [OLD_CLASS_WARNING];
  claimWarnings((object as UntypedObject).spec as Json, "spec", warnings);
  return warnings;
};

const csiDriverWarnings: Warnings = (object, old) => {
  const { tokenRequests, serviceAccountTokenInSecrets } = part(asJson(object), "spec");
  const before = old === undefined ? [] : (part(asJson(old), "spec").tokenRequests ?? []);
  const isChanged = isArray(tokenRequests) && tokenRequests.length > 0 && !deepEqual(tokenRequests, before);
  if (!isChanged || serviceAccountTokenInSecrets !== undefined) return [];
  const cure = "set to true to prevent possible logging of tokens in volume attributes";
  return [`spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, ${cure}`];
};

const jobs = { use: POD_NAMES };

/** What is odd about objects though they are valid, by `group/plural`. */
export const kindWarnings: Readonly<Record<string, Warnings>> = {
  "/pods": podOnCreate,
  "/podtemplates": templateWarnings("template"),
  "/replicationcontrollers": templateWarnings("spec.template", { use: POD_NAMES }),
  "apps/replicasets": templateWarnings("spec.template", { use: POD_NAMES }),
  "apps/deployments": templateWarnings("spec.template", { use: POD_NAMES }),
  "apps/daemonsets": templateWarnings("spec.template"),
  "apps/statefulsets": templateWarnings("spec.template", { more: statefulSetWarnings }),
  "batch/jobs": templateWarnings("spec.template", jobs),
  "batch/cronjobs": templateWarnings("spec.jobTemplate.spec.template", { ...jobs, more: zoneWarnings }),
  "/services": serviceWarnings,
  "/persistentvolumes": volumeWarnings,
  "/persistentvolumeclaims": volumeClaimWarnings,
  "storage.k8s.io/csidrivers": csiDriverWarnings,
  "discovery.k8s.io/endpointslices": (object, old) =>
    old === undefined && (object as UntypedObject).addressType === "FQDN"
      ? ["spec.addressType: FQDN endpoints are deprecated"]
      : [],
};
