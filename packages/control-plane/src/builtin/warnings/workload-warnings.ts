import type { KubeObject } from "setpoint";
import { labelName } from "setpoint/kinds";
import { asJson, type Json, type JsonObject } from "../../api/json.js";
import type { Warnings } from "../../kinds/strategy.js";
import { generationOf } from "../daemon-generation.js";
import { list, object } from "../validation/rule.js";
import { podWarnings } from "./pod-warnings.js";
import { claimWarnings } from "./storage-warnings.js";

const POD_NAMES = "Pod names and hostnames";

/** The names of pods appear in DNS, where dots are separators. */
function nameWarnings({ metadata }: KubeObject, use: string): readonly string[] {
  const complaints = labelName(metadata.name, false);
  if (complaints.length === 0) return [];
  const why = `this is used in ${use}, which can result in surprising behavior; a DNS label is recommended`;
  return [`metadata.name: ${why}: [${complaints.join(" ")}]`];
}

function at(value: Json | undefined, path: string): JsonObject {
  return path.split(".").reduce<JsonObject>((found, name) => object(found[name]), object(value));
}

const isChanged = (object: KubeObject, old: KubeObject | undefined): boolean =>
  old === undefined || object.metadata.generation !== old.metadata.generation;

/** Checks the template of a workload on create and whenever the spec changes. */
function templateWarnings(path: string, namesPods = false): Warnings {
  return (workload, old) => [
    ...(old === undefined && namesPods ? nameWarnings(workload, POD_NAMES) : []),
    ...(isChanged(workload, old) ? podWarnings(at(asJson(workload), path), path) : []),
  ];
}

/** DaemonSets count the changes of their template. */
const daemonSet: Warnings = (set, old) => {
  if (old !== undefined && generationOf(set) === generationOf(old)) return [];
  return podWarnings(at(asJson(set), "spec.template"), "spec.template");
};

/** Warnings for Jobs and job templates. */
function jobWarnings(path: string): Warnings {
  const ofTemplate = templateWarnings(`${path}.template`, true);
  return (job, old) => {
    const { completionMode, completions, parallelism } = at(asJson(job), path);
    const isVast = completionMode === "Indexed" && Number(completions) > 100_000 && Number(parallelism) > 10_000;
    const why =
      "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
    return [...(isVast && isChanged(job, old) ? [`${path}: ${why}`] : []), ...ofTemplate(job, old)];
  };
}

const cronTemplate = jobWarnings("spec.jobTemplate.spec");

const cronJob: Warnings = (cron, old) => {
  const warnings = cronTemplate(cron, old);
  if (old === undefined || !String(at(asJson(cron), "spec").schedule).includes("TZ")) return warnings;
  const cure =
    "use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
  return [...warnings, `cannot use TZ or CRON_TZ in spec.spec.schedule, ${cure}`];
};

const statefulTemplate = templateWarnings("spec.template");

const statefulSet: Warnings = (set, old) => {
  const { volumeClaimTemplates, revisionHistoryLimit } = at(asJson(set), "spec");
  // kube-apiserver names the spec of a claim template only in updates, by its Go name.
  const part = old === undefined ? "" : ".Spec";
  const ofClaims = list(volumeClaimTemplates).flatMap(({ spec }, index) =>
    claimWarnings(spec, `spec.volumeClaimTemplates[${index}]${part}`),
  );
  const why = "a negative value retains all historical revisions; a value >= 0 is recommended";
  const isEndless = Number(revisionHistoryLimit ?? 0) < 0;
  return [...statefulTemplate(set, old), ...ofClaims, ...(isEndless ? [`spec.revisionHistoryLimit: ${why}`] : [])];
};

/** Checks a pod only on create, because clients rarely change pods. */
const pod: Warnings = (object, old) =>
  old === undefined ? [...nameWarnings(object, "the Pod's hostname"), ...podWarnings(asJson(object), "")] : [];

export const workloadWarnings: Readonly<Record<string, Warnings>> = {
  "/pods": pod,
  "/podtemplates": templateWarnings("template"),
  "/replicationcontrollers": templateWarnings("spec.template", true),
  "apps/replicasets": templateWarnings("spec.template", true),
  "apps/deployments": templateWarnings("spec.template", true),
  "apps/daemonsets": daemonSet,
  "apps/statefulsets": statefulSet,
  "batch/jobs": jobWarnings("spec"),
  "batch/cronjobs": cronJob,
};
