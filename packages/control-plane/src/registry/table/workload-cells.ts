import type { UntypedObject } from "setpoint";
import { type Cells, list, NONE, number, record, text } from "./cell-values.js";
import { ageOf, humanDuration } from "./human-duration.js";

/** `a=b,c in (d,e)`: a label selector as kubectl shows it. */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = record(selector);
  const parts = [
    ...Object.entries(record(matchLabels)).map(([key, value]) => `${key}=${text(value)}`),
    ...list(matchExpressions).map((expression) => expressionText(record(expression))),
  ];
  return parts.length === 0 ? NONE : parts.sort().join(",");
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

function statefulSet({ spec, status }: UntypedObject): Cells {
  const { replicas, template } = record(spec);
  return { Ready: `${number(record(status).readyReplicas)}/${number(replicas)}`, ...templateCells(template) };
}

function daemonSet({ spec, status }: UntypedObject): Cells {
  const { template, selector } = record(spec);
  const counts = record(status);
  const nodeSelector = Object.entries(record(record(record(template).spec).nodeSelector));
  return {
    Desired: number(counts.desiredNumberScheduled),
    Current: number(counts.currentNumberScheduled),
    Ready: number(counts.numberReady),
    "Up-to-date": number(counts.updatedNumberScheduled),
    Available: number(counts.numberAvailable),
    "Node Selector":
      nodeSelector.length === 0 ? NONE : nodeSelector.map(([key, value]) => `${key}=${text(value)}`).join(","),
    ...templateCells(template),
    Selector: selectorText(selector),
  };
}

function job({ spec, status }: UntypedObject, nowMs: number): Cells {
  const { completions, parallelism, template, selector } = record(spec);
  const { succeeded, startTime, completionTime } = record(status);
  const wanted =
    completions !== undefined ? text(completions) : number(parallelism) > 1 ? `1 of ${text(parallelism)}` : "1";
  const endMs = typeof completionTime === "string" ? Date.parse(completionTime) : nowMs;
  return {
    Status: jobStatus(record(status)),
    Completions: `${number(succeeded)}/${wanted}`,
    Duration: typeof startTime === "string" ? humanDuration(endMs - Date.parse(startTime)) : "",
    ...templateCells(template),
    Selector: selectorText(selector),
  };
}

function jobStatus(status: Readonly<Record<string, unknown>>): string {
  const conditions = list(status.conditions).map(record);
  const isTrue = (type: string): boolean => conditions.some((each) => each.type === type && each.status === "True");
  if (isTrue("Complete")) return "Complete";
  if (isTrue("Failed")) return "Failed";
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

export const workloadCells = { deployment, replicaSet, statefulSet, daemonSet, job, cronJob };
