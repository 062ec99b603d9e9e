import type { KubeObject } from "setpoint";
import type { Job } from "setpoint/kinds/batch/v1";
import type { JsonObject } from "../../schema/json.js";
import { invalidValue } from "../field-error.js";
import type { FieldError } from "../status-error.js";
import { selects } from "./validation/selector-rules.js";

/** Gives a job the selector and its pods the labels that no other job has, unless `manualSelector` says not to. */
export function withJobSelector(object: KubeObject): KubeObject {
  const job = object as Job;
  if (!job.spec || job.spec.manualSelector === true) return object;
  const { uid, name } = job.metadata;
  const own = { "batch.kubernetes.io/controller-uid": uid };
  const { template, selector } = job.spec;
  const legacy = { "controller-uid": uid, "job-name": name, "batch.kubernetes.io/job-name": name };
  const labels = { ...template.metadata?.labels, ...own, ...legacy };
  const metadata = { ...template.metadata, labels };
  // A job without labels was given those of its template, the very same ones; they are nobody's.
  const { labels: given } = job.metadata;
  const isBare = given === template.metadata?.labels || Object.keys(given ?? {}).length === 0;
  return {
    ...job,
    metadata: isBare ? { ...job.metadata, labels } : job.metadata,
    spec: {
      ...job.spec,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...own } },
      template: { ...template, metadata },
    },
  } as KubeObject;
}

/** A selector that a client gave besides selects more narrowly than what is made for it. */
export function selectorErrors(object: KubeObject): readonly FieldError[] {
  const { metadata, spec } = object as Job;
  const { selector, manualSelector } = spec ?? {};
  if (selector === undefined || manualSelector === true) return [];
  const { uid, name } = metadata;
  const made = {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  if (selects(selector as unknown as JsonObject, made)) return [];
  const shown = selector as unknown as JsonObject;
  return [invalidValue("spec.selector", shown, "`selector` not auto-generated")];
}
