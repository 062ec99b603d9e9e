import type { UntypedObject } from "setpoint/kinds";
import { type Cells, labelsText, list, NONE, number, record, text } from "./cell-values.js";
import { ageOf, humanDuration } from "./human-duration.js";

/** `a=b,c in (d,e)`: a label selector as kubectl shows it. */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = record(selector);
  const parts = [
    ...Object.entries(record(matchLabels)).map(([key, value]) => ({ key, shown: `${key}=${text(value)}` })),
    ...list(matchExpressions).map((each) => ({ key: text(record(each).key), shown: expressionText(record(each)) })),
  ];
  if (parts.length === 0) return NONE;
  parts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return parts.map(({ shown }) => shown).join(",");
}

function expressionText({ key, operator, values }: Readonly<Record<string, unknown>>): string {
  const set = `(${list(values).map(text).sort().join(",")})`;
  switch (operator) {
    case "In":
      return `${text(key)} in ${set}`;
    case "NotIn":
      return `${text(key)} notin ${set}`;
    case "DoesNotExist":
      return `!${text(key)}`;
    default:
      return text(key);
  }
}

function templateCells(template: unknown): Cells {
  const containers = list(record(record(template).spec).containers).map(record);
  return {
    Containers: containers.map(({ name }) => text(name)).join(","),
    Images: containers.map(({ image }) => text(image)).join(","),
  };
}

function deployment({ spec, status }: UntypedObject): Cells {
  const { replicas, template, selector } = record(spec);
  const { readyReplicas, updatedReplicas, availableReplicas } = record(status);
  return {
    Ready: `${number(readyReplicas)}/${number(replicas)}`,
    "Up-to-date": number(updatedReplicas),
    Available: number(availableReplicas),
    ...templateCells(template),
    Selector: selectorText(selector),
  };
}

function replicaSet({ spec, status }: UntypedObject): Cells {
  const { replicas, template, selector } = record(spec);
  return {
    Desired: number(replicas),
    Current: number(record(status).replicas),
    Ready: number(record(status).readyReplicas),
    ...templateCells(template),
    Selector: selectorText(selector),
  };
}

function replicationController(object: UntypedObject): Cells {
  return { ...replicaSet(object), Selector: labelsText(record(object.spec).selector) };
}

function podTemplate({ template }: UntypedObject): Cells {
  return { ...templateCells(template), "Pod Labels": labelsText(record(record(template).metadata).labels) };
}

function controllerRevision({ metadata, revision }: UntypedObject): Cells {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const [group, version] = (owner?.apiVersion ?? "").split("/");
  const resource = version === undefined ? owner?.kind : `${owner?.kind}.${group}`;
  return {
    Controller: owner === undefined ? NONE : `${text(resource).toLowerCase()}/${owner.name}`,
    Revision: number(revision),
  };
}

function statefulSet({ spec, status }: UntypedObject): Cells {
  const { replicas, template } = record(spec);
  return { Ready: `${number(record(status).readyReplicas)}/${number(replicas)}`, ...templateCells(template) };
}

function daemonSet({ spec, status }: UntypedObject): Cells {
  const { template, selector } = record(spec);
  const counts = record(status);
  return {
    Desired: number(counts.desiredNumberScheduled),
    Current: number(counts.currentNumberScheduled),
    Ready: number(counts.numberReady),
    "Up-to-date": number(counts.updatedNumberScheduled),
    Available: number(counts.numberAvailable),
    "Node Selector": labelsText(record(record(template).spec).nodeSelector),
    ...templateCells(template),
    Selector: selectorText(selector),
  };
}

function job({ spec, status, metadata }: UntypedObject, nowMs: number): Cells {
  const { completions, parallelism, template, selector } = record(spec);
  const { succeeded, startTime, completionTime } = record(status);
  const wanted =
    completions !== undefined ? text(completions) : number(parallelism) > 1 ? `1 of ${text(parallelism)}` : "1";
  const endMs = typeof completionTime === "string" ? Date.parse(completionTime) : nowMs;
  return {
    Status: jobStatus(record(status), metadata.deletionTimestamp !== undefined),
    Completions: `${number(succeeded)}/${wanted}`,
    Duration: typeof startTime === "string" ? humanDuration(endMs - Date.parse(startTime)) : "",
    ...templateCells(template),
    Selector: selectorText(selector),
  };
}

function jobStatus(status: Readonly<Record<string, unknown>>, isDeleting: boolean): string {
  const conditions = list(status.conditions).map(record);
  const isTrue = (type: string): boolean => conditions.some((each) => each.type === type && each.status === "True");
  if (isTrue("Complete")) return "Complete";
  if (isTrue("Failed")) return "Failed";
  if (isDeleting) return "Terminating";
  if (isTrue("Suspended")) return "Suspended";
  if (isTrue("FailureTarget")) return "FailureTarget";
  if (isTrue("SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

function cronJob({ spec, status }: UntypedObject, nowMs: number): Cells {
  const { schedule, suspend, timeZone, jobTemplate } = record(spec);
  const { active, lastScheduleTime } = record(status);
  return {
    Schedule: text(schedule),
    Timezone: timeZone ?? NONE,
    Suspend: suspend === true ? "True" : "False",
    Active: list(active).length,
    "Last Schedule": lastScheduleTime === undefined ? NONE : ageOf(lastScheduleTime, nowMs),
    ...templateCells(record(record(jobTemplate).spec).template),
    Selector: selectorText(record(record(jobTemplate).spec).selector),
  };
}

export const workloadCells = {
  deployment,
  replicaSet,
  replicationController,
  podTemplate,
  controllerRevision,
  statefulSet,
  daemonSet,
  job,
  cronJob,
};
