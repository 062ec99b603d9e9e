import type { KubeObject } from "setpoint";
import type { Job } from "setpoint/kinds/batch/v1";
import { invalidValue } from "../api/field-error.js";
import type { JsonObject } from "../api/json.js";
import type { FieldError } from "../api/status-error.js";
import { selects } from "./validation/selector-rules.js";

const CONTROLLER_UID = "batch.kubernetes.io/controller-uid";

/** Gives a Job a unique selector and its pods unique labels, unless `manualSelector` is set. */
export function withJobSelector(object: KubeObject): KubeObject {
  const job = object as Job;
  if (!job.spec || job.spec.manualSelector === true) return object;
  const { template, selector } = job.spec;
  const labels = { ...template.metadata?.labels, ...madeLabels(job) };
  const metadata = { ...template.metadata, labels };
  // A Job without labels was defaulted to those of its template, as the identical object. No client set them.
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

/** A selector that a client gave must match the generated labels. */
export function selectorErrors(object: KubeObject): readonly FieldError[] {
  const job = object as Job;
  const { selector, manualSelector } = job.spec ?? {};
  if (selector === undefined || manualSelector === true) return [];
  const given = selector as unknown as JsonObject;
  if (selects(given, madeLabels(job))) return [];
  return [invalidValue("spec.selector", given, "`selector` not auto-generated")];
}

/** The labels of a Job's pods. The selector needs only the first. */
function madeLabels({ metadata: { uid, name } }: Job): Record<string, string> {
  return { [CONTROLLER_UID]: uid, "controller-uid": uid, "job-name": name, "batch.kubernetes.io/job-name": name };
}
