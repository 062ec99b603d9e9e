import type { KubeObject } from "setpoint";
import type { Job } from "setpoint/kinds/batch/v1";
import { invalidValue } from "../api/field-error.js";
import type { JsonObject } from "../api/json.js";
import type { FieldError } from "../api/status-error.js";
import { selects } from "./validation/selector-rules.js";

const CONTROLLER_UID = "batch.kubernetes.io/controller-uid";

/** Gives a job the selector and its pods the labels that no other job has, unless `manualSelector` says not to. */
export function withJobSelector(object: KubeObject): KubeObject {
  const job = object as Job;
  if (!job.spec || job.spec.manualSelector === true) return object;
  const { template, selector } = job.spec;
  const labels = { ...template.metadata?.labels, ...madeLabels(job) };
  const metadata = { ...template.metadata, labels };
  // A job without labels was given those of its template, the very same ones; they are nobody's.
  const { labels: given } = job.metadata;
  const isBare = given === template.metadata?.labels || Object.keys(given ?? {}).length === 0;
  return {
    ...job,
    metadata: isBare ? { ...job.metadata, labels } : job.metadata,
    spec: {
      ...job.spec,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [CONTROLLER_UID]: job.metadata.uid } },
      template: { ...template, metadata },
    },
  } as KubeObject;
}

/** A selector that a client gave besides selects more narrowly than what is made for it. */
export function selectorErrors(object: KubeObject): readonly FieldError[] {
  const job = object as Job;
  const { selector, manualSelector } = job.spec ?? {};
  if (selector === undefined || manualSelector === true) return [];
  const given = selector as unknown as JsonObject;
  if (selects(given, madeLabels(job))) return [];
  return [invalidValue("spec.selector", given, "`selector` not auto-generated")];
}

/** The labels of a job's pods; the selector needs only the first. */
function madeLabels({ metadata: { uid, name } }: Job): Record<string, string> {
  return { [CONTROLLER_UID]: uid, "controller-uid": uid, "job-name": name, "batch.kubernetes.io/job-name": name };
}
